"""Which jobs fill the tables, and the loop that does them: what is done stays done, however the run ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from sbert.errors import check_option
from sbert.models.progress import Progress
from sbert.paper import table1, table2, table3, table4, table5, table6, table7
from sbert.paper.budgets import Settings as Settings
from sbert.paper.cells import Cell, Cells, Job
from sbert.paper.encoders import Encoders
from sbert.paper.numbers import number, numbers

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
    return Plan(found, list(dict.fromkeys(encoders.missing)))


def jobs(table: str, settings: Settings) -> list[Job]:
    """Those whose data are there; :func:`plan` says what is missing, too."""
    return plan(table, settings).jobs


def run(jobs: Sequence[Job], cells: Cells, show_progress_bar: bool = False) -> list[Cell]:
    """All cells, in the order of the jobs and with the averages; finished jobs are not done again."""
    done = sum(cells.done(job.key) is not None for job in jobs)
    with Progress(len(jobs), "jobs", show_progress_bar, done=done, equal=False) as progress:
        for job in jobs:
            if cells.done(job.key) is None:
                cells.add(job.key, job.run())
                progress.add(1, job.label)
    return with_averages([cell for job in jobs for cell in cells.done(job.key) or ()])


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
        paper=_paper_average(row),
        scatter=(),
    )


def _paper_average(row: Sequence[Cell]) -> float | None:
    """As printed, which is not always the mean of what is printed beside it."""
    table = row[0].table
    for name in dict.fromkeys(printed.row for printed in numbers() if printed.table == table):
        if all(number(table, name, cell.column) == cell.paper for cell in row):
            return number(table, name, "Avg")
    return None
