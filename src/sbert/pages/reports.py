"""The pages of ``sbert evaluate``, ``sbert compare`` and ``sbert paper``. Works on names, texts and numbers only."""

from __future__ import annotations

from collections.abc import Sequence

from sbert.pages import charts
from sbert.pages.records import Comparison, PaperTable, Suite
from sbert.pages.render import render


def evaluation(model: str, suites: Sequence[Suite], data: Sequence[str] = ()) -> str:
    """Return the page of ``sbert evaluate``; ``data`` names the files and folders that were read."""
    plots = [[charts.scatter(*plot) for plot in suite.plots] for suite in suites]
    title = f"Evaluation of {model}"
    return render("evaluation.html", title=title, suites=suites, data=data, plots=plots, charts=charts)


def comparison(found: Comparison) -> str:
    """Return the page of ``sbert compare``."""
    title = f"{found.first} compared with {found.second}"
    return render("comparison.html", title=title, found=found, charts=charts)


def paper(tables: Sequence[PaperTable], facts: Sequence[str], missing: Sequence[str]) -> str:
    """Return the page of ``sbert paper``.

    Args:
        tables: The tables with at least one finished cell.
        facts: Sentences about the run, such as its budget and its backbone.
        missing: What could not be measured, and why.
    """
    columns = [[_column(table, place) for place in range(len(table.columns))] for table in tables]
    plots = [[charts.scatter(*plot) for plot in table.plots] for table in tables]
    title = "The tables of the paper, measured again"
    return render("paper.html", title=title, tables=tables, facts=facts, missing=missing, columns=columns, plots=plots)


def _column(table: PaperTable, place: int) -> str:
    cells = [bars[place] for _, bars in table.rows]
    bars, name = [bar for bar in cells if bar is not None], table.columns[place]
    if table.logarithmic:
        return charts.bars(f"{name} (logarithmic scale)", bars, other="the paper", logarithmic=True)
    return charts.bars(name, bars, (0, 100), "the paper")
