"""Scores, what they were computed from, and reports of them. Works on numbers only: no models, no files."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sbert.errors import counted
from sbert.evaluate.metrics.prediction import attained, spearman
from sbert.evaluate.metrics.significance import Comparison, Interval, Metric, compare, interval
from sbert.text import display
from sbert.types import Array, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """One figure of an evaluation.

    >>> from sbert.evaluate.metrics import accuracy
    >>> score = Score.measured("accuracy", accuracy, np.array([1, 0, 1, 1]), np.array([1, 1, 1, 1]))
    >>> print(score)
    accuracy 75.00, 4 items
    """

    name: str
    """Name of the figure, such as "spearman_cosine", "accuracy" or "ndcg@10"."""
    value: float
    """Times 100, except for thresholds."""
    items: int
    """Number of pairs, texts, triplets or queries; 0 if unknown."""
    metric: Metric | None = None
    """Function that computes the value from ``predicted`` and ``gold``. None if the value is not a function of
    independent items, as a mean over subsets is not; such a score has no confidence interval."""
    predicted: Array | None = None
    """(items,) predictions of the model."""
    gold: Array | None = None
    """(items,) correct answers."""
    quantity: str = ""
    """Name that the figure shares with the same figure of another kind of model, such as "spearman"; empty if that is
    the name itself."""
    note: str = ""
    """What a reader must know: stand-in data, the aggregation, fewer folds than the protocol requires."""
    task: str = ""
    """Name of the task, such as "sts12"; empty outside of suites."""

    @classmethod
    def measured(
        cls, name: str, metric: Metric, predicted: Array, gold: Array, *, quantity: str = "", note: str = ""
    ) -> Score:
        """Compute a score with its metric."""
        return cls(name, metric(predicted, gold), len(gold), metric, predicted, gold, quantity, note)

    @classmethod
    def mean_of(cls, name: str, values: FloatArray, *, note: str = "") -> Score:
        """Average the scores of single items, each from 0 to 100."""
        gold = np.full(len(values), 100.0)
        return cls(name, float(values.mean()), len(values), attained, values, gold, note=note)

    def interval(self) -> Interval | None:
        """The 95 % confidence interval; None if there is no metric or the value is not a number."""
        if self.metric is None or self.predicted is None or self.gold is None or math.isnan(self.value):
            return None
        return interval(self.metric, self.predicted, self.gold)

    def compare(self, other: Score) -> Comparison | None:
        """Compare this score with another model's on the same items.

        Returns None if the two have no predictions, different metrics or different gold labels.
        """
        if self.metric is None or self.metric is not other.metric or math.isnan(self.value + other.value):
            return None
        if self.predicted is None or other.predicted is None or self.gold is None or other.gold is None:
            return None
        if not np.array_equal(self.gold, other.gold):
            return None
        return compare(self.metric, self.predicted, other.predicted, self.gold)

    def points(self, limit: int = 400) -> tuple[tuple[float, float], ...]:
        """Return at most ``limit`` evenly chosen (gold, predicted) points of a rank correlation, for a plot."""
        if self.metric is not spearman or self.gold is None or self.predicted is None:
            return ()
        step = math.ceil(len(self.gold) / limit)
        return tuple(zip(self.gold[::step].tolist(), self.predicted[::step].astype(float).tolist(), strict=True))

    def __str__(self) -> str:
        note = f"  ({self.note})" if self.note else ""
        return f"{self.task} {self.name} {self.value:.2f}, {self.items} items{note}".lstrip()


class Missing(NamedTuple):
    """A task that was not measured."""

    task: str
    reason: str
    """One sentence: the files that are missing and their publisher, or the kind of model that is needed."""


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """The scores of one model on one suite."""

    suite: str
    scores: tuple[Score, ...]
    missing: tuple[Missing, ...] = ()

    @property
    def averaged(self) -> str:
        """Number of tasks that the average includes, and number of tasks in the suite if there are more.

        >>> Report("demo", (Score("accuracy", 80.0, 9, task="a"),), (Missing("b", "not there"),)).averaged
        '1 of 2 tasks'
        """
        measured = len({score.task for score in self.scores})
        total = counted(measured + len(self.missing), "task")
        return f"{measured} of {total}" if self.missing else total

    @property
    def average(self) -> float:
        """Mean of the first score of every task, the last column of the paper's tables; NaN without any score.

        >>> values = {("a", "accuracy"): 80.0, ("a", "f1"): 10.0, ("b", "accuracy"): 90.0}
        >>> Report("demo", tuple(Score(name, value, 9, task=task) for (task, name), value in values.items())).average
        85.0
        """
        first = {score.task: score.value for score in reversed(self.scores)}
        return float(np.mean(list(first.values()))) if first else float("nan")

    def _repr_html_(self) -> str:
        """Show the scores as a table in a notebook."""
        rows = [[one.task, one.name, display.figure(one.value), f"{one.items:,}", one.note] for one in self.scores]
        rows += [[task, "not measured", "", "", reason] for task, reason in self.missing]
        caption = f"{self.suite}: {display.figure(self.average)}, the average of {self.averaged}"
        return display.html_table(["task", "figure", "score", "items", ""], rows, caption)
