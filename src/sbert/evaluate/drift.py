"""Measures how far the vectors of the same texts differ between two models. Works on arrays only."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sbert.errors import BadInput
from sbert.search.exact import semantic_search
from sbert.types import Array, FloatArray, IntArray

NEIGHBOURS, BINS = 10, 20


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """The difference of every text between two models."""

    cosines: FloatArray | None
    """(N,) cosine of the two vectors of each text; None if the models have different dimensions."""
    neighbours: int
    """Number of nearest neighbours that were compared."""
    changed: FloatArray
    """(N,) share of each text's nearest neighbours in the first model that the second model does not have."""
    nearest_changed: float
    """Share of texts whose nearest neighbour differs."""

    def worst(self, count: int) -> list[int]:
        """Return the rows that moved furthest, by cosine or, if there is none, by neighbours."""
        order = np.argsort(-self.changed if self.cosines is None else self.cosines, kind="stable")
        return [int(row) for row in order[:count]]

    def histogram(self) -> tuple[list[int], float, float]:
        """Count the cosines in twenty bins, from a round number below the minimum to 1.

        Returns:
            The counts, and the lower and upper end of the bins.
        """
        if self.cosines is None:
            raise BadInput("the two models give vectors of different sizes, but a cosine needs equal ones")
        low = min(math.floor(float(self.cosines.min()) * BINS) / BINS, 1 - 1 / BINS)
        counts, _ = np.histogram(self.cosines, BINS, (low, 1.0))
        return counts.tolist(), low, 1.0


def drift(first: Array, second: Array) -> Drift:
    """Compare two models by their vectors of the same texts.

    Args:
        first: (N, D) vectors of one model, of at least two distinct texts.
        second: (N, E) vectors of the other model.

    >>> turned = drift(np.array([[1.0, 0], [0, 1], [1, 1]]), np.array([[0.0, 1], [1, 0], [1, 1]]))
    >>> turned.cosines.round(2).tolist(), turned.nearest_changed
    ([0.0, 0.0, 1.0], 0.0)
    """
    if len(first) != len(second) or len(first) < 2:
        raise BadInput(f"got {len(first)} and {len(second)} vectors, but drift needs both of at least two texts")
    count = min(NEIGHBOURS, len(first) - 1)
    ours, theirs = _nearest(first, count), _nearest(second, count)
    kept = np.array([len(np.intersect1d(*rows)) for rows in zip(ours, theirs, strict=True)])
    cosines = _cosines(first, second) if first.shape[1] == second.shape[1] else None
    return Drift(cosines, count, 1 - kept / count, float((ours[:, 0] != theirs[:, 0]).mean()))


def _nearest(vectors: Array, count: int) -> IntArray:
    """(N, count) rows of the nearest other texts, nearest first."""
    found = semantic_search(vectors, vectors, k=count + 1)
    return np.array([[hit.id for hit in hits if hit.id != row][:count] for row, hits in enumerate(found)], np.int64)


def _cosines(first: Array, second: Array) -> FloatArray:
    a, b = first.astype(np.float64), second.astype(np.float64)
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    cosines: FloatArray = np.clip(np.vecdot(a, b) / np.maximum(lengths, 1e-12), -1.0, 1.0)
    return cosines
