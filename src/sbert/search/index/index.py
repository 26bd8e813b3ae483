"""Defines what an index does, and joins the results of several indexes. Works on vectors and integer keys only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from sbert.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The nearest vectors of several queries, best first; the lower key wins a tie."""

    keys: list[IntArray]
    """For each query, the keys of the nearest vectors."""
    scores: list[FloatArray]
    """Their scores, computed from the stored vectors; higher is nearer."""
    exact: bool
    """Whether the vectors found are certainly the nearest."""
    compared: int
    """Number of vectors that each query was compared with; an estimate if the result is not exact."""


class Index(Protocol):
    """Vectors that can be searched, each with an integer key. A new key must be larger than all existing keys."""

    def __len__(self) -> int:
        """Return the number of vectors."""
        ...

    def add(self, keys: IntArray, vectors: FloatArray) -> None:
        """Add vectors: (N,), (N, D)."""
        ...

    def remove(self, keys: IntArray) -> None:
        """Remove vectors. Keys that the index does not have are ignored."""
        ...

    def search(self, vectors: FloatArray, k: int, allowed: IntArray | None = None) -> Neighbours:
        """Find the ``k`` nearest vectors of each query.

        Args:
            vectors: The queries, (Q, D).
            k: Number of neighbours of each query; fewer if fewer vectors are allowed.
            allowed: Keys of the vectors that may be found, ascending. Defaults to all.
        """
        ...

    def save(self, folder: Path) -> None:
        """Write the index to a folder, completely or not at all."""
        ...


def merged(parts: Sequence[Neighbours], k: int) -> Neighbours:
    """Return the ``k`` best of several indexes, at least one, that were searched for the same queries.

    >>> one = Neighbours([np.array([1, 2])], [np.array([0.9, 0.1])], exact=True, compared=2)
    >>> two = Neighbours([np.array([5])], [np.array([0.5])], exact=False, compared=7)
    >>> both = merged([one, two], k=2)
    >>> both.keys[0].tolist(), both.exact, both.compared
    ([1, 5], False, 9)
    """
    keys, scores = [], []
    for query in range(len(parts[0].keys)):
        all_keys = np.concatenate([part.keys[query] for part in parts])
        all_scores = np.concatenate([part.scores[query] for part in parts])
        best = np.lexsort((all_keys, -all_scores))[:k]
        keys.append(all_keys[best])
        scores.append(all_scores[best])
    return Neighbours(keys, scores, all(part.exact for part in parts), sum(part.compared for part in parts))
