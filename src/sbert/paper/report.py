"""The cells of the tables as people and programs read them: CSV, Markdown, a page. Knows cells: no model, no data."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sbert.pages import reports
from sbert.pages.records import Bar, PaperTable, Plot
from sbert.paper.ledger import Cell
from sbert.text.display import figure, signed

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
    own = figure(cell.value)
    return own if cell.paper is None else f"{own} ({figure(cell.paper)}, {signed(cell.value - cell.paper)})"


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
    return f"{so_far}; on average ours lie {figure(abs(mean))} {'above' if mean > 0 else 'below'}."


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
        notes=what_differs(table),
        plots=[Plot(f"{cell.row}, {cell.column}", cell.scatter) for cell in table.cells.values() if cell.scatter],
        ends=(0.0,) if table.name == "table7" else (0.0, 100.0),
    )


def _bar(cell: Cell | None) -> Bar | None:
    return None if cell is None else Bar(cell.row, cell.value, cell.low, cell.high, cell.paper)
