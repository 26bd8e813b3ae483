"""Reads the texts of a file row by row, any number of rows in constant memory. Knows columns of texts: no labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from sbert.data import files
from sbert.data.shapes import text_columns
from sbert.errors import BadInput

FORMATS = ("txt", "tsv", "csv", "jsonl", "json", "parquet")
_NUMBERS = {1: "one text", 2: "two texts", 3: "three texts"}


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its texts, and all of its fields."""

    texts: tuple[str, ...]
    fields: files.Record
    where: str
    """For messages."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one file, proven to hold the same columns of texts from the first to the last."""

    path: str
    columns: tuple[str, ...]
    """Those that hold the texts."""
    fields: tuple[str, ...]
    """All of them, in the order in which they first appear."""
    count: int

    def __iter__(self) -> Iterator[Row]:
        return _read(self.path, self.columns)

    def windows(self, size: int) -> Iterator[list[Row]]:
        """So many rows at a time."""
        rows = iter(self)
        while window := list(islice(rows, size)):
            yield window


def scan(path: str, columns: Sequence[str] | None = None) -> Rows:
    """Look through the whole file once, so that a broken row shows before any work.

    Args:
        path: txt (a text a line), tsv, csv, jsonl, json or parquet; all but parquet may be packed as .gz.
        columns: which of its columns hold the texts; without them, told by their usual names.
    """
    found: tuple[str, ...] = ()
    fields: dict[str, None] = {}
    count = 0
    for row in _read(path, columns):
        count += 1
        found = found or text_columns(list(row.fields), path, columns)
        if row.fields.keys() - fields.keys():
            fields.update(dict.fromkeys(row.fields))
            _check_same(found, row, columns)
    if not count:
        raise BadInput(f"{path} is empty, but at least one row is needed")
    return Rows(path, found, tuple(fields), count)


def _read(path: str, columns: Sequence[str] | None) -> Iterator[Row]:
    kind = files.format_of(path, FORMATS)
    chosen: tuple[str, ...] = ()
    with files.opened(path) as stream:
        for number, record in files.records(stream, path, kind):
            where = files.place(path, kind, number)
            chosen = chosen or text_columns(list(record), path, columns)
            yield Row(tuple(files.text(record, column, where) for column in chosen), record, where)


def _check_same(expected: tuple[str, ...], row: Row, columns: Sequence[str] | None) -> None:
    """A row with more fields than those before may hold more texts, too."""
    here = text_columns(list(row.fields), row.where, columns)
    if here != expected:
        raise BadInput(
            f"{row.where}: {_texts(here)}, but the rows before have {_texts(expected)}; give every row the same, or "
            "name the columns"
        )


def _texts(columns: tuple[str, ...]) -> str:
    return f"{_NUMBERS.get(len(columns), f'{len(columns)} texts')} ({', '.join(columns)})"
