"""Semantic textual similarity: pairs of texts, and how similar people found them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sbert.evaluate.evaluators.inputs import check_lengths, checksum
from sbert.evaluate.evaluators.protocol import pair_scores
from sbert.evaluate.metrics.prediction import check_gold, pearson, spearman
from sbert.types import Array, Encoder, FloatArray, Scorer


class Similarity:
    """Do the scores of pairs rise with those people gave? By four measures of vectors, or a scorer's own.

    Args:
        first: a text of each pair.
        second: the other text of each pair.
        gold: how similar people found them, on any scale.

    >>> from sbert import BiEncoder
    >>> pairs = ["A man eats.", "A cat sleeps.", "비가 온다."], ["Someone has a meal.", "A cat naps.", "I like jazz."]
    >>> scores = Similarity(*pairs, gold=[4.0, 4.5, 0.0])(BiEncoder.from_pretrained())
    >>> scores["spearman_cosine"]
    100.0
    """

    primary_metric = "spearman_cosine"
    scorer_metric = "spearman"
    metric = staticmethod(spearman)

    def __init__(self, first: Sequence[str], second: Sequence[str], gold: Sequence[float] | Array) -> None:
        check_lengths(first_texts=first, second_texts=second, scores=gold)
        self.first, self.second, self.gold = list(first), list(second), np.asarray(gold, np.float64)
        check_gold(self.gold, self.gold)

    def __repr__(self) -> str:
        return f"Similarity({len(self.gold)} pairs, checksum {checksum(*self.first, *self.second, self.gold)})"

    def __call__(self, model: Encoder | Scorer) -> dict[str, float]:
        """Spearman and Pearson correlation with the gold scores, times 100."""
        figures = {}
        for measure, scores in pair_scores(model, self.first, self.second).items():
            ending = f"_{measure}" if measure else ""
            figures[f"spearman{ending}"] = spearman(scores, self.gold)
            figures[f"pearson{ending}"] = pearson(scores, self.gold)
        return figures

    def predictions(self, model: Encoder | Scorer) -> FloatArray:
        """(N,) the cosine, or the scorer's score, of each pair: what the first figure is made of."""
        return next(iter(pair_scores(model, self.first, self.second).values()))
