"""Measures a row on a task and makes a cell of it: the interval, points for a plot, what differs. Trains nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sbert.errors import BadInput
from sbert.evaluate.score import Score
from sbert.evaluate.suites.sections import Triples
from sbert.evaluate.suites.senteval import LabelledSplits
from sbert.evaluate.suites.sts import ScoredPairs
from sbert.evaluate.suites.task import Options, Task, cached
from sbert.paper.ledger import Cell, Job
from sbert.paper.numbers import number
from sbert.paper.rows import Encoders, Row
from sbert.types import IntArray

T = TypeVar("T")


class Place(NamedTuple):
    """Where a cell stands in the tables, and in the paper's."""

    table: str
    row: Row
    column: str
    section: str | None = None

    @property
    def paper(self) -> float | None:
        """The paper's number there."""
        return number(self.table, self.row.paper, self.column, self.section)


def job(encoders: Encoders, place: Place, task: Task[Any], options: Options | None = None) -> Job:
    """One cell: a row measured on a task's data, or as much of them as the budget allows."""

    def run() -> list[Cell]:
        data, note = task.read(encoders.folder)
        data, cut_note = cut(data, encoders.limits.test)
        (score, *_) = task.scores(data, cached(encoders.hold(place.row)), options)
        return [cell(place, score, note, cut_note)]

    key = encoders.key(place.table, place.row, place.column, task.found(encoders.folder)[1])
    return Job(key, f"{place.table}: {place.row.name}, {place.column}", run)


def jobs(
    encoders: Encoders, table: str, rows: Sequence[Row], tasks: dict[str, Task[Any]], options: Options | None = None
) -> list[Job]:
    """Row by row, every column whose data are there and that is for the row's kind."""
    there = {}
    for column, task in tasks.items():
        try:
            task.found(encoders.folder)
            there[column] = task
        except BadInput as error:
            encoders.lose(f"{table}, {column}", error)
    return [
        job(encoders, Place(table, row, column), task, options)
        for row in rows
        for column, task in there.items()
        if encoders.fits(row, task, column)
    ]


def cell(place: Place, score: Score, *notes: str) -> Cell:
    """A score in its place."""
    low, high = score.interval() or (None, None)
    note = "; ".join(dict.fromkeys(filter(None, (place.row.note, *notes, score.note))))
    row, column, points = place.row, place.column, score.points()
    return Cell(
        place.table, row.name, column, score.value, low, high, score.items, note, place.paper, points, row.paper
    )


def over_seeds(place: Place, values: Sequence[float], items: int, *notes: str) -> list[Cell]:
    """The mean over several trainings, and how far one is from another."""
    from scipy.stats import t

    count, row = len(values), place.row
    note = "; ".join(filter(None, (row.note, *notes)))
    mean = Cell(
        place.table,
        row.name,
        place.column,
        float(np.mean(values)),
        None,
        None,
        items,
        note,
        place.paper,
        (),
        row.paper,
    )
    if count == 1:
        return [mean]
    deviation = float(np.std(values, ddof=1))
    half = deviation / count**0.5 * float(t.ppf(0.975, count - 1))
    spread = Place(place.table, row, "std", place.section)
    return [
        replace(mean, low=mean.value - half, high=mean.value + half),
        replace(mean, column="std", value=deviation, paper=spread.paper),
    ]


def cut(data: T, most: int | None) -> tuple[T, str]:
    """At most so many items to test on, drawn evenly, and a note where that leaves some out."""
    total, take = _CUTS[type(data)](data)
    if most is None or total <= most:
        return data, ""
    return take(sample(total, most)), f"{most:,} of {total:,} test items"


def sample(total: int, most: int) -> IntArray:
    """Places of at most so many of all items, always the same ones, in their order."""
    return np.sort(np.random.default_rng(0).permutation(total)[:most])


def _pairs(data: ScoredPairs) -> tuple[int, Callable[[IntArray], ScoredPairs]]:
    return len(data), data.take


def _triples(data: Triples) -> tuple[int, Callable[[IntArray], Triples]]:
    return len(data), data.take


def _splits(data: LabelledSplits) -> tuple[int, Callable[[IntArray], LabelledSplits]]:
    """Test rows; a set without them is tested on the rows that it is trained on, which the options limit."""
    test = data.test
    if test is None:
        return 0, lambda places: data
    return len(test.labels), lambda places: LabelledSplits(data.train, data.dev, test.take(places))


_CUTS: dict[type, Callable[[Any], tuple[int, Callable[[IntArray], Any]]]] = {
    ScoredPairs: _pairs,
    Triples: _triples,
    LabelledSplits: _splits,
}
