"""The result of a suite: scores, and the tasks that could not be measured. Works on numbers only: no files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sbert.evaluate.score import Score


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
        """Number of tasks that the average includes, and number of tasks in the suite.

        >>> Report("demo", (Score("accuracy", 80.0, 9, task="a"),), (Missing("b", "not there"),)).averaged
        '1 of 2 tasks'
        """
        measured = len({score.task for score in self.scores})
        return f"{measured} of {measured + len(self.missing)} tasks"

    @property
    def average(self) -> float:
        """Mean of the first score of every task, the last column of the paper's tables; NaN without any score.

        >>> values = {("a", "accuracy"): 80.0, ("a", "f1"): 10.0, ("b", "accuracy"): 90.0}
        >>> Report("demo", tuple(Score(name, value, 9, task=task) for (task, name), value in values.items())).average
        85.0
        """
        first = {score.task: score.value for score in reversed(self.scores)}
        return float(np.mean(list(first.values()))) if first else float("nan")
