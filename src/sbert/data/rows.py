"""Reads tables row by row: which columns hold the texts, what stands beside them, and where every row is.

The one reader behind the command line, :func:`sbert.data.read` and the evaluation suites. Does not use labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from pathlib import Path
from typing import Any
from unicodedata import normalize

from sbert.data import files
from sbert.data.files import Source
from sbert.data.formats import Record, check_names, records
from sbert.data.shapes import text_columns
from sbert.errors import BadInput, listed, shown

_NUMBERS = {1: "one text", 2: "two texts", 3: "three texts"}
_WINDOW_CHARACTERS = 1 << 24
"""A window of rows ends after this many characters of text, however few rows it has."""


@dataclass(slots=True, eq=False)
class Row:
    """One row of a table: all of its fields, and the columns that hold its texts."""

    fields: Record
    source: Source
    number: int
    columns: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """The position of the row, for messages."""
        return self.source.place(self.number)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the row, in the order of ``columns``."""
        return tuple(map(self.text, self.columns))

    def field(self, column: str) -> Any:
        """Return the value in a column, which must exist."""
        if column not in self.fields:
            if normalize("NFC", column) in (normalize("NFC", str(name)) for name in self.fields):
                form = "has another Unicode form than in the rows before"
                raise BadInput(f"{self.where}: the name of the field {shown(column)} {form}; write it as they do")
            there = listed(self.fields) or "nothing at all"
            raise BadInput(f"{self.where}: there is no field {shown(column)}, but {there}")
        return self.fields[column]

    def text(self, column: str) -> str:
        """Return the text in a column; a value of any other type is refused."""
        value = self.field(column)
        if not isinstance(value, str):
            kind = "null" if value is None else type(value).__name__
            raise BadInput(
                f"{self.where}: field {shown(column)} is {kind}, but must be text; drop the row or convert it"
            )
        return value

    def decimal(self, column: str) -> float:
        """Return the value in a column as a number."""
        value = self.field(column)
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = nan
        if not isfinite(number):
            raise BadInput(f"{self.where}: the {column} is {shown(value)}, but must be a number")
        return number


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of one table, which all hold texts in the same columns. Can be read any number of times."""

    source: Source
    columns: tuple[str, ...]
    """The columns that hold the texts."""
    fields: tuple[str, ...]
    """All columns, in the order in which they first appear."""
    count: int

    def __iter__(self) -> Iterator[Row]:
        return rows_of(self.source, self.columns)

    def windows(self, size: int) -> Iterator[list[Row]]:
        """Yield lists of at most ``size`` rows; fewer where texts are very long."""
        window: list[Row] = []
        characters = 0
        for row in self:
            window.append(row)
            characters += sum(map(len, row.texts))
            if len(window) == size or characters > _WINDOW_CHARACTERS:
                yield window
                window, characters = [], 0
        if window:
            yield window


def rows_of(source: Source, columns: tuple[str, ...] = ()) -> Iterator[Row]:
    """Yield the rows of a source one by one, whatever their columns mean."""
    return (Row(record, source, number, columns) for number, record in records(source))


def read_table(path: str | Path) -> list[Row]:
    """Read all rows of a file with named columns; a txt file is a table with a header and tabs."""
    return list(rows_of(files.source(path, txt="table")))


def read_texts(path: str, column: str | None = None, format: str | None = None) -> list[Row]:
    """Read all rows of a file, or of standard input if ``path`` is "-", with one text each.

    The texts are in ``column``, by default ``text``, ``sentence`` or the only one. The suffix names the format.
    """
    return list(_checked(files.source(path, format), None if column is None else [column], one_text=True))


def scan(
    path: str, columns: Sequence[str] | None = None, format: str | None = None, *, one_text: bool = False
) -> Rows:
    """Read the whole table once, so that a broken row is found before any work.

    The texts are in ``columns``, by default those with the usual names of a shape, or with ``one_text`` those that
    :func:`read_texts` takes. "-" is standard input; the suffix names the format.
    """
    source = files.source(path, format)
    fields: dict[str, None] = {}
    count = 0
    for row in _checked(source, columns, one_text):
        count += 1
        fields.update(dict.fromkeys(row.fields))
    return Rows(source, row.columns, tuple(fields), count)


def in_split(rows: Iterable[Row], splits: Sequence[str], asked: str = "", required: bool = False) -> Iterator[Row]:
    """Yield the rows of one file whose column ``split`` has one of some values; all rows if ``splits`` is empty.

    A file without that column yields all rows, or an error if the column is ``required``. ``asked`` is what messages
    call the splits, by default their names.
    """
    there: set[str] = set()
    found = False
    for row in rows:
        if splits and "split" in row.fields:
            there.add(str(row.fields["split"]))
            if row.fields["split"] not in splits:
                continue
        elif splits and required:
            raise BadInput(
                f"{row.where}: the split {asked or listed(splits)} was requested, but there is no field 'split'; "
                "request no split to take all rows, or add the field"
            )
        found = True
        yield row
    if there and not found:
        raise BadInput(
            f"{row.source.name} has no rows of the split {asked or listed(splits)}, but of {listed(sorted(there))}; "
            "name one of them"
        )


def _checked(source: Source, columns: Sequence[str] | None, one_text: bool) -> Iterator[Row]:
    """Yield rows that hold texts in the columns of the first row, and no texts in other columns."""
    found: tuple[str, ...] = ()
    fields: set[str] = set()
    for row in rows_of(source):
        if not found:
            check_names(list(row.fields), source.name)
            found = text_columns(list(row.fields), source.name, columns, one_text)
        row.columns = found
        for column in found:
            row.text(column)
        if not one_text and row.fields.keys() - fields:
            here = text_columns(list(row.fields), row.where, columns)
            if here != found:
                raise BadInput(
                    f"{row.where}: {_texts(here)}, but the rows before have {_texts(found)}; give every row the same "
                    "columns, or name those that hold the texts"
                )
        fields.update(row.fields)
        yield row


def _texts(columns: tuple[str, ...]) -> str:
    return f"{_NUMBERS.get(len(columns), f'{len(columns)} texts')} ({', '.join(columns)})"
