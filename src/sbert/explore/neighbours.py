"""Finds all pairs of vectors whose cosine reaches a threshold: exactly, or by an index if there are many vectors.

Works on arrays only. An index proposes pairs, which are scored as in an exact search. The number of cells to probe is
chosen by the recall on a sample.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np

from sbert.errors import BadInput, shown
from sbert.search.best import Pairs
from sbert.search.exact import pairs_above
from sbert.search.index.kinds import cell_count, load_faiss
from sbert.search.measure import Scorer
from sbert.types import FloatArray, IntArray

logger = logging.getLogger(__name__)

EXACT_ROWS = 50_000
"""Maximum number of vectors of which all pairs are compared."""
RECALL = 0.99
"""Recall of pairs for which the number of cells is chosen."""
_SAMPLE, _BLOCK, _TRAINING_ROWS_PER_CELL = 512, 4096, 64
_QUERIES = 256  # number of queries whose neighbours are in memory at a time
_SLACK = 1e-4  # maximum error of a cosine of the index


def unit_vectors(vectors: object) -> FloatArray:
    """Return vectors (N, D) as float32 of length 1; rows of zeros stay zero.

    >>> unit_vectors([[3.0, 4.0], [0.0, 0.0]]).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    array = np.asarray(vectors)
    if array.ndim != 2 or not np.issubdtype(array.dtype, np.floating):
        raise BadInput(
            f"the vectors have shape {array.shape} and dtype {array.dtype}, but rows of decimal numbers are expected"
        )
    norms = np.linalg.norm(array.astype(np.float64, copy=False), axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        row = int(np.argmin(np.isfinite(norms[:, 0])))
        raise BadInput(f"row {row} of the vectors holds NaN or infinity; repair it or leave it out")
    return np.ascontiguousarray(array / np.where(norms > 0, norms, 1), np.float32)


def check_threshold(threshold: float) -> None:
    """Raise BadInput unless ``threshold`` is a cosine."""
    if not isinstance(threshold, int | float | np.floating) or not -1 <= threshold <= 1:
        raise BadInput(f"the threshold is {shown(threshold)}, but a cosine lies between -1 and 1; choose one of these")


def close_pairs(vectors: FloatArray, threshold: float, exact: bool | None = None) -> Iterator[Pairs]:
    """Find all pairs of rows whose cosine reaches the threshold, in bounded memory.

    Args:
        vectors: (N, D), as :func:`unit_vectors` returns them.
        threshold: Minimum cosine of a pair.
        exact: Whether to compare all pairs. Defaults to whether there are at most 50,000 vectors.

    Yields:
        Blocks of pairs in the order of :func:`~sbert.search.exact.pairs_above`.
    """
    return pairs_above(vectors, threshold) if compares_all(vectors, exact) else _indexed_pairs(vectors, threshold)


def compares_all(vectors: FloatArray, exact: bool | None) -> bool:
    """Return whether all pairs of the vectors are compared, on request or because there are few vectors."""
    return bool(exact) or (exact is None and len(vectors) <= EXACT_ROWS) or len(vectors) < _SAMPLE


def _indexed_pairs(vectors: FloatArray, threshold: float) -> Iterator[Pairs]:
    index = pair_index(vectors, threshold)
    scorer = Scorer(vectors, vectors, "cosine")
    for start in range(0, len(vectors), _QUERIES):
        first, second = _neighbours(index, vectors, np.arange(start, min(start + _QUERIES, len(vectors))), threshold)
        later = second > first
        pairs = _scored(scorer, first[later], second[later], threshold)
        if len(pairs.first):
            yield pairs


def pair_index(vectors: FloatArray, threshold: float) -> Any:
    """Return an index of FAISS with all vectors, which probes enough cells to find nearly all pairs."""
    faiss = load_faiss()
    cells = cell_count(len(vectors))
    index = faiss.index_factory(vectors.shape[1], f"IVF{cells},Flat", faiss.METRIC_INNER_PRODUCT)
    wanted = min(len(vectors), _TRAINING_ROWS_PER_CELL * cells)
    index.train(vectors[np.sort(np.random.default_rng(0).choice(len(vectors), wanted, replace=False))])
    index.add(vectors)
    recall = _choose_probes(index, vectors, threshold)
    logger.info("%s vectors are compared by an index that finds %.3f of the pairs", f"{len(vectors):,}", recall)
    return index


def _choose_probes(index: Any, vectors: FloatArray, threshold: float) -> float:
    """Set the number of cells to probe, and return the recall of pairs on a sample."""
    sample = np.sort(np.random.default_rng(1).choice(len(vectors), _SAMPLE, replace=False))
    truth = sum(int(np.count_nonzero(vectors[sample] @ vectors[part].T >= threshold)) for part in _parts(len(vectors)))
    scorer = Scorer(vectors, vectors, "cosine")
    index.nprobe, share = 2, 0.0
    while share < RECALL and index.nprobe < index.nlist:
        index.nprobe = min(2 * index.nprobe, index.nlist)
        found = _scored(scorer, *_neighbours(index, vectors, sample, threshold), threshold)
        share = min(1.0, len(found.first) / max(truth, 1))
    return share


def _parts(count: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, count, _BLOCK))


def _neighbours(index: Any, vectors: FloatArray, rows: IntArray, threshold: float) -> tuple[IntArray, IntArray]:
    """Return the rows and their neighbours that the index finds, ordered by row and neighbour."""
    bounds, _, found = index.range_search(vectors[rows], threshold - _SLACK)
    first = np.repeat(rows, np.diff(bounds.astype(np.int64)))
    order = np.lexsort((found, first))
    return first[order], found[order]


def _scored(scorer: Scorer, first: IntArray, second: IntArray, threshold: float) -> Pairs:
    scores = scorer.scores(first, second)
    return Pairs(first, second, scores).at(scores >= np.float64(threshold))
