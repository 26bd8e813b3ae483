"""Which jobs fill the tables, and the loop that does them: what is done stays done, however the run ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from sbert.disk.progress import Progress
from sbert.errors import SbertError, check_option
from sbert.paper.budgets import Settings as Settings
from sbert.paper.ledger import Cell, Cells, Job
from sbert.paper.numbers import number
from sbert.paper.rows import Encoders
from sbert.paper.tables import table1, table2, table3, table4, table5, table6, table7

TABLES: dict[str, Callable[[Encoders], list[Job]]] = {
    "table1": table1.jobs,
    "table2": table2.jobs,
    "table3": table3.jobs,
    "table4": table4.jobs,
    "table5": table5.jobs,
    "table6": table6.jobs,
    "table7": table7.jobs,
}
_AVERAGED = {"table1": tuple(table1.COLUMNS), "table5": tuple(table5.COLUMNS)}


class Plan(NamedTuple):
    """What will be done, and what cannot be."""

    jobs: list[Job]
    missing: list[str]
    """One sentence each: which data, package or model is not there."""


def plan(table: str, settings: Settings) -> Plan:
    """The jobs of a table, or of "all" of them."""
    check_option("table", table, [*TABLES, "all"])
    encoders = Encoders(settings)
    found = [job for name in (TABLES if table == "all" else [table]) for job in TABLES[name](encoders)]
    return Plan(found, encoders.missing)


class Outcome(NamedTuple):
    """What became of the jobs."""

    cells: list[Cell]
    missing: list[str]
    """One sentence each: which job could not be done, and why."""


def run(jobs: Sequence[Job], cells: Cells, show_progress_bar: bool = False) -> Outcome:
    """All cells, in the order of the jobs and with the averages; finished jobs are not done again.

    A job whose data or training are at fault is missing, and the others go on.
    """
    done = sum(cells.done(job.key) is not None for job in jobs)
    missing = []
    with Progress(len(jobs), "jobs", show_progress_bar, done=done, equal=False) as progress:
        for job in jobs:
            if cells.done(job.key) is None:
                try:
                    cells.add(job.key, _timed(job))
                except SbertError as error:
                    missing.append(f"{job.label}: {error}")
                progress.add(1, job.label)
    return Outcome(with_averages([cell for job in jobs for cell in cells.done(job.key) or ()]), missing)


def _timed(job: Job) -> list[Cell]:
    began = time.perf_counter()
    found = job.run()
    seconds = time.perf_counter() - began
    return [replace(cell, seconds=seconds / len(found)) for cell in found]


def with_averages(cells: Iterable[Cell]) -> list[Cell]:
    """The cells, and after each row that has every column of its table, the mean, as in the paper."""
    rows: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        rows.setdefault((cell.table, cell.row), []).append(cell)
    found = []
    for (table, _), row in rows.items():
        found += row
        if {cell.column for cell in row} == set(_AVERAGED.get(table, ())):
            found.append(_average(row))
    return found


def _average(row: Sequence[Cell]) -> Cell:
    first, values = row[0], [cell.value for cell in row]
    return replace(
        first,
        column="Avg",
        value=sum(values) / len(values),
        low=None,
        high=None,
        items=sum(cell.items for cell in row),
        seconds=sum(cell.seconds for cell in row),
        paper=number(first.table, first.beside, "Avg"),  # as printed, which is not always the mean of the printed
        scatter=(),
    )
