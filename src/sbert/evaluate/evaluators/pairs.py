"""Pairs of texts with class labels: similar or not, or one of several classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from sbert.errors import BadInput, listed, shown
from sbert.evaluate.evaluators.evaluator import ScoreEvaluator, check_lengths, checksum
from sbert.evaluate.evaluators.protocol import pair_scores, predict
from sbert.evaluate.metrics import prediction as metrics
from sbert.evaluate.score import Score
from sbert.types import Array, Encoder, FloatArray, Scorer, Similarity


class Classifier(Scorer, Protocol):
    """A scorer whose outputs have names."""

    @property
    def labels(self) -> tuple[str, ...]:
        """One name for each output."""
        ...


class BinaryPairs(ScoreEvaluator[Encoder | Scorer]):
    """How well a threshold separates similar pairs from the others.

    An encoder is measured by four similarity functions, a scorer by its own score.

    Args:
        first: First text of each pair.
        second: Second text of each pair.
        labels: 1 for similar pairs, 0 for the others.

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

    def scores(self, model: Encoder | Scorer) -> list[Score]:
        """Average precision, and the other figures at the thresholds with the highest accuracy and F1.

        Matthews' correlation is computed at the threshold with the highest F1.
        """
        found = pair_scores(model, self.first, self.second)
        return [score for by, predicted in found.items() for score in self._scores(by, predicted)]

    def _scores(self, by: Similarity | None, predicted: FloatArray) -> list[Score]:
        right, best = metrics.best_accuracy(predicted, self.gold), metrics.best_f1(predicted, self.gold)
        matthews = metrics.matthews(predicted.astype(np.float64) >= best.threshold, self.gold)
        # The scores of distances are negative, but a user compares a threshold with distances, which are positive.
        sign = -1 if by in ("euclidean", "manhattan") else 1
        prefix, items, data = f"{by}_" if by else "", len(self.gold), (predicted, self.gold)
        at_right, at_best = (f"at the threshold {sign * found.threshold:.4g}" for found in (right, best))
        return [
            Score.measured(f"{by}_ap" if by else self.scorer_metric, metrics.average_precision, *data),
            Score(f"{prefix}accuracy", right.accuracy, items, _highest_accuracy, *data, note=at_right),
            Score(f"{prefix}accuracy_threshold", sign * right.threshold, items),
            Score(f"{prefix}f1", best.f1, items, _highest_f1, *data, note=at_best),
            Score(f"{prefix}f1_threshold", sign * best.threshold, items),
            Score(f"{prefix}precision", best.precision, items),
            Score(f"{prefix}recall", best.recall, items),
            Score(f"{prefix}mcc", matthews, items),
        ]


class PairClassification(ScoreEvaluator[Classifier]):
    """How often a model with several labels gives a pair the right one.

    Args:
        first: First text of each pair.
        second: Second text of each pair.
        labels: Names among the model's labels, in upper or lower case, or their numbers.

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

    def scores(self, model: Classifier) -> list[Score]:
        """Accuracy, the mean F1 over all given or predicted labels, and the F1 of each given label."""
        outputs = predict(model, self.first, self.second)
        if outputs.ndim < 2:
            raise BadInput("the model has one label, but classes are told apart; use BinaryPairs, or several labels")
        predicted = self._known_labels(model, outputs.shape[1])[outputs.argmax(axis=1)]
        scores = [
            Score.measured("accuracy", metrics.accuracy, predicted, self.gold),
            Score.measured("f1_macro", _macro_f1, predicted, self.gold),
        ]
        for label in np.unique(self.gold):
            name = label if self.gold.dtype.kind == "U" else model.labels[label]
            scores.append(Score.measured(f"f1_{name}", metrics.f1, predicted == label, self.gold == label))
        return scores

    def _known_labels(self, model: Classifier, count: int) -> Array:
        """(L,) the model's labels as numbers or names, spelled as the gold labels are."""
        wanted = set(self.gold.tolist())
        if self.gold.dtype.kind == "U":
            spelling = {name.lower(): name for name in wanted}
            known = np.asarray([name if name in wanted else spelling.get(name.lower(), name) for name in model.labels])
        else:
            known = np.arange(count)
        if unknown := sorted(wanted - set(known.tolist())):
            known_names = listed(known.tolist())
            raise BadInput(
                f"a pair has the label {shown(unknown[0])}, but the model knows {known_names}; rename one of them"
            )
        return known


def _highest_accuracy(predicted: Array, gold: Array) -> float:
    return metrics.best_accuracy(predicted, gold).accuracy


def _highest_f1(predicted: Array, gold: Array) -> float:
    return metrics.best_f1(predicted, gold).f1


def _macro_f1(predicted: Array, gold: Array) -> float:
    return metrics.precision_recall_f1(predicted, gold, "macro").f1
