"""The cells of the tables as people and programs read them: CSV, Markdown, a page. Knows cells: no model, no data."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from sbert.pages import charts, sheet
from sbert.paper.ledger import Cell

TITLES = {
    "table1": "Table 1: sentence pairs, never trained on (Spearman)",
    "table2": "Table 2: the STS benchmark, with training (Spearman)",
    "table3": "Table 3: similarity of arguments",
    "table4": "Table 4: sections of Wikipedia (accuracy)",
    "table5": "Table 5: SentEval (accuracy)",
    "table6": "Table 6: pooling and concatenation (Spearman, STSb dev)",
    "table7": "Table 7: sentences per second",
}
_DERIVED = ("Avg", "std")
_FIELDS = ("table", "row", "column", "value", "low", "high", "paper", "difference", "items", "seconds", "note")


@dataclass(frozen=True, slots=True)
class Table:
    """The cells of one table by their places."""

    name: str
    rows: list[str]
    columns: list[str]
    cells: dict[tuple[str, str], Cell]

    @property
    def title(self) -> str:
        """What a reader is told."""
        return TITLES.get(self.name, self.name)


def tables(cells: Iterable[Cell]) -> list[Table]:
    """One for each table, in the order in which cells name tables, rows and columns."""
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.table, []).append(cell)
    return [
        Table(
            name,
            list(dict.fromkeys(cell.row for cell in own)),
            list(dict.fromkeys(cell.column for cell in own)),
            {(cell.row, cell.column): cell for cell in own},
        )
        for name, own in found.items()
    ]


def difference(cell: Cell) -> float | None:
    """Ours minus the paper's, where it has one."""
    return None if cell.paper is None else cell.value - cell.paper


def signed(value: float) -> str:
    """A difference with its sign.

    >>> signed(1.5), signed(-0.001), signed(-2000.0)
    ('+1.50', '0.00', '-2,000')
    """
    written = charts.figure(value)
    return f"+{written}" if value > 0 and written != "0.00" else written


def as_csv(cells: Iterable[Cell]) -> str:
    """One line a cell, numbers whole."""
    file = io.StringIO()
    writer = csv.DictWriter(file, _FIELDS, lineterminator="\n")
    writer.writeheader()
    for cell in cells:
        known = {name: getattr(cell, name) for name in _FIELDS if name != "difference"}
        writer.writerow(known | {"difference": difference(cell)})
    return file.getvalue()


def as_markdown(cells: Iterable[Cell]) -> str:
    """Each table with the paper's number and the difference in brackets, and what differs below."""
    return "\n".join(_markdown(table) for table in tables(cells))


def _markdown(table: Table) -> str:
    lines = [f"## {table.title}", "", summary(table), ""]
    lines += [f"| | {' | '.join(map(_plain, table.columns))} |", f"| --- |{' ---: |' * len(table.columns)}"]
    for row in table.rows:
        found = [_words(table.cells.get((row, column))) for column in table.columns]
        lines.append(f"| {_plain(row)} | {' | '.join(found)} |")
    return "\n".join([*lines, "", *(f"- {line}" for line in what_differs(table)), ""])


def _plain(text: str) -> str:
    return text.replace("|", "\\|")


def _words(cell: Cell | None) -> str:
    if cell is None:
        return ""
    own = charts.figure(cell.value)
    return own if cell.paper is None else f"{own} ({charts.figure(cell.paper)}, {signed(cell.value - cell.paper)})"


def summary(table: Table) -> str:
    """How far we are from the paper, by the numbers themselves: deviations and averages of columns do not count."""
    own = [cell for cell in table.cells.values() if cell.column not in _DERIVED]
    gaps = [gap for cell in own if (gap := difference(cell)) is not None]
    if not gaps:
        return "The paper has no number for any of these places."
    above = sum(gap > 0 for gap in gaps)
    so_far = f"{len(gaps)} of {len(own)} numbers stand beside one of the paper's, {above} of them above it"
    if table.name == "table7":
        return f"{so_far}; ours are of this machine, the paper's of an i7-5820K and a V100."
    mean = sum(gaps) / len(gaps)
    return f"{so_far}; on average ours lie {charts.figure(abs(mean))} {'above' if mean > 0 else 'below'}."


def what_differs(table: Table) -> list[str]:
    """The notes of the cells, each said once, with the rows or columns that it is about."""
    places: dict[str, list[tuple[str, str]]] = {}
    for place, cell in table.cells.items():
        for part in filter(None, cell.note.split("; ")):
            places.setdefault(part, []).append(place)
    return [f"{_about(table, about)}: {part}" for part, about in places.items()]


def _about(table: Table, places: Sequence[tuple[str, str]]) -> str:
    """Which cells are meant, in as few words as will do."""
    meant = set(places)
    if meant == set(table.cells):
        return "everywhere"
    rows, columns = (list(dict.fromkeys(place[side] for place in places)) for side in (0, 1))
    if meant == {place for place in table.cells if place[0] in rows}:
        return ", ".join(rows)
    if meant == {place for place in table.cells if place[1] in columns}:
        return ", ".join(columns)
    if meant == {place for place in table.cells if place[0] in rows and place[1] in columns}:
        return f"{', '.join(rows)} on {', '.join(columns)}"
    return "; ".join(f"{row} on {column}" for row, column in places)


def as_page(cells: Sequence[Cell], facts: Sequence[str], missing: Sequence[str]) -> str:
    """One page that needs nothing but itself: every table, its bars beside the paper's, and its points against gold.

    Args:
        cells: finished ones, of any tables.
        facts: sentences on the run, such as its budget and backbone.
        missing: what could not be measured, and why.
    """
    about = (
        "In the tables: our number, its 95 % interval where it has one, the paper's in colour, the difference. "
        "In the pictures: ours are the bars, with whiskers for the intervals; the diamonds are the paper's."
    )
    parts = [sheet.paragraph(text) for text in (*facts, about)]
    if missing:
        parts += ["<h2>Not measured</h2>", sheet.bullets(missing)]
    for table in tables(cells):
        parts += _section(table)
    return sheet.page("The tables of Sentence-BERT, measured here", parts)


def _section(table: Table) -> list[str]:
    rows = [[escape(row), *(_cell(table.cells.get((row, column))) for column in table.columns)] for row in table.rows]
    differs = what_differs(table)
    return [
        f"<h2>{escape(table.title)}</h2>",
        sheet.paragraph(summary(table)),
        sheet.table(["", *table.columns], rows, numbers=len(table.columns)),
        *(["<h3>What differs from the paper</h3>", sheet.bullets(differs)] if differs else ()),
        sheet.grid(_bars(table, column) for column in table.columns),
        *_points(table),
    ]


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    between = ""
    if cell.low is not None and cell.high is not None:
        between = f"<small>{charts.figure(cell.low)} to {charts.figure(cell.high)}</small>"
    gap = difference(cell)
    beside = ""
    if cell.paper is not None and gap is not None:
        beside = f'<small class="other">{charts.figure(cell.paper)}</small><small>{signed(gap)}</small>'
    return f"{charts.figure(cell.value)}{between}{beside}"


def _bars(table: Table, column: str) -> str:
    own = [cell for row in table.rows if (cell := table.cells.get((row, column)))]
    rows = [charts.Bar(cell.row, cell.value, cell.low, cell.high, cell.paper) for cell in own]
    return charts.bars(column, rows, "the paper")


def _points(table: Table) -> list[str]:
    plots = [
        charts.scatter(f"{cell.row}, {cell.column}", cell.scatter) for cell in table.cells.values() if cell.scatter
    ]
    if not plots:
        return []
    return [f"<details><summary>Scores against gold, {len(plots)} plots</summary>{sheet.grid(plots)}</details>"]
