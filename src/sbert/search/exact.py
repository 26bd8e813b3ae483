"""Finds the nearest rows and the nearest pairs of rows exactly, by comparing all of them. Works on arrays only.

Every pair of rows gets an approximate key from a matrix product, block by block; the few pairs that may be among the
best are then scored exactly. A search therefore takes little longer than the matrix product, and its result depends
on the vectors alone. Equal vectors have equal scores, and equal scores are ordered by row.

numpy computes the products. torch was 1 to 13 % faster on single blocks (10,000 x 384, 2 cores), which does not make
up for the time of its import.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import get_args

import numpy as np
import numpy.typing as npt

from sbert.errors import BadInput, check_count, check_option
from sbert.porting import explained
from sbert.search.best import Best, Pairs
from sbert.search.measure import Rows, Scorer, keys, slack
from sbert.text.records import Records
from sbert.types import FloatArray, Hit, Pair, Similarity

ROWS, COLUMNS = 512, 4096
"""Shape of a block of keys (8 MB). Blocks of 512 x 512 are as fast on an idle machine, but took twice as long on
a busy one, where the threads of each product wait for each other."""
FEW_QUERIES, MANY_COLUMNS = 4, 524_288
"""Number of queries up to which a search is limited by memory bandwidth, and the width of their blocks of keys, which
several threads compute together."""


@explained
def semantic_search(
    queries: npt.ArrayLike, corpus: npt.ArrayLike, k: int = 10, similarity: Similarity = "cosine"
) -> list[list[Hit]]:
    """Find the ``k`` nearest rows of the corpus for each query, best first; the lower row wins a tie.

    Args:
        queries: Query vectors (Q, D), or (D,) for one query; anything that ``np.asarray`` reads as floating point.
        corpus: Vectors to search (N, D). With fewer than ``k`` rows, all of them are hits.
        k: Number of hits for each query.
        similarity: "cosine", "dot", or the negative distances "euclidean" and "manhattan". Higher is nearer.

    >>> semantic_search([1.0, 0.0], [[0.0, 2.0], [3.0, 0.0], [4.0, 3.0]], k=2)
    [[Hit(id=1, score=1.0, text=None), Hit(id=2, score=0.8, text=None)]]
    """
    check_count("k", k)
    check_option("similarity", similarity, get_args(Similarity))
    queries = np.asarray(queries)
    left = _array("queries", queries[None] if queries.ndim == 1 and queries.size else queries)
    right = _array("corpus", corpus)
    _check_dimensions(left, right)
    blocks = [(start, _query_rows(left, start, similarity)) for start in range(0, len(left), ROWS)]
    few = blocks[0][1].vectors if 0 < len(left) <= FEW_QUERIES and similarity != "manhattan" else None
    best = Best(Scorer(left, right, similarity), k, groups=len(left))
    width = COLUMNS if few is None else MANY_COLUMNS
    for start in range(0, len(right), width):
        columns = Rows.read("corpus", right, start, width, few)
        for query_start, block in blocks:
            best.add(keys(block, columns, similarity), slack(block, columns, similarity), query_start, start)
    found = best.settle()
    hits = list(map(Hit, found.second.tolist(), found.values.tolist()))
    bounds = np.searchsorted(found.first, np.arange(len(left) + 1)).tolist()
    return Records(Records(hits[start:stop]) for start, stop in pairwise(bounds))


@explained
def most_similar_pairs(
    vectors: npt.ArrayLike, k: int | None = 100, threshold: float | None = None, similarity: Similarity = "cosine"
) -> list[Pair]:
    """Find the ``k`` nearest of all N (N - 1) / 2 pairs of rows, best first; the lower rows win a tie.

    Args:
        vectors: Vectors to compare (N, D); anything that ``np.asarray`` reads as floating point.
        k: Number of pairs; None for all that reach ``threshold``.
        threshold: Lowest score of a pair that is returned; None for no limit.
        similarity: "cosine", "dot", or the negative distances "euclidean" and "manhattan". Higher is nearer.

    >>> most_similar_pairs([[1.0, 0.0], [0.0, 2.0], [4.0, 3.0]], k=2)
    [Pair(first=0, second=2, score=0.8), Pair(first=1, second=2, score=0.6)]
    """
    _check_options(k, threshold, similarity)
    array = _array("vectors", vectors)
    best = Best(Scorer(array, array, similarity), k, threshold)
    for block in _pair_blocks(array, similarity):
        best.add(*block)
    return Records(map(Pair, *(column.tolist() for column in best.settle())))


def pairs_above(vectors: npt.ArrayLike, threshold: float, similarity: Similarity = "cosine") -> Iterator[Pairs]:
    """Find all pairs of rows whose score reaches the threshold, in bounded memory.

    The pairs come in blocks, each ordered by first and second row. The first rows of every second row ascend over all
    blocks.

    Args:
        vectors: Vectors to compare (N, D); anything that ``np.asarray`` reads as floating point.
        threshold: Lowest score of a pair that is returned.
        similarity: "cosine", "dot", or the negative distances "euclidean" and "manhattan". Higher is nearer.

    >>> [pairs.second.tolist() for pairs in pairs_above([[1.0, 0.0], [0.0, 2.0], [4.0, 3.0]], threshold=0.7)]
    [[2]]
    """
    _check_options(None, threshold, similarity)
    array = _array("vectors", vectors)
    scorer = Scorer(array, array, similarity)
    for block in _pair_blocks(array, similarity):
        best = Best(scorer, None, threshold)
        best.add(*block)
        found = best.settle()
        if len(found.first):
            yield found.at(np.lexsort((found.second, found.first)))


def _pair_blocks(array: FloatArray, similarity: Similarity) -> Iterator[tuple[FloatArray, FloatArray, int, int]]:
    """Yield the keys of all pairs of rows, block by block, with their error bounds, first row and first column."""
    rows, product = Rows.read("vectors", array), similarity
    if similarity == "cosine":
        rows, product = rows.unit(), "dot"
    for start in range(0, len(array), ROWS):
        left = rows.at(start, ROWS)
        for column in range(start, len(array), COLUMNS):
            right = rows.at(column, COLUMNS)
            block = keys(left, right, product)
            if column == start:  # exclude pairs of a row with itself, and pairs in the reverse order
                np.copyto(block, -np.inf, where=np.tri(*block.shape, dtype=np.bool_))
            yield block, slack(left, right, product), start, column


def _query_rows(queries: FloatArray, start: int, similarity: Similarity) -> Rows:
    rows = Rows.read("queries", queries, start, ROWS)
    return rows.unit() if similarity == "cosine" else rows


def _array(name: str, vectors: npt.ArrayLike) -> FloatArray:
    """Return a contiguous array (n, D) of float32 or float64."""
    array = np.asarray(vectors)
    if array.shape == (0,):  # an empty list
        array = array.reshape(0, 0)
    if array.ndim != 2:
        raise BadInput(f"{name} has shape {array.shape}, but must be (rows, dimensions); stack the vectors as rows")
    if not np.issubdtype(array.dtype, np.floating):
        raise BadInput(f"{name} has dtype {array.dtype}, but must be floating point; turn it into float32 first")
    return np.ascontiguousarray(array, np.float64 if array.dtype.itemsize >= 8 else np.float32)


def _check_dimensions(queries: FloatArray, corpus: FloatArray) -> None:
    ours, theirs = queries.shape[1], corpus.shape[1]
    if ours != theirs and len(queries) and len(corpus):
        sizes = f"queries have {ours} dimensions and the corpus has {theirs}"
        raise BadInput(f"{sizes}, but both need the same; embed both with one model and one truncate_dim")


def _check_options(k: int | None, threshold: float | None, similarity: Similarity) -> None:
    check_option("similarity", similarity, get_args(Similarity))
    if k is not None:
        check_count("k", k)
    if k is None and threshold is None:
        raise BadInput("k and threshold are both None, but one must bound the result; give k, threshold or both")
    if threshold is not None and np.isnan(threshold):
        raise BadInput("threshold is NaN, but must be a number")
