"""Says how good a model is that reads pairs, by what it predicts of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sbert.evaluate.evaluators import _checksum
from sbert.evaluate.metrics import check_gold, pearson, spearman
from sbert.models.cross import CrossEncoder
from sbert.types import Array


class ScoredPairs:
    """Do the model's scores of pairs rise with the scores people gave?"""

    primary = "spearman"

    def __init__(self, first: Sequence[str], second: Sequence[str], gold: Sequence[float] | Array) -> None:
        self.pairs, self.gold = list(zip(first, second, strict=True)), np.asarray(gold, np.float64)
        check_gold(self.gold, len(self.pairs))

    def __repr__(self) -> str:
        return _describe(self, self.pairs, self.gold)

    def __call__(self, model: CrossEncoder) -> dict[str, float]:
        """Correlation of the model's and the gold scores, times 100."""
        scores = model.predict(self.pairs, on_truncate="ignore")
        return {"spearman": spearman(scores, self.gold), "pearson": pearson(scores, self.gold)}


class ClassifiedPairs:
    """Does the model give pairs the class people gave?"""

    primary = "accuracy"

    def __init__(self, first: Sequence[str], second: Sequence[str], labels: Sequence[int]) -> None:
        self.pairs, self.labels = list(zip(first, second, strict=True)), np.asarray(labels, np.int64)

    def __repr__(self) -> str:
        return _describe(self, self.pairs, self.labels)

    def __call__(self, model: CrossEncoder) -> dict[str, float]:
        """Percentage of pairs whose class is right."""
        found = model.predict(self.pairs, output="logit", on_truncate="ignore").argmax(axis=1)
        return {"accuracy": 100 * float((found == self.labels).mean())}


def _describe(evaluator: object, pairs: Sequence[tuple[str, str]], gold: Array) -> str:
    texts = [text for pair in pairs for text in pair]
    return f"{type(evaluator).__name__}({len(pairs)} pairs, checksum {_checksum(*texts, gold)})"
