"""The jobs that fill the tables, and the loop that runs them; finished jobs are kept when a run is interrupted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from sbert.disk.lock import locked
from sbert.disk.progress import Progress
from sbert.errors import SbertError, check_option
from sbert.paper.budgets import Settings
from sbert.paper.context import Context
from sbert.paper.ledger import Cell, CellLedger, Job
from sbert.paper.published import number
from sbert.paper.tables import table1, table2, table3, table4, table5, table6, table7

TABLES: dict[str, Callable[[Context], list[Job]]] = {
    f"table{number}": table.jobs
    for number, table in enumerate((table1, table2, table3, table4, table5, table6, table7), 1)
}
_AVERAGED = {"table1": tuple(table1.COLUMNS), "table5": tuple(table5.COLUMNS)}


class Plan(NamedTuple):
    """The jobs of a run, and what cannot be measured."""

    jobs: list[Job]
    missing: list[str]
    """One sentence for each missing data set, package or model."""


def plan(table: str, settings: Settings) -> Plan:
    """Return the jobs of one table, or of all tables for "all"."""
    check_option("table", table, [*TABLES, "all"])
    context = Context(settings)
    names = TABLES if table == "all" else [table]
    found = context.made({name: partial(TABLES[name], context) for name in names})
    return Plan([job for jobs in found for job in jobs], context.missing)


class Outcome(NamedTuple):
    """The result of a run."""

    cells: list[Cell]
    missing: list[str]
    """One sentence for each job that failed."""


def run(jobs: Sequence[Job], ledger: CellLedger, show_progress_bar: bool = False) -> Outcome:
    """Run the jobs that are not finished yet, and return all cells in the order of the jobs, with the averages.

    A job whose data or training fails is reported as missing, and the others go on.
    """
    done = sum(ledger.done(job.key) is not None for job in jobs)
    missing = []
    with (
        locked(ledger.path.parent),
        Progress(len(jobs), "jobs", show_progress_bar, done=done, equal=False) as progress,
    ):
        for job in jobs:
            if ledger.done(job.key) is None:
                start = time.perf_counter()
                try:
                    found = job.run()
                    seconds = (time.perf_counter() - start) / len(found)
                    ledger.add(job.key, [replace(cell, seconds=seconds) for cell in found])
                except SbertError as error:
                    missing.append(f"{job.label}: {error}")
                progress.add(1, job.label)
    return Outcome(with_averages([cell for job in jobs for cell in ledger.done(job.key) or ()]), missing)


def with_averages(cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells, with the mean after each row that has every column of its table, as in the paper."""
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
    first = row[0]
    return replace(
        first,
        column="Avg",
        value=sum(cell.value for cell in row) / len(row),
        low=None,
        high=None,
        items=sum(cell.items for cell in row),
        seconds=sum(cell.seconds for cell in row),
        paper=number(first.table, first.beside, "Avg"),  # as printed, which is not always the mean of the printed
        scatter=(),
    )
