"""Metrics that compare predictions with gold labels, times 100. Works on numbers only: no texts, no models."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from sbert.errors import BadInput
from sbert.types import Array, FloatArray, IntArray


class Agreement(NamedTuple):
    """Precision, recall and F1."""

    precision: float
    recall: float
    f1: float


class BestAccuracy(NamedTuple):
    """The highest accuracy and its threshold."""

    accuracy: float
    threshold: float


class BestF1(NamedTuple):
    """The highest F1, with the precision and recall at its threshold."""

    precision: float
    recall: float
    f1: float
    threshold: float


def spearman(predicted: npt.ArrayLike, gold: npt.ArrayLike) -> float:
    """Spearman's rank correlation; NaN if all predictions are equal.

    >>> spearman([0.1, 0.4, 0.3], [1, 5, 2])
    100.0
    """
    from scipy.stats import spearmanr

    predicted, gold = check_gold(predicted, gold)
    return 100 * float(spearmanr(predicted, gold).statistic) if np.ptp(predicted) else math.nan


def pearson(predicted: npt.ArrayLike, gold: npt.ArrayLike) -> float:
    """Pearson's linear correlation; NaN if all predictions are equal.

    >>> round(pearson([1.0, 2.0, 3.0], [2.0, 4.0, 7.0]), 2)
    99.34
    """
    from scipy.stats import pearsonr

    predicted, gold = check_gold(predicted, gold)
    return 100 * float(pearsonr(predicted, gold).statistic) if np.ptp(predicted) else math.nan


def accuracy(predicted: npt.ArrayLike, gold: npt.ArrayLike) -> float:
    """Share of items with the right class.

    >>> accuracy(["neutral", "entailment"], ["neutral", "neutral"])
    50.0
    """
    predicted, gold = _equally_many(predicted, gold)
    return 100 * float(np.mean(predicted == gold))


def attained(predicted: npt.ArrayLike, gold: npt.ArrayLike) -> float:
    """Sum of the scores of items over the sum of their maximum scores: the mean, if all have the same maximum.

    >>> attained([50.0, 100.0], [100.0, 100.0])
    75.0
    """
    predicted, gold = _equally_many(predicted, gold)
    return 100 * float(np.sum(predicted) / np.sum(gold))


def precision_recall_f1(
    predicted: npt.ArrayLike, gold: npt.ArrayLike, average: Literal["binary", "macro"] = "binary"
) -> Agreement:
    """Precision, recall and F1 of class 1 ("binary"), or their means over the classes ("macro"); 0 if undefined.

    >>> precision_recall_f1([1, 1, 0, 0], [1, 0, 0, 1])
    Agreement(precision=50.0, recall=50.0, f1=50.0)
    """
    from sklearn.metrics import precision_recall_fscore_support

    predicted, gold = _equally_many(predicted, gold)
    found = precision_recall_fscore_support(gold, predicted, average=average, zero_division=0)
    return Agreement(*(100 * float(value) for value in found[:3]))


def f1(predicted: npt.ArrayLike, gold: npt.ArrayLike) -> float:
    """F1 of class 1; 0 if class 1 is neither predicted nor correct anywhere. Faster than scikit-learn's.

    >>> f1([1, 1, 0, 0], [1, 0, 0, 1])
    50.0
    """
    predicted, gold = _equally_many(predicted, gold)
    found, wanted = predicted == 1, gold == 1
    return 200 * float((found & wanted).sum() / max(found.sum() + wanted.sum(), 1))


def matthews(predicted: npt.ArrayLike, gold: npt.ArrayLike) -> float:
    """Matthews' correlation coefficient: 0 for guessing, even if the classes are unbalanced.

    >>> matthews([1, 0, 1, 0], [1, 0, 1, 0])
    100.0
    """
    from sklearn.metrics import matthews_corrcoef

    predicted, gold = _equally_many(predicted, gold)
    return 100 * float(matthews_corrcoef(gold, predicted))


def average_precision(predicted: npt.ArrayLike, gold: npt.ArrayLike, positives: int | None = None) -> float:
    """Mean precision at the ranks of the positives; items with equal scores share a rank.

    Args:
        predicted: Score of each item.
        gold: 1 for positives, 0 for the others.
        positives: Number of positives, if some are not among the items; those have a precision of 0.

    >>> round(average_precision([0.9, 0.8, 0.3], [1, 0, 1]), 2)
    83.33
    """
    predicted, gold = check_binary(predicted, gold, positives)
    taken, found, _ = _cuts(predicted, gold)
    precisions = found / taken * np.diff(found, prepend=0)
    return 100 * float(precisions.sum() / (positives or gold.sum()))


def best_accuracy(predicted: npt.ArrayLike, gold: npt.ArrayLike) -> BestAccuracy:
    """Find the highest of the thresholds with the best accuracy, if scores from it upwards count as positive.

    >>> best_accuracy([0.9, 0.7, 0.3], [1, 1, 0])
    BestAccuracy(accuracy=100.0, threshold=0.5)
    """
    predicted, gold = check_binary(predicted, gold)
    taken, found, thresholds = _cuts(predicted, gold)
    negatives = len(gold) - int(gold.sum())
    right = np.append(negatives, found + negatives - (taken - found))  # the first entry: no item is positive
    thresholds = np.append(np.nextafter(predicted.max(), np.inf), thresholds)
    best = int(right.argmax())
    return BestAccuracy(100 * float(right[best] / len(gold)), float(thresholds[best]))


def best_f1(predicted: npt.ArrayLike, gold: npt.ArrayLike, positives: int | None = None) -> BestF1:
    """Find the highest of the thresholds with the best F1, if scores from it upwards count as positive.

    Args:
        predicted: Score of each item.
        gold: 1 for positives, 0 for the others.
        positives: Number of positives, if some are not among the items.

    >>> best_f1([0.9, 0.7, 0.3], [1, 0, 0])
    BestF1(precision=100.0, recall=100.0, f1=100.0, threshold=0.8)
    """
    predicted, gold = check_binary(predicted, gold, positives)
    (taken, found, thresholds), positives = _cuts(predicted, gold), positives or int(gold.sum())
    f1 = 2 * found / (taken + positives)
    best = int(f1.argmax())
    precision, recall = found[best] / taken[best], found[best] / positives
    return BestF1(100 * float(precision), 100 * float(recall), 100 * float(f1[best]), float(thresholds[best]))


def v_measure(predicted: npt.ArrayLike, gold: npt.ArrayLike) -> float:
    """V-measure: the harmonic mean of homogeneity and completeness. Equal to :func:`nmi`.

    >>> v_measure([1, 1, 0, 0], ["비", "비", "눈", "눈"])
    100.0
    """
    from sklearn.metrics import v_measure_score

    predicted, gold = _equally_many(predicted, gold)
    return 100 * float(v_measure_score(gold, predicted))


def nmi(predicted: npt.ArrayLike, gold: npt.ArrayLike) -> float:
    """Normalised mutual information of clusters and classes, relative to the mean of their entropies.

    >>> nmi([0, 1, 0, 1], [0, 0, 1, 1])
    0.0
    """
    from sklearn.metrics import normalized_mutual_info_score

    predicted, gold = _equally_many(predicted, gold)
    return 100 * float(normalized_mutual_info_score(gold, predicted))


def ari(predicted: npt.ArrayLike, gold: npt.ArrayLike) -> float:
    """Rand index, adjusted so that random clusters have 0.

    >>> ari([1, 1, 0, 0], [0, 0, 1, 1])
    100.0
    """
    from sklearn.metrics import adjusted_rand_score

    predicted, gold = _equally_many(predicted, gold)
    return 100 * float(adjusted_rand_score(gold, predicted))


def check_gold(predicted: npt.ArrayLike, gold: npt.ArrayLike) -> tuple[Array, Array]:
    """Return both as arrays; raise BadInput if no correlation with ``gold`` is possible."""
    predicted, gold = np.asarray(predicted), np.asarray(gold)
    if len(predicted) != len(gold) or len(gold) < 2:
        raise BadInput(
            f"got {len(predicted)} predictions and {len(gold)} gold scores, but a correlation needs equally many, "
            "and at least two"
        )
    if not np.isfinite(gold).all():
        raise BadInput(f"gold score {np.flatnonzero(~np.isfinite(gold))[0]} is not a number; leave that item out")
    if np.ptp(gold) == 0:
        raise BadInput(f"all {len(gold)} gold scores are equal, so there is nothing to correlate; give varied ones")
    return predicted, gold


def check_binary(
    predicted: npt.ArrayLike, gold: npt.ArrayLike, positives: int | None = None
) -> tuple[FloatArray, IntArray]:
    """Return both as arrays, scores as float64; raise BadInput unless ``gold`` has both 0 and 1 and nothing else.

    If the number of ``positives`` is known, ``gold`` may have only one of them.
    """
    predicted, gold = _equally_many(predicted, gold)
    kinds = np.unique(gold).tolist()
    if not set(kinds) <= {0, 1} or (len(kinds) < 2 and positives is None):
        listed = ", ".join(map(str, kinds[:5]))
        raise BadInput(f"the labels are {listed}, but there must be some of 1, for positives, and some of 0")
    return predicted.astype(np.float64), gold.astype(np.int64)


def _equally_many(predicted: npt.ArrayLike, gold: npt.ArrayLike) -> tuple[Array, Array]:
    predicted, gold = np.asarray(predicted), np.asarray(gold)
    if len(predicted) != len(gold) or not len(gold):
        raise BadInput(
            f"got {len(predicted)} predictions and {len(gold)} gold labels, but there must be equally many, "
            "and at least one"
        )
    return predicted, gold


def _cuts(predicted: FloatArray, gold: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Cut descending scores at all places between two distinct scores, and after the last.

    Returns:
        For each cut, the number of items and of positives before it, and the midpoint of the scores on both sides.
    """
    order = np.argsort(-predicted, kind="stable")
    scores, found = predicted[order], np.cumsum(gold[order])
    last = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)  # last item of each group of equal scores
    above, below = scores[last], np.append(scores[last[:-1] + 1], scores[-1])
    halfway = above / 2 + below / 2
    # If no floating point number lies between the two, rounding must not include the lower score.
    return last + 1, found[last], np.where(halfway > below, halfway, above)
