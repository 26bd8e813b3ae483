"""Measures a contestant on a task and makes a cell of the score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from sbert.errors import BadInput
from sbert.evaluate.score import Score
from sbert.evaluate.suites.task import Options, Task, cached
from sbert.paper.context import Context
from sbert.paper.ledger import Cell, Job
from sbert.paper.published import number
from sbert.paper.rows import Contestant, Row
from sbert.types import IntArray


class Place(NamedTuple):
    """Where a cell stands in our table and in the paper's."""

    table: str
    row: Row
    column: str
    section: str | None = None

    @property
    def paper(self) -> float | None:
        """The paper's number for the cell."""
        return number(self.table, self.row.paper, self.column, self.section)


class _Items(Protocol):
    """Test data that can be sampled."""

    def __len__(self) -> int: ...

    def take(self: T, places: IntArray, /) -> T: ...


T = TypeVar("T", bound=_Items)


def jobs(
    context: Context,
    table: str,
    contestants: Sequence[Contestant],
    tasks: dict[str, Task[Any]],
    options: Options | None = None,
) -> list[Job]:
    """Return a job for each contestant and each column whose data exists and that can measure the contestant."""
    found = {}
    for column, task in tasks.items():
        try:
            task.found(context.materials.folder)
            found[column] = task
        except BadInput as error:
            context.lacks(f"{table}, {column}", error)
    return [
        _job(context, Place(table, contestant.row, column), contestant, task, options)
        for contestant in contestants
        for column, task in found.items()
        if context.fits(contestant.row, task, column)
    ]


def _job(context: Context, place: Place, contestant: Contestant, task: Task[Any], options: Options | None) -> Job:
    folder = context.materials.folder

    def run() -> list[Cell]:
        data, note = task.read(folder)
        data, sampled = sample(data, context.materials.limits.test)
        score, *_ = task.scores(data, cached(context.model(contestant)), options)
        return [cell(place, score, note, sampled)]

    key = context.key(place.table, place.row, place.column, task.found(folder)[1])
    return Job(key, f"{place.table}: {place.row.name}, {place.column}", run)


def cell(place: Place, score: Score, *notes: str) -> Cell:
    """Make a cell of a score."""
    interval = score.interval()
    return Cell(
        table=place.table,
        row=place.row.name,
        column=place.column,
        value=score.value,
        low=interval and interval.low,
        high=interval and interval.high,
        items=score.items,
        note="; ".join(dict.fromkeys(filter(None, (place.row.note, *notes, score.note)))),
        paper=place.paper,
        scatter=score.points(),
        beside=place.row.paper,
        comparable=place.row.comparable,
    )


def cells_over_seeds(place: Place, values: Sequence[float], items: int, *notes: str) -> list[Cell]:
    """Make cells of the mean over several trainings, with its confidence interval, and of the standard deviation."""
    from scipy.stats import t

    mean = cell(place, Score("mean", float(np.mean(values)), items), *notes)
    if len(values) == 1:
        return [mean]
    deviation = float(np.std(values, ddof=1))
    half = deviation / len(values) ** 0.5 * float(t.ppf(0.975, len(values) - 1))
    spread = place._replace(column="std")
    return [
        replace(mean, low=mean.value - half, high=mean.value + half),
        replace(mean, column="std", value=deviation, paper=spread.paper),
    ]


def sample(data: T, limit: int | None) -> tuple[T, str]:
    """Return at most ``limit`` items of test data, always the same ones, and a note if that leaves some out."""
    total = len(data)
    if limit is None or total <= limit:
        return data, ""
    return data.take(sampled_places(total, limit)), f"{limit:,} of {total:,} test items"


def sampled_places(total: int, limit: int) -> IntArray:
    """Return the places of at most ``limit`` of all items, always the same ones, in ascending order."""
    return np.sort(np.random.default_rng(0).permutation(total)[:limit])
