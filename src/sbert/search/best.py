"""Keeps the best pairs of rows of a scan. Works on keys and scores only, not on vectors.

A scan adds blocks of approximate keys. A pair is dropped if its key is below the k-th best by more than the error
bound; the others are kept and scored exactly at the end. Only the exact scores decide the result.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sbert.search.measure import Scorer, key_of
from sbert.types import Array, FloatArray, IntArray

PENDING = 4096  # number of pending pairs up to which none of them is dropped before the end


class Pairs(NamedTuple):
    """Pairs of rows with a value each: a key before they are scored, a score afterwards."""

    first: IntArray
    second: IntArray
    values: FloatArray

    def at(self, places: Array) -> Pairs:
        """Return the pairs at ``places``, indices or a mask."""
        return Pairs(self.first[places], self.second[places], self.values[places])


class Best:
    """The ``k`` best pairs so far, for each first row or, without ``groups``, among all pairs.

    Args:
        scorer: Computes exact scores.
        k: Number of pairs of each group; None for all that reach the threshold.
        threshold: Lowest score of a pair that is kept; None for no limit.
        groups: Number of first rows, if the ``k`` best pairs of each of them are kept.
    """

    def __init__(
        self, scorer: Scorer, k: int | None, threshold: float | None = None, groups: int | None = None
    ) -> None:
        self.scorer, self.k, self.threshold, self.grouped = scorer, k, threshold, groups is not None
        lowest = key_of(np.array([-np.inf if threshold is None else threshold]), scorer.similarity)
        # For each group, a lower bound of the exact key of its k-th best pair and the error bound of its keys: (G, 1).
        self.floor = np.repeat(lowest[None], 1 if groups is None else groups, axis=0)
        self.slack = np.zeros_like(self.floor)
        self.pending: list[Pairs] = []
        self.pending_count = 0
        nothing = np.empty(0, np.int64)
        self.kept = Pairs(nothing, nothing, scorer.scores(nothing, nothing))

    def add(self, keys: FloatArray, slack: FloatArray, first_start: int, second_start: int) -> None:
        """Add a block of keys (b, c), whose first row and column are ``first_start`` and ``second_start``.

        ``slack`` (b, 1) bounds their error.
        """
        width = keys.shape[1]
        rows = slice(first_start, first_start + len(keys)) if self.grouped else slice(None)
        keys, slack = (keys, slack) if self.grouped else (keys.reshape(1, -1), slack.max(keepdims=True))
        floor = self.floor[rows]
        self.slack[rows] = slack = np.maximum(self.slack[rows], slack)
        passing = keys >= _reachable(floor - slack, keys)  # few keys of a block pass this comparison
        if self.k is not None and self.k < keys.shape[1] and np.count_nonzero(passing) > 2 * self.k * len(keys):
            kth = np.partition(keys, -self.k, axis=1)[:, -self.k, None]
            self.floor[rows] = floor = np.maximum(floor, kth - slack)
            passing = keys >= _reachable(floor - slack, keys)
        places = np.flatnonzero(passing)
        if places.size:
            first, second = np.divmod(places, width)
            self.pending.append(Pairs(first + first_start, second + second_start, keys.ravel()[places]))
            self.pending_count += len(places)
            self._bound_pending()

    def settle(self) -> Pairs:
        """Score the pending pairs and return the best of each group; ties are ordered by first and second row."""
        if not self.pending:
            return self.kept
        found = self._thinned()
        found = found._replace(values=self.scorer.scores(found.first, found.second))
        if self.threshold is not None:
            found = found.at(found.values >= np.float64(self.threshold))  # in float32, 0.9 would be less than 0.9
        found = _joined([self.kept, found])
        found = found.at(np.lexsort((found.second, found.first, -found.values, self._groups(found))))
        rank = _rank(self._groups(found))
        if self.k is not None:
            last = found.at(rank == self.k - 1)
            self._raise_floor(self._groups(last), key_of(last.values.astype(np.float64), self.scorer.similarity))
            found = found.at(rank < self.k)
        self.pending, self.pending_count, self.kept = [], 0, found
        return found

    def _bound_pending(self) -> None:
        if self.k is None:  # every pair that reaches the threshold is wanted
            return
        limit = max(2 * self.k * len(self.floor), PENDING)
        if self.pending_count > limit:
            self.pending = [self._thinned()]
            self.pending_count = len(self.pending[0].first)
            if 4 * self.pending_count > 3 * limit:  # many keys differ by less than their error
                self.settle()

    def _thinned(self) -> Pairs:
        """Return the pending pairs without those that cannot be among the k best."""
        found = _joined(self.pending)
        if self.k is None:
            return found
        groups = self._groups(found)
        order = np.lexsort((-found.values, groups))
        last = order[_rank(groups[order]) == self.k - 1]
        self._raise_floor(groups[last], found.values[last])
        return found.at(found.values >= (self.floor - self.slack)[groups, 0])

    def _raise_floor(self, groups: IntArray, keys: FloatArray) -> None:
        self.floor[groups, 0] = np.maximum(self.floor[groups, 0], keys - self.slack[groups, 0])

    def _groups(self, found: Pairs) -> IntArray:
        return found.first if self.grouped else np.zeros_like(found.first)


def _reachable(bound: FloatArray, keys: FloatArray) -> FloatArray:
    """Round ``bound`` down to the precision of the keys, but keep it finite, because -inf marks excluded pairs."""
    with np.errstate(over="ignore"):
        rounded = np.nextafter(bound.astype(keys.dtype), keys.dtype.type(-np.inf))
    return np.maximum(rounded, np.finfo(keys.dtype).min)


def _rank(groups: IntArray) -> IntArray:
    """Return the place of each entry within its group: sorted (n,) -> (n,)."""
    return np.arange(len(groups)) - np.searchsorted(groups, groups)


def _joined(parts: list[Pairs]) -> Pairs:
    return Pairs(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
