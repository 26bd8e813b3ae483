"""What an evaluation found: cells of a table, and what could not be measured and why. Knows numbers only: no files."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sbert.types import Array


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """One cell of a table."""

    task: str
    """Such as "sts12"."""
    metric: str
    """Such as "spearman_cosine", "accuracy", "ndcg@10"."""
    value: float
    """Times 100, as the paper prints it."""
    items: int
    """How many pairs, texts, triplets or queries it rests on."""
    note: str = ""
    """What a reader must know: stand-in data, the aggregation, fewer folds than the protocol asks for."""
    predicted: Array | None = None
    """(items,) for confidence intervals: the predictions, or where ``gold`` is None the items' own scores, of which
    the value is the mean; None where the value is not a function of items alone, as with means over subsets."""
    gold: Array | None = None
    """(items,) what people said."""

    def points(self, most: int = 400) -> tuple[tuple[float, float], ...]:
        """At most so many (gold, predicted) items for a plot, evenly chosen; none where they are no Spearman's."""
        if self.gold is None or self.predicted is None or not self.metric.startswith("spearman"):
            return ()
        step = math.ceil(len(self.gold) / most)
        return tuple(zip(self.gold[::step].tolist(), self.predicted[::step].astype(float).tolist(), strict=True))

    def __str__(self) -> str:
        note = f"  ({self.note})" if self.note else ""
        return f"{self.task} {self.metric} {self.value:.2f}, {self.items} items{note}"


class Missing(NamedTuple):
    """A task that was not measured."""

    task: str
    reason: str
    """One sentence: which files from which publisher, or what kind of model."""


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """What one suite said of one model."""

    suite: str
    scores: tuple[Score, ...]
    missing: tuple[Missing, ...] = ()

    @property
    def averaged(self) -> str:
        """Of how many tasks the average is, out of how many.

        >>> Report("demo", (Score("a", "accuracy", 80.0, 9),), (Missing("b", "not there"),)).averaged
        '1 of 2 tasks'
        """
        measured = len({score.task for score in self.scores})
        return f"{measured} of {measured + len(self.missing)} tasks"

    @property
    def average(self) -> float:
        """The mean of every task's first score, the last column of the paper's tables; not a number without any.

        >>> scores = Score("a", "accuracy", 80.0, 9), Score("a", "f1", 10.0, 9), Score("b", "accuracy", 90.0, 9)
        >>> Report("demo", scores).average
        85.0
        """
        first = {score.task: score.value for score in reversed(self.scores)}
        return float(np.mean(list(first.values()))) if first else float("nan")
