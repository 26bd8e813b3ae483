"""How sure a score is, and whether two models differ, by the bootstrap. Knows predictions and gold only.

The items of a test set are drawn again, as many as there are and with repetition, a thousand times; how much the score
varies over these draws is how much it would vary over other test sets. A draw is held as the number of times each item
is in it, so that ranks follow from sums and nothing has to be sorted again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sbert.errors import BadInput
from sbert.evaluate.metrics.prediction import accuracy, attained, pearson, spearman
from sbert.types import Array, FloatArray, IntArray

Metric = Callable[[Array, Array], float]
"""Predictions and gold in, a score out."""

RESAMPLES, LEVEL, SEED = 1000, 0.95, 0
_CELLS = 2_000_000
"""Draws times items held at once."""


class Interval(NamedTuple):
    """Where a score lies, as far as one can tell from so many items."""

    low: float
    high: float


class Comparison(NamedTuple):
    """The first model's score minus the second's, and how sure that is."""

    difference: float
    low: float
    high: float
    p_value: float
    """How likely so large a difference, of either sign, were if the models were equally good."""


def interval(
    metric: Metric,
    predicted: npt.ArrayLike,
    gold: npt.ArrayLike,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval:
    """The range that holds the score in ``level`` of all cases.

    Args:
        metric: of predictions and gold, such as ``spearman``, ``accuracy`` or ``average_precision``.
        predicted: (N,) what a model said of each item.
        gold: (N,) what people said.
        level: how often the range should hold the score.
        resamples: draws; more make the bounds steadier.
        seed: of the draws.

    >>> rng = np.random.default_rng(0)
    >>> gold = rng.normal(size=500)
    >>> low, high = interval(spearman, gold + rng.normal(size=500), gold)
    >>> round(low), round(high)
    (67, 76)
    """
    _check_level(level)
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
    """Is one model better than the other on the same items? Both are scored on the same draws.

    Args:
        metric: of predictions and gold.
        first: (N,) what one model said of each item.
        second: (N,) what the other said.
        gold: (N,) what people said.
        level: of the range of the difference.
        resamples: draws; the smallest ``p_value`` there can be is about two over their number.
        seed: of the draws.

    >>> compare(accuracy, [1, 1, 0, 1], [1, 1, 0, 1], [1, 1, 1, 1])
    Comparison(difference=0.0, low=0.0, high=0.0, p_value=1.0)
    """
    _check_level(level)
    predicted, truth = [np.asarray(first), np.asarray(second)], np.asarray(gold)
    difference = metric(predicted[0], truth) - metric(predicted[1], truth)
    ours, theirs = _bootstrap(metric, predicted, truth, resamples, seed)
    drawn = ours - theirs
    drawn = drawn[~np.isnan(drawn)]
    # One more on each side: the sample itself is a draw too, and a p-value of 0 would claim more than was tried.
    tail = min((drawn <= 0).sum(), (drawn >= 0).sum()) + 1
    low, high = _range(drawn, level)
    return Comparison(difference, low, high, p_value=min(1.0, 2 * float(tail) / (len(drawn) + 1)))


def mcnemar(first: npt.ArrayLike, second: npt.ArrayLike, gold: npt.ArrayLike) -> float:
    """The exact p-value that two classifiers are equally accurate: of the items that only one got right, who got more?

    >>> mcnemar([1] * 10, [0] * 10, [1] * 10) == 2 / 2**10
    True
    """
    from scipy.stats import binomtest

    ours, theirs = np.asarray(first) == np.asarray(gold), np.asarray(second) == np.asarray(gold)
    only_first, only_second = int((ours & ~theirs).sum()), int((theirs & ~ours).sum())
    differing = only_first + only_second
    return float(binomtest(only_first, differing).pvalue) if differing else 1.0


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise BadInput(f"level is {level}, but must lie between 0 and 1, such as 0.95")


def _range(scores: FloatArray, level: float) -> Interval:
    return Interval(*np.nanquantile(scores, [(1 - level) / 2, (1 + level) / 2]).tolist())


def _bootstrap(metric: Metric, predicted: list[Array], gold: Array, resamples: int, seed: int) -> list[FloatArray]:
    """(R,) scores of each model on the same draws; not a number where a draw cannot be scored."""
    if resamples < 1:
        raise BadInput(f"resamples is {resamples}, but must be at least 1")
    for values in predicted:
        metric(values, gold)  # what cannot be scored at all is said here, in the metric's own words
    quick = _QUICK.get(metric)
    draws = [quick(values, gold) if quick else _one_by_one(metric, values, gold) for values in predicted]
    blocks = [[draw(counts) for draw in draws] for counts in _draws(len(gold), resamples, seed)]
    return [np.concatenate(scores) for scores in zip(*blocks, strict=True)]


def _draws(items: int, resamples: int, seed: int) -> Iterator[IntArray]:
    """(r, N) how often each item is in each draw, a block of draws at a time."""
    rng = np.random.default_rng(seed)
    block = max(1, _CELLS // items)
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        drawn = rng.integers(items, size=(rows, items)) + items * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * items).reshape(rows, items)


Draw = Callable[[IntArray], FloatArray]
"""(r, N) counts -> (r,) scores."""


def _one_by_one(metric: Metric, predicted: Array, gold: Array) -> Draw:
    def score(counts: IntArray) -> float:
        rows = np.repeat(np.arange(len(gold)), counts)
        try:
            return metric(predicted[rows], gold[rows])
        except BadInput:  # such as a draw of one class
            return np.nan

    return lambda counts: np.array([score(row) for row in counts])


def _accuracies(predicted: Array, gold: Array) -> Draw:
    right = (predicted == gold).astype(np.float64)
    return lambda counts: 100 * (counts @ right) / len(right)


def _attained(predicted: Array, gold: Array) -> Draw:
    return lambda counts: 100 * (counts @ predicted) / (counts @ gold)


def _pearsons(predicted: Array, gold: Array) -> Draw:
    first, second = _standard(predicted), _standard(gold)
    return lambda counts: _correlation(first, second, counts)


def _spearmans(predicted: Array, gold: Array) -> Draw:
    first, second = _ranks_in(predicted), _ranks_in(gold)
    return lambda counts: _correlation(first(counts), second(counts), counts)


def _ranks_in(values: Array) -> Draw:
    """(r, N) counts -> (r, N): the rank of each item among the items of a draw; equal ones share the mean rank."""
    _, group = np.unique(values, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))

    def ranks(counts: IntArray) -> FloatArray:
        sizes = np.add.reduceat(counts[:, order], starts, axis=1)  # (r, groups)
        middle: FloatArray = np.cumsum(sizes, axis=1) - (sizes - 1) / 2
        return middle[:, group]

    return ranks


def _standard(values: Array) -> FloatArray:
    centred = values.astype(np.float64) - values.mean(dtype=np.float64)
    standard: FloatArray = centred / (centred.std() or 1.0)
    return standard


def _correlation(first: FloatArray, second: FloatArray, counts: IntArray) -> FloatArray:
    """Pearson's, times 100, of (N,) or (r, N) values, of which each counts so often."""
    total = counts.shape[1]
    first = first - (counts * first).sum(axis=1, keepdims=True) / total
    second = second - (counts * second).sum(axis=1, keepdims=True) / total
    products = (counts * first * second).sum(axis=1)
    squares = (counts * first * first).sum(axis=1) * (counts * second * second).sum(axis=1)
    # Rounding leaves a little of what should be 0 where a draw has equal values only.
    found: FloatArray = products / np.where(squares > (1e-12 * total) ** 2, np.sqrt(squares), np.nan)
    return 100 * found


_QUICK: dict[Metric, Callable[[Array, Array], Draw]] = {
    accuracy: _accuracies,
    attained: _attained,
    pearson: _pearsons,
    spearman: _spearmans,
}
