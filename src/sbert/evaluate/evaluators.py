"""Callables that embed a task's texts and say how good the vectors are. Reach models only through ``encode``."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from sbert.errors import BadInput
from sbert.evaluate.metrics import check_gold, pearson, spearman
from sbert.types import Array, Encoder


class Similarity:
    """Semantic textual similarity: do the cosines of pairs rise with the scores people gave?

    Args:
        first: a text of each pair.
        second: the other text of each pair.
        gold: how similar people found them, on any scale.

    >>> from sbert import BiEncoder
    >>> pairs = ["A man eats.", "A cat sleeps.", "비가 온다."], ["Someone has a meal.", "A cat naps.", "I like jazz."]
    >>> scores = Similarity(*pairs, gold=[4.0, 4.5, 0.0])(BiEncoder.from_pretrained())
    >>> sorted(scores)
    ['pearson', 'spearman']
    """

    primary = "spearman"

    def __init__(self, first: Sequence[str], second: Sequence[str], gold: Sequence[float] | Array) -> None:
        if not len(first) == len(second) == len(gold):
            raise BadInput(
                f"got {len(first)} first texts, {len(second)} second texts and {len(gold)} scores, "
                "but there must be equally many"
            )
        self.first, self.second, self.gold = list(first), list(second), np.asarray(gold, np.float64)
        check_gold(self.gold, len(self.gold))

    def __repr__(self) -> str:
        return f"Similarity({len(self.gold)} pairs, checksum {_checksum(*self.first, *self.second, self.gold)})"

    def __call__(self, model: Encoder) -> dict[str, float]:
        """Correlation of cosine and gold score, times 100."""
        vectors = _unit(model.encode([*self.first, *self.second], on_truncate="ignore"))
        cosines = np.einsum("ij,ij->i", *np.split(vectors, 2))
        return {"spearman": spearman(cosines, self.gold), "pearson": pearson(cosines, self.gold)}


class Triplets:
    """Is each anchor nearer to its positive than to its negative? Euclidean, as the paper trains and measures it.

    >>> from sbert import BiEncoder
    >>> evaluator = Triplets(["A cat sleeps."], ["A cat naps."], ["기차가 늦는다."])
    >>> evaluator(BiEncoder.from_pretrained())
    {'accuracy': 100.0}
    """

    primary = "accuracy"

    def __init__(self, anchors: Sequence[str], positives: Sequence[str], negatives: Sequence[str]) -> None:
        if not len(anchors) == len(positives) == len(negatives) or not anchors:
            raise BadInput(
                f"got {len(anchors)} anchors, {len(positives)} positives and {len(negatives)} negatives, "
                "but there must be equally many, and at least one"
            )
        self.texts = [*anchors, *positives, *negatives]

    def __repr__(self) -> str:
        return f"Triplets({len(self.texts) // 3} triplets, checksum {_checksum(*self.texts)})"

    def __call__(self, model: Encoder) -> dict[str, float]:
        """Percentage of triplets in the right order."""
        anchors, positives, negatives = np.split(model.encode(self.texts, on_truncate="ignore"), 3)
        near = np.linalg.norm(anchors - positives, axis=1) < np.linalg.norm(anchors - negatives, axis=1)
        return {"accuracy": 100 * float(near.mean())}


def _checksum(*parts: str | Array) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() + b"\0" if isinstance(part, str) else part.tobytes())
    return digest.hexdigest()[:8]


def _unit(vectors: Array) -> Array:
    lengths: Array = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(lengths, 1e-12)
