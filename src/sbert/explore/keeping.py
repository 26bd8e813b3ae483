"""Selects vectors greedily: a vector is kept unless a vector kept before is near. Works on arrays only.

A vector is compared only with kept vectors, so that memory does not grow with the number of near pairs, and many
duplicates reduce the work.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from sbert.explore.neighbours import compares_all, pair_index
from sbert.search.measure import Scorer
from sbert.types import FloatArray, IntArray

_ROWS, _COLUMNS = 512, 8192  # shape of a block of cosines
_SLACK = 1e-5  # maximum rounding error of a cosine in float32


def nearest_kept(vectors: FloatArray, threshold: float, exact: bool | None = None) -> tuple[IntArray, FloatArray]:
    """Return for each vector the kept vector that represents it, which may be the vector itself, and their cosine.

    Args:
        vectors: Vectors of length 1, in the order of preference: (N, D).
        threshold: Minimum cosine at which a kept vector represents another one.
        exact: Whether to compare each vector with all kept vectors. Defaults to whether there are at most 50,000
            vectors; more are searched with an index.
    """
    keeper, scores = np.arange(len(vectors)), np.ones(len(vectors), np.float32)
    kept: _Kept = _AllKept(vectors) if compares_all(vectors, exact) else _IndexedKept(vectors, threshold)
    scorer = Scorer(vectors, vectors, "cosine")
    for start in range(0, len(vectors), _ROWS):
        rows = np.arange(start, min(start + _ROWS, len(vectors)))
        nearest = kept.nearest(rows)
        found = np.where(nearest >= 0, scorer.scores(rows, np.maximum(nearest, 0)), -2)
        near = found >= threshold
        keeper[rows[near]], scores[rows[near]] = nearest[near], found[near]
        _within(rows[~near], vectors, threshold, scorer, keeper, scores)
        kept.add(rows[keeper[rows] == rows])
    return keeper, scores


def _within(
    rows: IntArray, vectors: FloatArray, threshold: float, scorer: Scorer, keeper: IntArray, scores: FloatArray
) -> None:
    """Select rows within one block, none of which is near to a vector kept before."""
    cosines = vectors[rows] @ vectors[rows].T
    chosen: list[int] = []
    for place in range(len(rows)):
        if chosen:
            best = chosen[int(np.argmax(cosines[place, chosen]))]
            if cosines[place, best] >= threshold - _SLACK:
                score = scorer.scores(rows[[place]], rows[[best]])[0]
                if score >= threshold:
                    keeper[rows[place]], scores[rows[place]] = rows[best], score
                    continue
        chosen.append(place)


class _Kept(Protocol):
    """The kept vectors."""

    def nearest(self, rows: IntArray) -> IntArray:
        """Return the kept row nearest to each of the rows, or -1 if there is none."""
        ...

    def add(self, rows: IntArray) -> None:
        """Keep rows."""
        ...


class _AllKept:
    """Compares with all kept vectors."""

    def __init__(self, vectors: FloatArray) -> None:
        self._vectors = vectors
        self._kept, self._rows = np.empty_like(vectors), np.empty(len(vectors), np.int64)
        self._count = 0

    def nearest(self, rows: IntArray) -> IntArray:
        best, nearest = np.full(len(rows), -np.inf), np.full(len(rows), -1)
        for start in range(0, self._count, _COLUMNS):
            stop = min(start + _COLUMNS, self._count)
            cosines = self._vectors[rows] @ self._kept[start:stop].T
            places = cosines.argmax(axis=1)
            values = cosines[np.arange(len(rows)), places]
            better = values > best
            best[better], nearest[better] = values[better], self._rows[start + places[better]]
        return nearest

    def add(self, rows: IntArray) -> None:
        stop = self._count + len(rows)
        self._kept[self._count : stop], self._rows[self._count : stop] = self._vectors[rows], rows
        self._count = stop


class _IndexedKept:
    """Compares with the kept vectors in the nearest cells of an index."""

    def __init__(self, vectors: FloatArray, threshold: float) -> None:
        self._vectors = vectors
        self._index: Any = pair_index(vectors, threshold)
        self._index.reset()  # removes the vectors, not the cells

    def nearest(self, rows: IntArray) -> IntArray:
        found: IntArray = self._index.search(self._vectors[rows], 1)[1][:, 0]
        return found

    def add(self, rows: IntArray) -> None:
        self._index.add_with_ids(self._vectors[rows], rows)
