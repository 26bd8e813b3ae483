"""Finds communities: groups of vectors around one of them. Works on arrays only."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from sbert.errors import BadInput, check_count
from sbert.explore.neighbours import close_pairs
from sbert.types import FloatArray

MOST_PAIRS = 100_000_000
"""Maximum number of near pairs in memory, about 1.2 GB. It can be increased."""


def find_communities(
    vectors: FloatArray, threshold: float = 0.75, min_size: int = 10, exact: bool | None = None
) -> list[list[int]]:
    """Find communities of vectors, the largest first. A vector belongs to at most one.

    The neighbours of a vector are those whose cosine with it reaches the threshold. Each vector with enough
    neighbours proposes them as a community. Proposals are processed from the largest to the smallest: a proposal is
    skipped if its centre already belongs to a community, and vectors that do are removed from it. This is the method
    of ``community_detection`` in sentence-transformers.

    Args:
        vectors: Vectors of length 1: (N, D).
        threshold: Minimum cosine of a vector with the centre of its community.
        min_size: Minimum number of vectors in a community, including its centre.
        exact: Whether to compare all pairs. Defaults to whether there are at most 50,000 vectors.

    Returns:
        The rows of each community: the centre, then the others from the nearest to the farthest.
    """
    check_count("min_size", min_size)
    near = _graph(vectors, threshold, exact)
    sizes = np.diff(near.indptr)
    centres = np.flatnonzero(sizes >= min_size)
    taken = np.zeros(len(vectors), np.bool_)
    found: list[list[int]] = []
    for centre in centres[np.argsort(-sizes[centres], kind="stable")].tolist():
        if taken[centre]:
            continue
        rows = near.indices[near.indptr[centre] : near.indptr[centre + 1]]
        free = ~taken[rows]
        if np.count_nonzero(free) < min_size:
            continue
        scores = near.data[near.indptr[centre] : near.indptr[centre + 1]][free]
        rows = rows[free]
        members = rows[np.lexsort((rows, -scores))]
        taken[members] = True
        found.append(members.tolist())
    return sorted(found, key=len, reverse=True)


def _graph(vectors: FloatArray, threshold: float, exact: bool | None) -> csr_array:
    """Return the cosines of each vector with its neighbours and with itself: (N, N), sparse."""
    own = np.arange(len(vectors), dtype=np.int32)
    blocks, count = [(own[:0], own[:0], np.empty(0, np.float32))], 0
    for block in close_pairs(vectors, threshold, exact):
        count += len(block.first)
        if count > MOST_PAIRS:
            raise BadInput(
                f"more than {MOST_PAIRS:,} pairs have a cosine of at least {threshold:g}; choose a higher threshold, "
                "or remove duplicates first"
            )
        blocks.append((block.first.astype(np.int32), block.second.astype(np.int32), block.values.astype(np.float32)))
    own = np.arange(len(vectors), dtype=np.int32)
    first, second, values = (
        (np.concatenate(parts) for parts in zip(*blocks, strict=True)) if blocks else (own[:0],) * 3
    )
    rows, columns = np.concatenate([first, second, own]), np.concatenate([second, first, own])
    data = np.concatenate([values, values, np.full(len(own), 2, np.float32)])  # so that the centre comes first
    return csr_array((data, (rows, columns)), shape=(len(vectors), len(vectors)))
