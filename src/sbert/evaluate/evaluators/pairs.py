"""Pairs of texts and their classes: alike or not, or one of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from sbert.errors import BadInput
from sbert.evaluate.evaluators.inputs import check_lengths, checksum
from sbert.evaluate.evaluators.protocol import pair_scores, predict
from sbert.evaluate.metrics import prediction as metrics
from sbert.types import Array, Encoder, FloatArray, Scorer


class Classifier(Scorer, Protocol):
    """A scorer whose outputs have names."""

    @property
    def labels(self) -> tuple[str, ...]:
        """One for each output."""
        ...


class BinaryPairs:
    """Can pairs that belong together be told from others by a threshold? By four measures, or a scorer's own score.

    Args:
        first: a text of each pair.
        second: the other text of each pair.
        labels: 1 for pairs that belong together, 0 for the others.

    >>> from sbert import BiEncoder
    >>> evaluator = BinaryPairs(["A cat sleeps.", "A cat sleeps."], ["A cat naps.", "기차가 늦는다."], [1, 0])
    >>> evaluator(BiEncoder.from_pretrained())["cosine_ap"]
    100.0
    """

    primary_metric = "cosine_ap"
    scorer_metric = "average_precision"
    metric = staticmethod(metrics.average_precision)

    def __init__(self, first: Sequence[str], second: Sequence[str], labels: Sequence[int] | Array) -> None:
        check_lengths(first_texts=first, second_texts=second, labels=labels)
        self.first, self.second = list(first), list(second)
        _, self.gold = metrics.check_binary(np.zeros(len(labels)), labels)

    def __repr__(self) -> str:
        return f"BinaryPairs({len(self.gold)} pairs, checksum {checksum(*self.first, *self.second, self.gold)})"

    def __call__(self, model: Encoder | Scorer) -> dict[str, float]:
        """Average precision; accuracy, F1, precision, recall at their best thresholds; Matthews' at that of F1."""
        found = pair_scores(model, self.first, self.second)
        if None in found:
            return {self.scorer_metric: self.metric(found[None], self.gold), **_at_best(found[None], self.gold)}
        figures = {}
        for measure, scores in found.items():
            # Whoever uses a threshold of a distance compares it with distances, which are positive.
            sign = -1 if measure in ("euclidean", "manhattan") else 1
            values = {"ap": self.metric(scores, self.gold), **_at_best(scores, self.gold, sign)}
            figures.update({f"{measure}_{name}": value for name, value in values.items()})
        return figures

    def predictions(self, model: Encoder | Scorer) -> FloatArray:
        """(N,) the cosine, or the scorer's score, of each pair."""
        return next(iter(pair_scores(model, self.first, self.second).values()))


class PairClassification:
    """Does a model of several labels give each pair the right one?

    Args:
        first: the first text of each pair.
        second: the second text of each pair.
        labels: names among the model's labels, or their numbers.

    >>> from sbert import Backbone, CrossEncoder
    >>> model = CrossEncoder(Backbone.from_pretrained("all-MiniLM-L6-v2"), ["contradiction", "entailment", "neutral"])
    >>> sorted(PairClassification(["비가 온다."], ["It rains."], ["entailment"])(model))
    ['accuracy', 'f1_entailment', 'f1_macro']
    """

    primary_metric = "accuracy"
    metric = staticmethod(metrics.accuracy)

    def __init__(self, first: Sequence[str], second: Sequence[str], labels: Sequence[str | int] | Array) -> None:
        check_lengths(first_texts=first, second_texts=second, labels=labels)
        self.first, self.second, self.gold = list(first), list(second), np.asarray(labels)
        if self.gold.dtype.kind not in "Uiu":
            raise BadInput(f"the labels are {self.gold.dtype} values, but must be names or whole numbers")

    def __repr__(self) -> str:
        labels = map(str, self.gold.tolist())
        return f"PairClassification({len(self.gold)} pairs, checksum {checksum(*self.first, *self.second, *labels)})"

    def __call__(self, model: Classifier) -> dict[str, float]:
        """Accuracy, F1 of each label that occurs, and the mean of F1 over all that are given or predicted."""
        predicted = self.predictions(model)
        names = np.asarray(model.labels) if self.gold.dtype.kind in "iu" else None
        figures = {
            "accuracy": metrics.accuracy(predicted, self.gold),
            "f1_macro": metrics.precision_recall_f1(predicted, self.gold, "macro").f1,
        }
        for label in np.unique(self.gold):
            name = label if names is None else names[label]
            figures[f"f1_{name}"] = metrics.precision_recall_f1(predicted == label, self.gold == label).f1
        return figures

    def predictions(self, model: Classifier) -> Array:
        """(N,) the likeliest label of each pair: its name or its number, as the gold labels are given."""
        scores = predict(model, self.first, self.second)
        if scores.ndim < 2:
            raise BadInput("the model has one label, but classes are told apart; use BinaryPairs, or several labels")
        numbered = self.gold.dtype.kind in "iu"
        known = np.arange(scores.shape[1]) if numbered else np.asarray(model.labels)
        if unknown := sorted(set(self.gold.tolist()) - set(known.tolist())):
            listed = ", ".join(map(str, known.tolist()))
            raise BadInput(f"a pair has the label {unknown[0]!r}, but the model knows {listed}; rename one of them")
        likeliest: Array = known[scores.argmax(axis=1)]
        return likeliest


def _at_best(scores: FloatArray, gold: Array, sign: int = 1) -> dict[str, float]:
    right, best = metrics.best_accuracy(scores, gold), metrics.best_f1(scores, gold)
    return {
        "accuracy": right.accuracy,
        "accuracy_threshold": sign * right.threshold,
        "f1": best.f1,
        "f1_threshold": sign * best.threshold,
        "precision": best.precision,
        "recall": best.recall,
        "mcc": metrics.matthews(scores.astype(np.float64) >= best.threshold, gold),
    }
