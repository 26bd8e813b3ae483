"""Compares rows of vectors in two ways: fast approximate keys for every pair, exact scores for a few pairs.

Works on arrays only. A key approximates the score of a pair or, for "euclidean", the negative squared distance. Keys
come from a matrix product, and their error is less than :func:`slack`. A score is computed pair by pair in float64, so
it depends on the two vectors alone: not on the block size, the BLAS library or the other rows.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from sbert.disk.machine import core_count
from sbert.errors import BadInput
from sbert.types import FloatArray, IntArray, Similarity

CHUNK = 256  # pairs scored at a time, whose vectors fit into the cache
CACHED = 2048  # rows that stay in the cache between their norms and their products
THREAD_ROWS = 16_384  # rows from which a thread of their own is worth starting
_SMALL, _LARGE = 1e-24, 1e30  # squared norms between which float32 products neither underflow nor overflow
_STEP = 2.0**-126  # the smallest normal float32
# Smaller squared norms, which only float64 can represent, count as zero: their product would underflow.
_NO_DIRECTION = 1e-150


class Rows(NamedTuple):
    """A block of vectors, ready for a matrix product."""

    vectors: FloatArray
    """(n, D) float32, or float64 if float32 could overflow or underflow."""
    norms: FloatArray
    """(n,)."""
    dots: FloatArray | None = None
    """(Q, n) dot products with a few queries, if they have been computed already."""

    @classmethod
    def read(
        cls,
        name: str,
        vectors: FloatArray,
        start: int = 0,
        count: int | None = None,
        queries: FloatArray | None = None,
    ) -> Rows:
        """Prepare ``count`` rows from ``start`` on; refuse rows that hold NaN, infinity or values beyond 1e19.

        Args:
            name: What an error message calls the vectors.
            vectors: (N, D) float32 or float64.
            start: First row of the block.
            count: Number of rows of the block. Defaults to all.
            queries: Queries whose dot products are computed in the same pass as the norms.
        """
        block = vectors[start : None if count is None else start + count]
        squares, dots = (_dots(block, block), None) if queries is None else _in_one_pass(block, queries)
        unusual = ~((squares >= _SMALL) & (squares <= _LARGE))
        if not (unusual.any() and block[unusual].any()):  # all are of usual length or zero
            return cls(block.astype(np.float32, copy=False), np.sqrt(squares), dots)
        block = block.astype(np.float64)
        return cls(block, np.sqrt(_squares(block, f"of {name}", start)))

    def unit(self) -> Rows:
        """Scale every row to length 1; rows of length 0 remain zero."""
        norms = np.where(self.norms > 0, self.norms, 1)
        return Rows((self.vectors / norms[:, None]).astype(np.float32, copy=False), np.ones_like(norms))

    def at(self, start: int, count: int) -> Rows:
        """Return ``count`` rows from ``start`` on."""
        return Rows(self.vectors[start : start + count], self.norms[start : start + count])


def _dots(left: FloatArray, right: FloatArray, out: FloatArray | None = None) -> FloatArray:
    """Compute dot products along the last axis; they may overflow."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        dots: FloatArray = np.vecdot(left, right, out=out)
    return dots


def _in_one_pass(block: FloatArray, queries: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute squared norms (n,) and dot products with queries (Q, n), reading the rows from memory only once.

    One core cannot read as fast as the memory is, so several threads read a part each.
    """
    squares = np.empty(len(block), block.dtype)
    dots = np.empty((len(queries), len(block)), np.result_type(block, queries))

    def compute(start: int, stop: int) -> None:
        for begin in range(start, stop, CACHED):
            rows = slice(begin, min(begin + CACHED, stop))
            _dots(block[rows], block[rows], out=squares[rows])
            _dots(queries[:, None], block[rows], out=dots[:, rows])

    threads = max(1, min(core_count(), len(block) // THREAD_ROWS))
    bounds = np.linspace(0, len(block), threads + 1).astype(int).tolist()
    if threads == 1:
        compute(*bounds)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(compute, bounds, bounds[1:]))
    return squares, dots


def keys(left: Rows, right: Rows, similarity: Similarity) -> FloatArray:
    """Compute the key of every pair: (b, D), (c, D) -> (b, c). For "cosine" the left rows must have length 1."""
    if similarity == "manhattan":
        import torch

        return -torch.cdist(
            torch.from_numpy(left.vectors).double(), torch.from_numpy(right.vectors).double(), p=1
        ).numpy()
    with np.errstate(invalid="ignore"):  # kernels for small matrices may compute with memory beyond the end of a row
        made: FloatArray = left.vectors @ right.vectors.T if right.dots is None else right.dots
    if similarity == "cosine":
        made /= np.where(right.norms > 0, right.norms, 1)
    elif similarity == "euclidean":
        made *= 2
        made -= np.square(left.norms)[:, None]
        made -= np.square(right.norms)
    return made


def slack(left: Rows, right: Rows, similarity: Similarity) -> FloatArray:
    """Bound the error of the keys of each left row: (b, 1).

    The rounding error of a dot product is at most D units of 2**-24 times the norms, in any order of summation; a
    Euclidean key sums four such terms. The constant 64 covers the rounding of the vectors, norms and scores; below
    ``_STEP`` float32 scores are rounded by a constant amount.
    """
    norms, longest = left.norms.astype(np.float64)[:, None], float(right.norms.max(initial=0))
    reach: FloatArray
    if similarity == "cosine":
        reach = np.ones_like(norms)
    elif similarity == "dot":
        reach = norms * longest + _STEP
    elif similarity == "euclidean":
        reach = np.square(norms + _STEP) + (longest + _STEP) ** 2
    else:
        reach = norms + longest + _STEP
    reach *= (4 * left.vectors.shape[1] + 64) * 2.0**-24
    return reach


def key_of(scores: FloatArray, similarity: Similarity) -> FloatArray:
    """Convert exact scores to keys."""
    if similarity != "euclidean":
        return scores
    with np.errstate(over="ignore"):  # a threshold may be far below every score
        squares: FloatArray = np.square(np.minimum(scores, 0))
    return -squares


class Scorer(NamedTuple):
    """Computes exact scores of rows of ``left`` with rows of ``right``, in the precision of the vectors."""

    left: FloatArray
    right: FloatArray
    similarity: Similarity

    def scores(self, first: IntArray, second: IntArray) -> FloatArray:
        """Score ``left[first]`` with ``right[second]``: (n,), (n,) -> (n,)."""
        scores = np.empty(len(first), np.result_type(self.left, self.right))
        for start in range(0, len(first), CHUNK):
            chunk = slice(start, start + CHUNK)
            scores[chunk] = self._score(
                self.left.take(first[chunk], axis=0).astype(np.float64),
                self.right.take(second[chunk], axis=0).astype(np.float64),
            )
        return scores

    def _score(self, a: FloatArray, b: FloatArray) -> FloatArray:
        if self.similarity in ("euclidean", "manhattan"):
            distances: FloatArray = np.linalg.norm(a - b, 2 if self.similarity == "euclidean" else 1, axis=1)
            return 0.0 - distances  # not -distances, which would give a negative zero
        dots: FloatArray = np.vecdot(a, b)
        if self.similarity == "dot":
            return dots
        # The root of the product, not the product of the roots: equal rows score exactly 1.
        norms = np.sqrt(_squares(a) * _squares(b))
        return np.clip(np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0), -1, 1)


def _squares(vectors: FloatArray, name: str | None = None, start: int = 0) -> FloatArray:
    """Return the squared norms of float64 vectors; if a name is given, refuse vectors that cannot be compared."""
    squares: FloatArray = np.vecdot(vectors, vectors)
    usable = squares < np.finfo(np.float32).max  # so that any dot product fits in float32
    if name is not None and not usable.all():
        row = start + int(np.argmin(usable))
        raise BadInput(f"row {row} {name} holds NaN, infinity or values beyond 1e19; repair it or leave it out")
    return np.where(squares < _NO_DIRECTION, 0, squares)
