"""How good ranked lists are: one score per query, times 100, whose mean is the figure. Knows ids and grades only.

A grade is how relevant an item is to a query: 0 not at all, 1 and above the more the better.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sbert.errors import BadInput
from sbert.types import FloatArray

BoolArray = npt.NDArray[np.bool_]
Relevant = Collection[Hashable] | Mapping[Hashable, float]
"""The ids relevant to a query; or a grade for each."""


class Judged(NamedTuple):
    """Ranked lists as grades; the shorter ones are filled with 0."""

    found: FloatArray
    """(Q, L), best place first."""
    ideal: FloatArray
    """(Q, M) the grades of all that is relevant, highest first."""


def judge(ranked: Sequence[Sequence[Hashable]], relevant: Sequence[Relevant]) -> Judged:
    """Look up each list's ids among what is relevant to its query.

    >>> judge([["b", "a", "c"]], [{"a", "d"}])
    Judged(found=array([[0., 1., 0.]]), ideal=array([[1., 1.]]))
    """
    if len(ranked) != len(relevant) or not ranked:
        raise BadInput(
            f"got {len(ranked)} ranked lists and relevant items for {len(relevant)}, but there must be equally many, "
            "and at least one"
        )
    grades = [grades_of(items) for items in relevant]
    if empty := [row for row, items in enumerate(grades) if not items]:
        raise BadInput(f"nothing is relevant to query {empty[0]}, so no order can be right; leave it out")
    found = [[known.get(item, 0.0) for item in items] for items, known in zip(ranked, grades, strict=True)]
    return Judged(_rows(found), _rows([sorted(known.values(), reverse=True) for known in grades]))


def grades_of(items: Relevant) -> dict[Hashable, float]:
    """The grade of each relevant id; those that are graded 0 or below are not."""
    given = items if isinstance(items, Mapping) else dict.fromkeys(items, 1.0)
    return {item: float(grade) for item, grade in given.items() if grade > 0}


def accuracy_at(judged: Judged, k: int) -> FloatArray:
    """Is anything relevant among the first k?"""
    return np.where(_relevant(judged, k).any(axis=1), 100.0, 0.0)


def precision_at(judged: Judged, k: int) -> FloatArray:
    """How much of k places is relevant; a list shorter than k wastes them."""
    found: FloatArray = _relevant(judged, k).sum(axis=1) / k
    return 100 * found


def recall_at(judged: Judged, k: int) -> FloatArray:
    """How much of what is relevant is among the first k."""
    found: FloatArray = _relevant(judged, k).sum(axis=1) / (judged.ideal > 0).sum(axis=1)
    return 100 * found


def mrr_at(judged: Judged, k: int) -> FloatArray:
    """One over the place of the first relevant item; 0 where the first k have none.

    >>> mrr_at(judge([["b", "a", "c"]], [{"a", "d"}]), k=10)
    array([50.])
    """
    relevant = _relevant(judged, k)
    return np.where(relevant.any(axis=1), 100.0 / (relevant.argmax(axis=1) + 1), 0.0)


def map_at(judged: Judged, k: int) -> FloatArray:
    """Mean of the precisions at the places of relevant items, over as many as the first k could hold."""
    relevant = _relevant(judged, k)
    precisions = np.cumsum(relevant, axis=1) / np.arange(1, relevant.shape[1] + 1)
    means: FloatArray = (precisions * relevant).sum(axis=1) / np.minimum((judged.ideal > 0).sum(axis=1), k)
    return 100 * means


def ndcg_at(judged: Judged, k: int) -> FloatArray:
    """Grades divided by the logarithm of their places, over what the best order would reach.

    >>> ndcg_at(judge([["a", "b"]], [{"a": 1, "b": 3}]), k=10).round(2)
    array([79.67])
    """
    _check(k)
    return 100 * _gain(judged.found[:, :k]) / _gain(judged.ideal[:, :k])


def _relevant(judged: Judged, k: int) -> BoolArray:
    _check(k)
    return judged.found[:, :k] > 0


def _check(k: int) -> None:
    if k < 1:
        raise BadInput(f"k is {k}, but must be at least 1")


def _gain(grades: FloatArray) -> FloatArray:
    gain: FloatArray = grades @ (1 / np.log2(np.arange(2, grades.shape[1] + 2)))
    return gain


def _rows(lists: Sequence[Sequence[float]]) -> FloatArray:
    filled = np.zeros((len(lists), max(1, *map(len, lists))))
    for row, values in zip(filled, lists, strict=True):
        row[: len(values)] = values
    return filled
