"""The cells of the tables as people and programs read them: CSV, Markdown and a page."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sbert.errors import counted
from sbert.pages import reports
from sbert.pages.records import Bar, PaperTable, Plot
from sbert.paper.ledger import Cell
from sbert.text.display import figure, signed

TITLES = {
    "table1": "Table 1: sentence pairs, without training on them (Spearman)",
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
    """The cells of one table, by row and column."""

    name: str
    rows: list[str]
    columns: list[str]
    cells: dict[tuple[str, str], Cell]

    @property
    def title(self) -> str:
        """Heading of the table."""
        return TITLES.get(self.name, self.name)


def tables(cells: Iterable[Cell]) -> list[Table]:
    """Arrange cells in tables, rows and columns, each in the order of its first cell."""
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


def as_csv(cells: Iterable[Cell]) -> str:
    """Return one line for each cell, with all digits."""
    file = io.StringIO()
    writer = csv.DictWriter(file, _FIELDS, lineterminator="\n")
    writer.writeheader()
    for cell in cells:
        writer.writerow({name: getattr(cell, name) for name in _FIELDS})
    return file.getvalue()


def as_markdown(cells: Iterable[Cell]) -> str:
    """Return each table with the paper's number and the difference in brackets, and the notes below."""
    return "\n".join(_markdown(table) for table in tables(cells))


def _markdown(table: Table) -> str:
    lines = [f"## {table.title}", "", summary(table), ""]
    lines += [f"| | {' | '.join(map(_escaped, table.columns))} |", f"| --- |{' ---: |' * len(table.columns)}"]
    for row in table.rows:
        found = [_in_brackets(table.cells.get((row, column))) for column in table.columns]
        lines.append(f"| {_escaped(row)} | {' | '.join(found)} |")
    return "\n".join([*lines, "", *(f"- {line}" for line in notes(table)), ""])


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _in_brackets(cell: Cell | None) -> str:
    if cell is None:
        return ""
    own = figure(cell.value)
    if cell.paper is None:
        return own
    gap = "" if cell.difference is None else f", {signed(cell.difference)}"
    return f"{own} ({figure(cell.paper)}{gap})"


def summary(table: Table) -> str:
    """Compare our numbers with the paper's in one sentence; averages and standard deviations are left out."""
    own = [cell for cell in table.cells.values() if cell.column not in _DERIVED]
    gaps = [cell.difference for cell in own if cell.difference is not None]
    if any(cell.paper is not None and not cell.comparable for cell in own):
        reason = "The rows on the backbone have no difference, because the paper has no backbone of its size."
        return f"{_compared(table, own, gaps)} {reason}" if gaps else reason
    return _compared(table, own, gaps) if gaps else "The paper has no number for any of these cells."


def _compared(table: Table, own: Sequence[Cell], gaps: Sequence[float]) -> str:
    above = sum(gap > 0 for gap in gaps)
    cells = counted(len(own), "number")
    compared = f"The paper has a comparable number for {len(gaps)} of {cells}, and ours is higher for {above}"
    if table.name == "table7":
        return f"{compared}; ours are from this machine, the paper's from an i7-5820K and a V100."
    mean = sum(gaps) / len(gaps)
    return f"{compared}; on average ours are {figure(abs(mean))} {'above' if mean > 0 else 'below'} the paper's."


def notes(table: Table) -> list[str]:
    """Return the notes of the cells, each once, with the rows or columns it applies to."""
    places: dict[str, list[tuple[str, str]]] = {}
    for place, cell in table.cells.items():
        for part in filter(None, cell.note.split("; ")):
            places.setdefault(part, []).append(place)
    return [f"{_described(table, about)}: {part}" for part, about in places.items()]


def _described(table: Table, places: Sequence[tuple[str, str]]) -> str:
    """Name a set of cells in as few words as possible."""
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
    """Return a page with every table, its values as bars beside the paper's, and its predictions against gold labels.

    Args:
        cells: Finished cells, of any tables.
        facts: Sentences about the run, such as its budget and its backbone.
        missing: What could not be measured, and why.
    """
    return reports.paper([_page_table(table) for table in tables(cells)], facts, missing)


def _page_table(table: Table) -> PaperTable:
    return PaperTable(
        title=table.title,
        summary=summary(table),
        columns=table.columns,
        rows=[(row, [_bar(table.cells.get((row, column))) for column in table.columns]) for row in table.rows],
        notes=notes(table),
        plots=[Plot(f"{cell.row}, {cell.column}", cell.scatter) for cell in table.cells.values() if cell.scatter],
        without_difference={cell.row for cell in table.cells.values() if not cell.comparable},
        logarithmic=table.name == "table7",  # from 10 to 20,000 sentences per second
    )


def _bar(cell: Cell | None) -> Bar | None:
    return None if cell is None else Bar(cell.row, cell.value, cell.low, cell.high, cell.paper)
