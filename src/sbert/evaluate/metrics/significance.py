"""Confidence intervals of scores and tests of the difference between two models. Works on predictions and gold only.

Both are a bootstrap: the items of a test set are resampled with replacement a thousand times, and the variation of the
score over the samples estimates its variation over other test sets. A sample is represented by the number of times it
contains each item, so that ranks follow from sums and no sample has to be sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sbert.errors import BadInput
from sbert.evaluate.metrics.prediction import accuracy, attained, pearson, spearman
from sbert.types import Array, FloatArray, IntArray

Metric = Callable[[Array, Array], float]
"""Computes a score from predictions and gold labels."""

RESAMPLES, LEVEL, SEED = 1000, 0.95, 0
_CELLS = 2_000_000
"""Maximum number of samples times items in memory."""


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


class Comparison(NamedTuple):
    """The first model's score minus the second's, with its confidence interval and p-value."""

    difference: float
    low: float
    high: float
    p_value: float
    """Probability of a difference at least as large, of either sign, if the models were equally good."""


def interval(
    metric: Metric,
    predicted: npt.ArrayLike,
    gold: npt.ArrayLike,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval:
    """Compute the confidence interval of a score.

    Args:
        metric: Function of predictions and gold, such as ``spearman``, ``accuracy`` or ``average_precision``.
        predicted: (N,) predictions of a model.
        gold: (N,) gold labels.
        level: Confidence level.
        resamples: Number of bootstrap samples; more samples give steadier bounds.
        seed: Random seed of the samples.

    >>> rng = np.random.default_rng(0)
    >>> gold = rng.normal(size=500)
    >>> low, high = interval(spearman, gold + rng.normal(size=500), gold)
    >>> round(low), round(high)
    (67, 76)
    """
    (scores,) = _bootstrap(metric, [np.asarray(predicted)], np.asarray(gold), resamples, seed)
    return _range(scores, level)


def compare(
    metric: Metric,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    gold: npt.ArrayLike,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Comparison:
    """Compare two models on the same items, with the same bootstrap samples for both.

    Args:
        metric: Function of predictions and gold.
        first: (N,) predictions of one model.
        second: (N,) predictions of the other model.
        gold: (N,) gold labels.
        level: Confidence level of the interval of the difference.
        resamples: Number of bootstrap samples. The smallest possible ``p_value`` is about two divided by it.
        seed: Random seed of the samples.

    >>> compare(accuracy, [1, 1, 0, 1], [1, 1, 0, 1], [1, 1, 1, 1])
    Comparison(difference=0.0, low=0.0, high=0.0, p_value=1.0)
    """
    predicted, truth = [np.asarray(first), np.asarray(second)], np.asarray(gold)
    difference = metric(predicted[0], truth) - metric(predicted[1], truth)
    ours, theirs = _bootstrap(metric, predicted, truth, resamples, seed)
    drawn = ours - theirs
    drawn = drawn[~np.isnan(drawn)]
    # Adding one counts the original sample, too; a p-value of 0 would claim more than the samples can show.
    tail = min((drawn <= 0).sum(), (drawn >= 0).sum()) + 1
    low, high = _range(drawn, level)
    return Comparison(difference, low, high, p_value=min(1.0, 2 * float(tail) / (len(drawn) + 1)))


def mcnemar(first: npt.ArrayLike, second: npt.ArrayLike, gold: npt.ArrayLike) -> float:
    """Compute the exact p-value of McNemar's test that two classifiers are equally accurate.

    >>> mcnemar([1] * 10, [0] * 10, [1] * 10) == 2 / 2**10
    True
    """
    from scipy.stats import binomtest

    ours, theirs = np.asarray(first) == np.asarray(gold), np.asarray(second) == np.asarray(gold)
    only_first, only_second = int((ours & ~theirs).sum()), int((theirs & ~ours).sum())
    differing = only_first + only_second
    return float(binomtest(only_first, differing).pvalue) if differing else 1.0


def _range(scores: FloatArray, level: float) -> Interval:
    if not 0 < level < 1:
        raise BadInput(f"level is {level}, but must lie between 0 and 1, such as 0.95")
    return Interval(*np.nanquantile(scores, [(1 - level) / 2, (1 + level) / 2]).tolist())


def _bootstrap(metric: Metric, predicted: list[Array], gold: Array, resamples: int, seed: int) -> list[FloatArray]:
    """(R,) scores of each model on the same samples; NaN where a sample cannot be scored."""
    if resamples < 1:
        raise BadInput(f"resamples is {resamples}, but must be at least 1")
    for values in predicted:
        metric(values, gold)  # raises the error of the metric if nothing can be scored
    score = _QUICK.get(metric, partial(_one_by_one, metric))
    blocks = [[score(values, gold, counts) for values in predicted] for counts in _draws(len(gold), resamples, seed)]
    return [np.concatenate(scores) for scores in zip(*blocks, strict=True)]


def _draws(items: int, resamples: int, seed: int) -> Iterator[IntArray]:
    """Yield blocks of (r, N) counts: how often each sample contains each item."""
    rng = np.random.default_rng(seed)
    block = max(1, _CELLS // items)
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        drawn = rng.integers(items, size=(rows, items)) + items * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * items).reshape(rows, items)


def _one_by_one(metric: Metric, predicted: Array, gold: Array, counts: IntArray) -> FloatArray:
    """(r,) the score of each sample, for any metric."""

    def score(sample: IntArray) -> float:
        rows = np.repeat(np.arange(len(gold)), sample)
        try:
            return metric(predicted[rows], gold[rows])
        except BadInput:  # such as a sample with one class only
            return np.nan

    return np.array([score(sample) for sample in counts])


def _accuracies(predicted: Array, gold: Array, counts: IntArray) -> FloatArray:
    right: FloatArray = counts @ (predicted == gold).astype(np.float64)
    return 100 * right / len(gold)


def _attained(predicted: Array, gold: Array, counts: IntArray) -> FloatArray:
    share: FloatArray = 100 * (counts @ predicted) / (counts @ gold)
    return share


def _pearsons(predicted: Array, gold: Array, counts: IntArray) -> FloatArray:
    return _correlation(_standard(predicted), _standard(gold), counts)


def _spearmans(predicted: Array, gold: Array, counts: IntArray) -> FloatArray:
    return _correlation(_ranks(predicted, counts), _ranks(gold, counts), counts)


def _ranks(values: Array, counts: IntArray) -> FloatArray:
    """(r, N) ranks of the items within each sample; equal items share the mean rank."""
    _, group = np.unique(values, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    sizes = np.add.reduceat(counts[:, order], starts, axis=1)  # (r, groups)
    middle: FloatArray = np.cumsum(sizes, axis=1) - (sizes - 1) / 2
    return middle[:, group]


def _standard(values: Array) -> FloatArray:
    centred = values.astype(np.float64) - values.mean(dtype=np.float64)
    standard: FloatArray = centred / (centred.std() or 1.0)
    return standard


def _correlation(first: FloatArray, second: FloatArray, counts: IntArray) -> FloatArray:
    """Pearson correlation, times 100, of (N,) or (r, N) values that are weighted by counts."""
    total = counts.shape[1]
    first = first - (counts * first).sum(axis=1, keepdims=True) / total
    second = second - (counts * second).sum(axis=1, keepdims=True) / total
    products = (counts * first * second).sum(axis=1)
    squares = (counts * first * first).sum(axis=1) * (counts * second * second).sum(axis=1)
    # Rounding errors leave a value slightly above 0 for samples with equal values only.
    found: FloatArray = products / np.where(squares > (1e-12 * total) ** 2, np.sqrt(squares), np.nan)
    return 100 * found


_QUICK: dict[Metric, Callable[[Array, Array, IntArray], FloatArray]] = {
    accuracy: _accuracies,
    attained: _attained,
    pearson: _pearsons,
    spearman: _spearmans,
}
"""Functions of predictions, gold labels and (r, N) counts that compute the scores of all samples at once."""
