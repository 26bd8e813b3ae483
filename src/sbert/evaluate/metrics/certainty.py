"""How sure the scores of a report are, from the predictions they keep. Knows which metric a score's name means."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sbert.evaluate.metrics.prediction import accuracy, attained, pearson, spearman
from sbert.evaluate.metrics.significance import Comparison, Interval, Metric, compare, interval
from sbert.evaluate.suites.report import Score
from sbert.types import Array


def interval_of(score: Score) -> Interval | None:
    """The 95 % interval of a score; None where it keeps no predictions, or is not a number.

    >>> right = np.array([100.0, 0.0] * 50)
    >>> low, high = interval_of(Score("sections", "accuracy_euclidean", 50.0, 100, predicted=right))
    >>> low < 50 < high
    True
    """
    kept = _kept(score)
    return None if kept is None else interval(*kept)


def compare_scores(first: Score, second: Score) -> Comparison | None:
    """The first score minus the second, on the same items; None where that cannot be told."""
    ours, theirs = _kept(first), _kept(second)
    if ours is None or theirs is None or ours.metric is not theirs.metric:
        return None
    if not np.array_equal(ours.gold, theirs.gold):
        return None
    return compare(ours.metric, ours.predicted, theirs.predicted, ours.gold)


class _Kept(NamedTuple):
    metric: Metric
    predicted: Array
    gold: Array


def _kept(score: Score) -> _Kept | None:
    if score.predicted is None or math.isnan(score.value):
        return None
    if score.gold is None:  # the items' own scores, of 100 each
        return _Kept(attained, score.predicted, np.full(len(score.predicted), 100.0))
    return _Kept(_METRICS[score.metric.partition("_")[0]], score.predicted, score.gold)


def _f1(predicted: Array, gold: Array) -> float:
    """Of the label "1", as SentEval has it; scikit-learn's takes seconds for a thousand draws."""
    found, wanted = predicted == "1", gold == "1"
    return 200 * float((found & wanted).sum() / max(found.sum() + wanted.sum(), 1))


_METRICS: dict[str, Metric] = {"spearman": spearman, "pearson": pearson, "accuracy": accuracy, "f1": _f1}
