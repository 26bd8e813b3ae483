"""Measures the recall of an approximate search. Works on keys and numbers only."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sbert.search.index.index import Neighbours
from sbert.types import IntArray

_PRECISION = 1.2


def share_found(found: Neighbours, truth: Neighbours, own: IntArray) -> float:
    """Return the share of the nearest vectors that were found; a query itself, ``own``, does not count."""
    shares = [
        np.isin(expected[expected != key], got).mean()
        for key, got, expected in zip(own, found.keys, truth.keys, strict=True)
        if (expected != key).any()
    ]
    return round(float(np.mean(shares)), 4) if shares else 1.0


def smallest(recall: Callable[[int], float], target: float, least: int, most: int) -> tuple[int, float]:
    """Return the smallest effort whose recall reaches the target, up to a fifth too large, and that recall.

    Args:
        recall: The recall of an effort; more effort gives more recall.
        target: The recall to reach. If none does, the result is ``most``.
        least: The smallest effort.
        most: The largest effort.

    >>> smallest(lambda effort: effort / 100, target=0.5, least=1, most=100)
    (55, 0.55)
    """
    below, effort, reached = least, least, recall(least)
    while reached < target and effort < most:
        below, effort = effort, min(2 * effort, most)
        reached = recall(effort)
    while effort > max(below + 1, _PRECISION * below):
        middle = math.ceil(math.sqrt(below * effort))
        between = recall(middle)
        if between >= target:
            effort, reached = middle, between
        else:
            below = middle
    return effort, reached
