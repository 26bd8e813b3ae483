"""Measures of ranked lists: one value for each query, from 0 to 100. Works on ids and grades only.

A grade says how relevant an item is to a query: 0 not at all, higher is more relevant.

A ranked list has an order, so whoever makes it decides about equal scores. With the list that ``shared_grades`` makes,
``ndcg_at`` gives the expectation over all orders of candidates with equal scores, as scikit-learn does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sbert.errors import BadInput, check_option, shown
from sbert.types import Array, FloatArray

BoolArray = npt.NDArray[np.bool_]
Relevant = Collection[Hashable] | Mapping[Any, float]
"""The relevant ids of a query, or a grade for each of them."""


class Judged(NamedTuple):
    """The grades of ranked lists; shorter lists are padded with 0."""

    found: FloatArray
    """(Q, L) grades in the order of the lists."""
    ideal: FloatArray
    """(Q, M) grades of all relevant items, highest first."""


def judge(ranked: Sequence[Sequence[Hashable]], relevant: Sequence[Relevant]) -> Judged:
    """Look up the grades of the ids in ranked lists.

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
    return Judged(_padded(found), _padded([sorted(known.values(), reverse=True) for known in grades]))


def grades_of(items: Relevant) -> dict[Hashable, float]:
    """Return the grade of each relevant id; ids with a grade of 0 or less are not relevant."""
    given = items if isinstance(items, Mapping) else dict.fromkeys(items, 1.0)
    return {item: float(grade) for item, grade in given.items() if grade > 0}


def shared_grades(scores: Array, grades: Array) -> FloatArray:
    """(N,) grades in the order of falling scores; candidates with equal scores share the mean of their grades.

    >>> shared_grades(np.array([0.5, 0.9, 0.5]), np.array([1.0, 0.0, 0.0]))
    array([0. , 0.5, 0.5])
    """
    _, group, sizes = np.unique(-scores, return_inverse=True, return_counts=True)
    means: FloatArray = np.bincount(group, weights=grades) / sizes
    return np.repeat(means, sizes)


def accuracy_at(judged: Judged, k: int) -> FloatArray:
    """Whether any of the first k items is relevant."""
    return np.where(_relevant(judged, k).any(axis=1), 100.0, 0.0)


def precision_at(judged: Judged, k: int) -> FloatArray:
    """Share of the first k places that hold a relevant item; the places after the end of a list hold none."""
    found: FloatArray = _relevant(judged, k).sum(axis=1) / k
    return 100 * found


def recall_at(judged: Judged, k: int) -> FloatArray:
    """Share of the relevant items that are among the first k."""
    found: FloatArray = _relevant(judged, k).sum(axis=1) / (judged.ideal > 0).sum(axis=1)
    return 100 * found


def mrr_at(judged: Judged, k: int) -> FloatArray:
    """One over the place of the first relevant item; 0 if none is among the first k.

    >>> mrr_at(judge([["b", "a", "c"]], [{"a", "d"}]), k=10)
    array([50.])
    """
    relevant = _relevant(judged, k)
    return np.where(relevant.any(axis=1), 100.0 / (relevant.argmax(axis=1) + 1), 0.0)


def map_at(judged: Judged, k: int) -> FloatArray:
    """Sum of the precisions at the places of relevant items, over the number of relevant items or k, if less."""
    relevant = _relevant(judged, k)
    precisions = np.cumsum(relevant, axis=1) / np.arange(1, relevant.shape[1] + 1)
    means: FloatArray = (precisions * relevant).sum(axis=1) / np.minimum((judged.ideal > 0).sum(axis=1), k)
    return 100 * means


def ndcg_at(judged: Judged, k: int) -> FloatArray:
    """Sum of the grades, each divided by the logarithm of its place, over that of the best order.

    >>> ndcg_at(judge([["a", "b"]], [{"a": 1, "b": 3}]), k=10).round(2)
    array([79.67])
    """
    return 100 * _gain(_first(judged.found, k)) / _gain(_first(judged.ideal, k))


METRICS: dict[str, Callable[[Judged, int], FloatArray]] = {
    "ndcg": ndcg_at,
    "mrr": mrr_at,
    "map": map_at,
    "accuracy": accuracy_at,
    "precision": precision_at,
    "recall": recall_at,
}


class Figure(NamedTuple):
    """A measure and the number of places it looks at."""

    metric: str
    k: int

    @classmethod
    def parse(cls, name: str) -> Figure:
        """Read a name such as "ndcg@10".

        >>> Figure.parse("recall@100")
        Figure(metric='recall', k=100)
        """
        metric, _, k = name.partition("@")
        check_option("figure", metric, METRICS)
        if not k.isdecimal() or not int(k):
            raise BadInput(f"the figure is {shown(name)}, but must end in the number of places, as in '{metric}@10'")
        return cls(metric, int(k))

    def values(self, judged: Judged) -> FloatArray:
        """(Q,) the value of each query."""
        return METRICS[self.metric](judged, self.k)


def _relevant(judged: Judged, k: int) -> BoolArray:
    return _first(judged.found, k) > 0


def _first(grades: FloatArray, k: int) -> FloatArray:
    if k < 1:
        raise BadInput(f"k is {k}, but must be at least 1")
    return grades[:, :k]


def _gain(grades: FloatArray) -> FloatArray:
    gain: FloatArray = grades @ (1 / np.log2(np.arange(2, grades.shape[1] + 2)))
    return gain


def _padded(lists: Sequence[Sequence[float]]) -> FloatArray:
    filled = np.zeros((len(lists), max(1, *map(len, lists))))
    for row, values in zip(filled, lists, strict=True):
        row[: len(values)] = values
    return filled
