"""Finds nearest rows and nearest pairs by looking at all of them. Knows arrays only: no model, no strings, no files.

Two steps make it fast and exact at once. A scan gives every pair of rows a key with a float32 matrix multiply, block
by block, and drops what lies further below the k-th best than a key can err. What is left is scored again, pair by
pair in float64, and only those scores are ordered and returned. So a result depends on the vectors alone, not on the
block size or the BLAS; equal vectors score equally, and equal scores are ordered by row.

numpy multiplies: torch was 1 to 13 % faster on bare blocks (10,000 x 384, 2 cores), too little to need it here.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from sbert.errors import BadInput, check_count, check_option
from sbert.types import Array, FloatArray, Hit, IntArray, Pair, Similarity

_ROWS, _COLUMNS = 512, 4096
"""The shape of a block, 8 MB of float32 keys: squares of 512 are as fast on an idle machine, but took twice the time
on a busy one, where the threads of each multiply wait for each other."""
_CHUNK = 256
"""Candidates scored in float64 at a time: their rows fit in the cache."""
_PENDING = 4096
"""The fewest candidates worth thinning out before the scan ends."""
_LOWEST = float(np.finfo(np.float32).min)
"""A floor below every real key and above the -inf of what is no candidate at all."""


def semantic_search(
    queries: npt.ArrayLike, corpus: npt.ArrayLike, k: int = 10, similarity: Similarity = "cosine"
) -> list[list[Hit]]:
    """For each query the ``k`` nearest rows of the corpus, best first; equal scores: lower row first.

    Args:
        queries: (Q, D), or (D,) for a single one; whatever ``np.asarray`` reads as floating point.
        corpus: (N, D); with fewer than ``k`` rows, all of them are hits.
        k: Hits per query.
        similarity: "cosine", "dot", or the negative distances "euclidean" and "manhattan": higher is nearer.

    >>> semantic_search([1.0, 0.0], [[0.0, 2.0], [3.0, 0.0], [4.0, 3.0]], k=2)
    [[Hit(id=1, score=1.0, text=None), Hit(id=2, score=0.8, text=None)]]
    """
    check_count("k", k)
    check_option("similarity", similarity, get_args(Similarity))
    queries = np.asarray(queries)
    left = _read("queries", queries[None] if queries.ndim == 1 and queries.size else queries)
    right = _read("corpus", corpus)
    measure = _Measure.between(left, right, similarity)
    best = _Best(measure, k, None, groups=len(left.vectors))
    blocks = [(start, measure.scaled(left, start, _ROWS)) for start in range(0, len(left.vectors), _ROWS)]
    for start in range(0, len(right.vectors), _COLUMNS):
        columns = measure.scaled(right, start, _COLUMNS)
        for query_start, block in blocks:
            best.add(measure.keys(block, columns), query_start, start)
    return best.hits()


def most_similar_pairs(
    vectors: npt.ArrayLike, k: int | None = 100, threshold: float | None = None, similarity: Similarity = "cosine"
) -> list[Pair]:
    """The ``k`` nearest of all N (N - 1) / 2 pairs of rows, best first; equal scores: lower rows first.

    Args:
        vectors: (N, D); whatever ``np.asarray`` reads as floating point.
        k: How many pairs; None for all that reach ``threshold``.
        threshold: Only pairs with at least this score.
        similarity: "cosine", "dot", or the negative distances "euclidean" and "manhattan": higher is nearer.

    >>> most_similar_pairs([[1.0, 0.0], [0.0, 2.0], [4.0, 3.0]], k=2)
    [Pair(first=0, second=2, score=0.8), Pair(first=1, second=2, score=0.6)]
    """
    _check_options(k, threshold, similarity)
    rows = _read("vectors", vectors)
    measure = _Measure.between(rows, rows, similarity)
    best = _Best(measure, k, threshold)
    count = len(rows.vectors)
    scaled = np.empty(rows.vectors.shape, np.float32)
    for start in range(0, count, _ROWS):
        scaled[start : start + _ROWS] = measure.scaled(rows, start, _ROWS)
    for start in range(0, count, _ROWS):
        for column in range(start, count, _COLUMNS):
            keys = measure.keys(scaled[start : start + _ROWS], scaled[column : column + _COLUMNS])
            if column == start:  # a row with itself, and every pair's second mention
                np.copyto(keys, -np.inf, where=np.tri(*keys.shape, dtype=np.bool_))
            best.add(keys, start, column)
    return best.pairs()


class _Rows(NamedTuple):
    vectors: FloatArray
    """(N, D) float32 or float64, contiguous."""
    squares: FloatArray
    """(N,) float64 squared norms."""


@dataclass(frozen=True, slots=True, eq=False)
class _Measure:
    """Two ways to compare rows of ``left`` with rows of ``right``: fast keys and exact scores."""

    left: _Rows
    right: _Rows
    similarity: Similarity
    scale: float
    """The largest norm: rows divided by it have norms of at most 1, so that keys never overflow."""
    slack: float
    """More than a key can differ from the key of its exact score."""

    @classmethod
    def between(cls, left: _Rows, right: _Rows, similarity: Similarity) -> _Measure:
        ours, theirs = left.vectors.shape[1], right.vectors.shape[1]
        if ours != theirs and len(left.vectors) and len(right.vectors):
            sizes = f"queries have {ours} dimensions and the corpus has {theirs}"
            raise BadInput(f"{sizes}, but both need the same; embed both with one model and one truncate_dim")
        scale = float(np.sqrt(max(left.squares.max(initial=0), right.squares.max(initial=0)))) or 1.0
        # Rounding of a dot product of rows with norm <= 1 is at most D units of 2**-24 in any order of summation;
        # a euclidean key holds four of them. The 64 covers rounding the rows, the scores and the floor.
        return cls(left, right, similarity, scale, slack=(4 * ours + 64) * 2.0**-24)

    def scaled(self, rows: _Rows, start: int, count: int) -> FloatArray:
        """``count`` rows from ``start`` on in float32 with norms of at most 1."""
        block = slice(start, start + count)
        norms = np.sqrt(rows.squares[block]) if self.similarity == "cosine" else np.full(1, self.scale)
        return (rows.vectors[block] / np.where(norms > 0, norms, 1)[:, None]).astype(np.float32)

    def keys(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Scaled (b, D), (c, D) -> (b, c): what orders like the score, quick and nearly right."""
        if self.similarity == "manhattan":
            import torch

            return -torch.cdist(torch.from_numpy(left).double(), torch.from_numpy(right).double(), p=1).numpy()
        keys: FloatArray = left @ right.T
        if self.similarity == "euclidean":  # -|a - b|^2
            keys *= 2
            keys -= np.vecdot(left, left)[:, None]
            keys -= np.vecdot(right, right)
        return keys

    def key_of(self, scores: FloatArray) -> FloatArray:
        """The key that a score would have if keys were exact."""
        if self.similarity == "cosine":
            return scores
        if self.similarity == "dot":
            return scores / self.scale**2
        if self.similarity == "manhattan":
            return scores / self.scale
        return -np.square(np.minimum(scores, 0) / self.scale)

    def scores(self, first: IntArray, second: IntArray) -> FloatArray:
        """(n,) exact scores of ``left[first]`` with ``right[second]``, in the precision of the vectors."""
        scores = np.empty(len(first), np.result_type(self.left.vectors, self.right.vectors))
        for start in range(0, len(first), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            scores[chunk] = self._score(first[chunk], second[chunk])
        return scores

    def _score(self, first: IntArray, second: IntArray) -> FloatArray:
        a = self.left.vectors.take(first, axis=0).astype(np.float64)
        b = self.right.vectors.take(second, axis=0).astype(np.float64)
        if self.similarity in ("euclidean", "manhattan"):
            distances: FloatArray = np.linalg.norm(a - b, 2 if self.similarity == "euclidean" else 1, axis=1)
            return 0.0 - distances  # not -distances: no negative zero
        dots: FloatArray = np.vecdot(a, b)
        if self.similarity == "dot":
            return dots
        # The root of the product, not the product of roots: it makes equal rows exactly 1.
        norms = np.sqrt(self.left.squares[first] * self.right.squares[second])
        return np.clip(np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0), -1, 1)


class _Found(NamedTuple):
    """Pairs of rows with a value each: a key before they are scored, a score after."""

    first: IntArray
    second: IntArray
    values: FloatArray

    def at(self, places: Array) -> _Found:
        return _Found(self.first[places], self.second[places], self.values[places])


class _Best:
    """The ``k`` best pairs of rows so far, of each first row or, with ``groups=None``, of all together."""

    def __init__(self, measure: _Measure, k: int | None, threshold: float | None, groups: int | None = None) -> None:
        self.measure, self.k, self.threshold, self.grouped = measure, k, threshold, groups is not None
        lowest = np.clip(-np.inf if threshold is None else threshold, _LOWEST, -_LOWEST)
        floor = np.clip(float(measure.key_of(lowest)) - measure.slack, _LOWEST, -_LOWEST)
        self.floor = np.full((1 if groups is None else groups, 1), floor, np.float32)  # (G, 1), what a key must reach
        self.pending: list[_Found] = []  # keys
        nothing = np.empty(0, np.int64)
        self.kept = _Found(nothing, nothing, measure.scores(nothing, nothing))

    def add(self, keys: FloatArray, first_start: int, second_start: int) -> None:
        """Take what can still be among the best from a block of keys (b, c)."""
        width = keys.shape[1]
        floor = self.floor[first_start : first_start + len(keys)] if self.grouped else self.floor
        keys = keys if self.grouped else keys.reshape(1, -1)
        passing = keys >= floor  # the one comparison that most of a block does not survive
        if self.k is not None and self.k < keys.shape[1] and np.count_nonzero(passing) > 2 * self.k * len(keys):
            kth = np.partition(keys, -self.k, axis=1)[:, -self.k, None]
            np.maximum(floor, kth - 2 * self.measure.slack, out=floor)  # twice: this key errs, and so do the others
            passing = keys >= floor
        places = np.flatnonzero(passing)
        if places.size:
            first, second = np.divmod(places, width)
            self.pending.append(_Found(first + first_start, second + second_start, keys.ravel()[places]))
            self._bound_pending()

    def _bound_pending(self) -> None:
        if self.k is None:  # all that reach the threshold are wanted
            return
        limit = max(2 * self.k * len(self.floor), _PENDING)
        if sum(len(found.first) for found in self.pending) > limit:
            found = _join(self.pending)
            groups = self._groups(found)
            order = np.lexsort((-found.values, groups))
            last = order[_rank(groups[order]) == self.k - 1]
            self._raise_floor(groups[last], found.values[last] - 2 * self.measure.slack)
            self.pending = [found.at(found.values >= self.floor[groups, 0])]
            if 4 * len(self.pending[0].first) > 3 * limit:  # too many near ties for keys to tell apart
                self._settle()

    def _settle(self) -> None:
        """Score what is pending and keep the best, in order."""
        if self.pending:
            found = _join(self.pending)
            self.pending = []
            found = found._replace(values=self.measure.scores(found.first, found.second))
            if self.threshold is not None:
                found = found.at(found.values >= np.float64(self.threshold))  # in float32, 0.9 would be less than 0.9
            found = _join([self.kept, found])
            self.kept = found.at(np.lexsort((found.second, found.first, -found.values, self._groups(found))))
            if self.k is not None:
                rank = _rank(self._groups(self.kept))
                last = self.kept.at(rank == self.k - 1)
                self._raise_floor(self._groups(last), self.measure.key_of(last.values) - self.measure.slack)
                self.kept = self.kept.at(rank < self.k)

    def _raise_floor(self, groups: IntArray, keys: FloatArray) -> None:
        self.floor[groups, 0] = np.maximum(self.floor[groups, 0], keys)

    def _groups(self, found: _Found) -> IntArray:
        return found.first if self.grouped else np.zeros_like(found.first)

    def pairs(self) -> list[Pair]:
        self._settle()
        return list(map(Pair, *(column.tolist() for column in self.kept)))

    def hits(self) -> list[list[Hit]]:
        self._settle()
        hits = list(map(Hit, self.kept.second.tolist(), self.kept.values.tolist()))
        bounds = np.searchsorted(self.kept.first, np.arange(len(self.floor) + 1)).tolist()
        return [hits[start:stop] for start, stop in pairwise(bounds)]


def _rank(groups: IntArray) -> IntArray:
    """(n,) sorted groups -> (n,) place of each entry within its group."""
    return np.arange(len(groups)) - np.searchsorted(groups, groups)


def _join(parts: list[_Found]) -> _Found:
    return _Found(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _read(name: str, vectors: npt.ArrayLike) -> _Rows:
    array = np.asarray(vectors)
    if array.shape == (0,):  # an empty list
        array = array.reshape(0, 0)
    if array.ndim != 2:
        raise BadInput(f"{name} has shape {array.shape}, but must be (rows, dimensions); stack the vectors as rows")
    if not np.issubdtype(array.dtype, np.floating):
        raise BadInput(f"{name} has dtype {array.dtype}, but must be floating point; turn it into float32 first")
    array = np.ascontiguousarray(array, np.float64 if array.dtype.itemsize >= 8 else np.float32)
    squares = np.zeros(len(array))
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(array), _ROWS):
            block = array[start : start + _ROWS].astype(np.float64)
            squares[start : start + _ROWS] = np.vecdot(block, block)
    unusable = np.flatnonzero(~(squares < np.finfo(np.float32).max))  # so that any dot product fits in float32
    if unusable.size:
        raise BadInput(
            f"row {unusable[0]} of {name} holds NaN, infinity or values beyond 1e19; repair it or leave it out"
        )
    squares[squares < 1e-150] = 0  # such norms, which only float64 has, count as zero: their product would vanish
    return _Rows(array, squares)


def _check_options(k: int | None, threshold: float | None, similarity: Similarity) -> None:
    check_option("similarity", similarity, get_args(Similarity))
    if k is not None:
        check_count("k", k)
    if k is None and threshold is None:
        raise BadInput("k and threshold are both None, but one must bound the result; give k, threshold or both")
    if threshold is not None and np.isnan(threshold):
        raise BadInput("threshold is NaN, but must be a number")
