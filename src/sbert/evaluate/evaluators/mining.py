"""Paraphrase mining: texts and the pairs of them that have the same meaning."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from sbert.errors import BadInput, shown
from sbert.evaluate.evaluators.evaluator import ScoreEvaluator
from sbert.evaluate.evaluators.inputs import checksum
from sbert.evaluate.evaluators.protocol import embed
from sbert.evaluate.metrics.prediction import average_precision, best_f1
from sbert.evaluate.score import Score
from sbert.search.exact import most_similar_pairs
from sbert.types import Encoder

_PAIRS = 500_000
"""Number of nearest pairs to consider."""


class ParaphraseMining(ScoreEvaluator[Encoder]):
    """Whether the most similar of all pairs, by cosine, are the known duplicates.

    Args:
        sentences: Texts by id.
        duplicates: Pairs of ids, in either order.

    >>> from sbert import BiEncoder
    >>> sentences = {"a": "A cat sleeps.", "b": "기차가 늦는다.", "c": "A cat naps."}
    >>> ParaphraseMining(sentences, [("c", "a")])(BiEncoder.from_pretrained())["average_precision"]
    100.0
    """

    primary_metric = "average_precision"

    def __init__(self, sentences: Mapping[Any, str], duplicates: Iterable[tuple[Hashable, Hashable]]) -> None:
        row = {key: number for number, key in enumerate(sentences)}
        pairs = list(duplicates)
        for pair in pairs:
            if unknown := [key for key in pair if key not in row]:
                raise BadInput(
                    f"the duplicates {shown(pair)} name {shown(unknown[0])}, but no sentence has that id; leave it out"
                )
            if pair[0] == pair[1]:
                raise BadInput(f"the duplicates {shown(pair)} are one sentence, but must be two; leave them out")
        self.sentences = dict(sentences)
        self.duplicates = {tuple(sorted((row[first], row[second]))) for first, second in pairs}
        if not self.duplicates:
            raise BadInput(f"no two of the {len(row)} sentences are duplicates, but some must be; name them")

    def __repr__(self) -> str:
        pairs = np.array(sorted(self.duplicates))
        size = f"{len(self.sentences)} sentences, {len(pairs)} duplicates"
        return f"ParaphraseMining({size}, checksum {checksum(*self.sentences.values(), pairs)})"

    def scores(self, model: Encoder) -> list[Score]:
        """Average precision, and precision, recall and F1 at the threshold with the highest F1."""
        (vectors,) = embed(model, list(self.sentences.values()))
        found = most_similar_pairs(vectors, _PAIRS)
        scores = np.array([pair.score for pair in found])
        right = np.array([(pair.first, pair.second) in self.duplicates for pair in found])
        best = best_f1(scores, right, len(self.duplicates))
        figures = {
            "average_precision": average_precision(scores, right, len(self.duplicates)),
            "f1": best.f1,
            "precision": best.precision,
            "recall": best.recall,
            "threshold": best.threshold,
        }
        return [Score(name, value, len(self.duplicates)) for name, value in figures.items()]
