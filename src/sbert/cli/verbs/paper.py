"""``sbert paper``: measures the paper's tables and shows the paper's numbers beside ours."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sbert.cli import show
from sbert.cli.options import INTERRUPTED, DataFolder, Device, Json, data_folder
from sbert.disk.files import write_bytes
from sbert.errors import BadInput, check_value, counted
from sbert.paper import report
from sbert.paper.budgets import BUDGETS, Settings
from sbert.paper.ledger import Cell, CellLedger
from sbert.paper.report import Table
from sbert.paper.run import TABLES, Outcome, Plan, plan, run
from sbert.text.display import figure, signed

_OUT = Path("paper")


def paper(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="table1 to table7, or all.")] = "all",
    out: Annotated[Path, typer.Option("-o", metavar="OUT", help="Folder for results and trained models.")] = _OUT,
    models: Annotated[
        list[str] | None, typer.Option("--models", help="Further model to measure, of any kind; can be repeated.")
    ] = None,
    backbone: Annotated[str, typer.Option(help="Encoder to train Sentence-BERT from.")] = "bert-base-uncased",
    budget: Annotated[
        str, typer.Option(help="quick (minutes), honest (hours) or full (all data, as in the paper).")
    ] = "quick",
    data: DataFolder = None,
    device: Device = None,
    json: Json = False,
) -> None:
    """Measure a table of the paper, or all of them; the same command continues an interrupted run.

    Example: sbert paper table1 --budget quick --data data/ -o runs/paper
    """
    check_value("TABLE", table, (*TABLES, "all"))
    check_value("--budget", budget, BUDGETS)
    folder = data_folder(data)
    settings = Settings(
        data=folder, out=out, budget=budget, backbone=backbone, models=tuple(models or ()), device=device
    )
    planned = plan(table, settings)
    cells, failed = _measure(planned, out)
    if not cells:
        raise BadInput(
            f"nothing of {table} can be measured with what is in {folder}; see docs/suites.md for the files"
        )
    missing = [*planned.missing, *failed]
    files = _write(out / table, cells, settings, missing)
    if json:
        found = [{key: value for key, value in asdict(cell).items() if key != "scatter"} for cell in cells]
        show.as_json({"cells": found, "missing": missing, "files": [str(path) for path in files]})
    else:
        for measured in report.tables(cells):
            show.line(measured.title)
            show.table([*measured.columns, ""], [_row(measured, row) for row in measured.rows])
            show.line(f"{report.summary(measured)}\n")
        show.line(_about(settings, cells))
        show.note(f"report -> {', '.join(map(str, files))}")


def _measure(planned: Plan, out: Path) -> Outcome:
    """Run the jobs and report what is missing; nothing is written if there are no jobs."""
    for reason in planned.missing:
        show.note(f"missing  {reason}")
    if not planned.jobs:
        return Outcome([], [])
    ledger = CellLedger(out)
    try:
        outcome = run(planned.jobs, ledger, show_progress_bar=True)
    except KeyboardInterrupt:
        done = sum(ledger.done(job.key) is not None for job in planned.jobs)
        show.note(
            f"interrupted after {done:,} of {counted(len(planned.jobs), 'job')}; what is finished is kept in "
            f"{ledger.path}, and the same command goes on from there"
        )
        raise typer.Exit(INTERRUPTED) from None
    for reason in outcome.missing:
        show.note(f"missing  {reason}")
    return outcome


def _write(stem: Path, cells: list[Cell], settings: Settings, missing: list[str]) -> list[Path]:
    """Write the tables as a page, as Markdown and as CSV."""
    facts = [f"{_about(settings, cells)} The notes below each table say what its numbers are based on."]
    texts = {
        ".html": report.as_page(cells, facts, missing),
        ".md": report.as_markdown(cells),
        ".csv": report.as_csv(cells),
    }
    for suffix, text in texts.items():
        write_bytes(stem.with_suffix(suffix), text.encode())
    return [stem.with_suffix(suffix) for suffix in texts]


def _about(settings: Settings, cells: list[Cell]) -> str:
    minutes = sum(cell.seconds for cell in cells if cell.column != "Avg") / 60
    used = f"Budget {settings.budget}, backbone {settings.backbone}"
    return f"{used}; measured in {minutes:,.1f} minutes, training included."


def _row(table: Table, row: str) -> list[str]:
    """Return our numbers, with the paper's and the differences on further lines if the paper has any of the row."""
    cells = [table.cells.get((row, column)) for column in table.columns]
    compared = any(cell is not None and cell.paper is not None for cell in cells)
    difference = any(cell is not None and cell.difference is not None for cell in cells)
    more = "\n  the paper" * compared + "\n  difference" * difference
    return [*map(_lines, cells), f"{row}{more}"]


def _lines(cell: Cell | None) -> str:
    if cell is None:
        return ""
    if cell.paper is None:
        return figure(cell.value)
    gap = "" if cell.difference is None else f"\n{signed(cell.difference)}"
    return f"{figure(cell.value)}\n{figure(cell.paper)}{gap}"
