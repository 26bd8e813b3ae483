"""``sbert paper``: the paper's tables, measured here, with the paper's numbers beside them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sbert.cli import show
from sbert.cli.options import INTERRUPTED, DataFolder, Json, data_folder
from sbert.disk.files import whole_file
from sbert.errors import BadInput, check_value
from sbert.text import display

if TYPE_CHECKING:
    from sbert.paper.ledger import Cell, Cells
    from sbert.paper.report import Table
    from sbert.paper.run import Outcome, Plan, Settings


def paper(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="table1 to table7, or all.")] = "all",
    out: Annotated[Path, typer.Option("-o", metavar="OUT", help="Folder of results and trained models.")] = Path(
        "paper"
    ),
    models: Annotated[
        list[str] | None, typer.Option("--models", help="Model to measure too, of any kind; may be given again.")
    ] = None,
    backbone: Annotated[str, typer.Option(help="Bare encoder that is trained.")] = "bert-base-uncased",
    budget: Annotated[
        str, typer.Option(help="quick, a look in minutes; honest, hours; full, all data, as in the paper.")
    ] = "quick",
    data: DataFolder = None,
    json: Json = False,
) -> None:
    """Measure a table of the paper, or all; stopped, the same command goes on where it was.

    Example: sbert paper table1 --budget quick --data data/ -o runs/paper
    """
    from sbert.paper import run
    from sbert.paper.budgets import BUDGETS
    from sbert.paper.ledger import Cells

    check_value("TABLE", table, (*run.TABLES, "all"))
    check_value("--budget", budget, BUDGETS)
    folder = data_folder(data)
    settings = run.Settings(data=folder, out=out, budget=budget, backbone=backbone, models=tuple(models or ()))
    plan = run.plan(table, settings)
    for reason in plan.missing:
        show.note(f"missing  {reason}")
    nothing = BadInput(
        f"nothing of {table} can be measured with what is in {folder}; see docs/suites.md for the files"
    )
    if not plan.jobs:
        raise nothing
    out.mkdir(parents=True, exist_ok=True)
    cells, failed = _measure(plan, Cells(out))
    for reason in failed:
        show.note(f"missing  {reason}")
    if not cells:
        raise nothing
    missing = [*plan.missing, *failed]
    files = _write(out / table, cells, settings, missing)
    if json:
        found = [{key: value for key, value in asdict(cell).items() if key != "scatter"} for cell in cells]
        show.as_json({"cells": found, "missing": missing, "files": [str(path) for path in files]})
    else:
        _print(cells)
        show.note(f"report -> {', '.join(map(str, files))}")


def _measure(plan: Plan, cells: Cells) -> Outcome:
    from sbert.paper import run

    try:
        return run.run(plan.jobs, cells, show_progress_bar=True)
    except KeyboardInterrupt:
        done = sum(cells.done(job.key) is not None for job in plan.jobs)
        show.note(
            f"interrupted after {done:,} of {len(plan.jobs):,} jobs, which are kept in {cells.path}; "
            "the same command goes on from there"
        )
        raise typer.Exit(INTERRUPTED) from None


def _write(stem: Path, cells: list[Cell], settings: Settings, missing: list[str]) -> list[Path]:
    """As a page, Markdown and CSV, beside the cells."""
    from sbert.paper import report

    seconds = sum(cell.seconds for cell in cells if cell.column != "Avg")
    facts = [
        f"Budget {settings.budget}, backbone {settings.backbone}; measured in {seconds / 60:,.1f} minutes, training "
        "included. What each number rests on stands below its table."
    ]
    texts = {
        ".html": report.as_page(cells, facts, missing),
        ".md": report.as_markdown(cells),
        ".csv": report.as_csv(cells),
    }
    for suffix, text in texts.items():
        with whole_file(stem.with_suffix(suffix)) as file:
            file.write(text.encode())
    return [stem.with_suffix(suffix) for suffix in texts]


def _print(cells: list[Cell]) -> None:
    from sbert.paper import report

    for table in report.tables(cells):
        show.line(table.title)
        show.table([*table.columns, ""], [_row(table, row) for row in table.rows])
        show.line(f"{report.summary(table)}\n")


def _row(table: Table, row: str) -> list[str]:
    """Ours, and below it the paper's and the difference where the paper has any of the row."""
    own = [table.cells.get((row, column)) for column in table.columns]
    if all(cell is None or cell.paper is None for cell in own):
        return [*("" if cell is None else display.figure(cell.value) for cell in own), row]
    return [*(_lines(cell) for cell in own), f"{row}\n  the paper\n  difference"]


def _lines(cell: Cell | None) -> str:
    if cell is None:
        return ""
    if cell.paper is None:
        return display.figure(cell.value)
    return f"{display.figure(cell.value)}\n{display.figure(cell.paper)}\n{display.signed(cell.value - cell.paper)}"
