"""Measures a row on a task and makes a cell of it: the interval, points for a plot, what differs. Trains nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sbert.evaluate.metrics import accuracy, attained, spearman
from sbert.evaluate.report import Score
from sbert.evaluate.sections import Triples
from sbert.evaluate.significance import Interval, interval
from sbert.evaluate.sts import ScoredPairs
from sbert.evaluate.tasks import Memory, Options, Task
from sbert.evaluate.transfer import LabelledSplits
from sbert.paper import sources
from sbert.paper.cells import SCATTER, Cell, Job
from sbert.paper.encoders import Encoders, Row
from sbert.paper.numbers import number
from sbert.types import IntArray, Scorer

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
    options = options or Options()

    def run() -> list[Cell]:
        began = time.perf_counter()
        data, note = task.read(encoders.folder)
        data, cut_note = cut(data, encoders.limits.test)
        model = encoders.hold(place.row)
        (score, *_) = task.score(task.name, data, model if isinstance(model, Scorer) else Memory(model), options)
        return [cell(place, score, began, note, cut_note)]

    key = encoders.key(place.table, place.row, place.column, sources.of_task(encoders.folder, task))
    return Job(key, f"{place.table}: {place.row.name}, {place.column}", run)


def jobs(
    encoders: Encoders, table: str, rows: Sequence[Row], tasks: dict[str, Task[Any]], options: Options | None = None
) -> list[Job]:
    """Row by row, every column whose data are there."""
    there = {}
    for column, task in tasks.items():
        if any(encoders.folder.find(source) for source in task.sources):
            there[column] = task
        else:
            encoders.missing.append(f"{column}: none of {'; or '.join(map(str, task.sources))}")
    return [job(encoders, Place(table, row, column), task, options) for row in rows for column, task in there.items()]


def cell(place: Place, score: Score, began: float, *notes: str) -> Cell:
    """A score in its place."""
    low, high = bounds(score) or (None, None)
    note = "; ".join(dict.fromkeys(filter(None, (place.row.note, *notes, score.note))))
    seconds = time.perf_counter() - began
    row, column = place.row.name, place.column
    return Cell(
        place.table, row, column, score.value, low, high, score.items, seconds, note, place.paper, points(score)
    )


def bounds(score: Score) -> Interval | None:
    """The 95 % confidence interval, where the score is a function of its items."""
    if score.predicted is None or np.isnan(score.value):
        return None
    if score.gold is None:
        return interval(attained, score.predicted, np.full(len(score.predicted), 100.0))
    return interval(spearman if score.metric.startswith("spearman") else accuracy, score.predicted, score.gold)


def points(score: Score) -> tuple[tuple[float, float], ...]:
    """Some of the items, gold and predicted, where both are numbers."""
    if score.gold is None or score.predicted is None or not score.metric.startswith("spearman"):
        return ()
    some = sample(len(score.gold), SCATTER)
    return tuple(zip(score.gold[some].tolist(), score.predicted[some].astype(float).round(4).tolist(), strict=True))


def over_seeds(place: Place, values: Sequence[float], items: int, began: float, *notes: str) -> list[Cell]:
    """The mean over several trainings, and how far one is from another."""
    from scipy.stats import t

    mean, count = float(np.mean(values)), len(values)
    seconds = time.perf_counter() - began
    note = "; ".join(filter(None, (place.row.note, *notes)))
    name, column = place.row.name, place.column
    if count == 1:
        return [Cell(place.table, name, column, mean, None, None, items, seconds, note, place.paper)]
    deviation = float(np.std(values, ddof=1))
    half = deviation / count**0.5 * float(t.ppf(0.975, count - 1))
    low, high = mean - half, mean + half
    spread = Place(place.table, place.row, "std", place.section)
    return [
        Cell(place.table, name, column, mean, low, high, items, seconds, note, place.paper),
        Cell(place.table, name, "std", deviation, None, None, items, seconds, note, spread.paper),
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
    return len(data.anchors), lambda places: Triples(*([texts[place] for place in places] for texts in data))


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
