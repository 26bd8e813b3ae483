"""How far the vectors of the same texts lie apart in two models. Knows arrays only: no model, no strings."""

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
    """What became of each text."""

    cosines: FloatArray | None
    """(N,) of a text's two vectors; None where their sizes differ, and one cannot be laid on the other."""
    neighbours: int
    """How many nearest texts were looked at."""
    changed: FloatArray
    """(N,) share of a text's nearest texts in the first model that are not among those in the second."""
    nearest_changed: float
    """Share of texts whose nearest text is another one."""

    def worst(self, count: int) -> list[int]:
        """The rows that moved furthest: by cosine where there is one, else by neighbours."""
        order = np.argsort(-self.changed if self.cosines is None else self.cosines, kind="stable")
        return [int(row) for row in order[:count]]

    def histogram(self) -> tuple[list[int], float, float]:
        """How many cosines lie in each of twenty equal parts, from a round number below the least up to 1."""
        if self.cosines is None:
            raise BadInput("the two models give vectors of different sizes, but a cosine needs equal ones")
        low = min(math.floor(float(self.cosines.min()) * BINS) / BINS, 1 - 1 / BINS)
        counts, _ = np.histogram(self.cosines, BINS, (low, 1.0))
        return counts.tolist(), low, 1.0


def drift(first: Array, second: Array) -> Drift:
    """Compare two models by their vectors of the same texts, each model's neighbours by its own cosines.

    Args:
        first: (N, D) one model's vectors of at least two different texts.
        second: (N, E) the other's.

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
    """(N, count) rows of the other texts, nearest first."""
    found = semantic_search(vectors, vectors, k=count + 1)
    return np.array([[hit.id for hit in hits if hit.id != row][:count] for row, hits in enumerate(found)], np.int64)


def _cosines(first: Array, second: Array) -> FloatArray:
    a, b = first.astype(np.float64), second.astype(np.float64)
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    cosines: FloatArray = np.clip(np.vecdot(a, b) / np.maximum(lengths, 1e-12), -1.0, 1.0)
    return cosines
