"""Writes records to tsv, csv, jsonl or parquet, window after window in constant memory. Knows no model."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from sbert.data import texts as files
from sbert.data import vectors as output
from sbert.data.files import Record
from sbert.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

_TROUBLE = frozenset("\t\r\n")
SUFFIXES = (".tsv", ".csv", ".jsonl", ".parquet")
Write = Callable[[Sequence[Record]], None]
Windows = Callable[[], Iterable[list[Record]]]
"""Records so many at a time, from the first one again at every call."""


@contextmanager
def table(path: Path, types: pa.Schema | None = None) -> Iterator[Write]:
    """A function that writes records, all of the same fields, to ``path``, whole or not at all; - is jsonl.

    ``types`` is what :func:`types_of` found; without it all windows have the types of the first.
    """
    if path == output.STANDARD_OUTPUT:
        yield _jsonl(sys.stdout.buffer)
        return
    with output.whole(path) as file:
        if path.suffix.lower() == ".parquet":
            with _parquet(file, types) as write:
                yield write
        else:
            yield {".tsv": _tsv, ".csv": _csv, ".jsonl": _jsonl}[path.suffix.lower()](file)


def types_of(path: Path, windows: Windows) -> pa.Schema | None:
    """The types that hold every record, for parquet, where a column has one type; found before any work."""
    if path.suffix.lower() != ".parquet":
        return None
    import pyarrow as pa

    types = pa.schema([])
    with files.making_table():
        for window in windows():
            types = pa.unify_schemas([types, pa.Table.from_pylist(window).schema], promote_options="permissive")
        files.check_parquet(types)
        for window in windows():  # whole numbers too large for the decimals of another row show only here
            pa.Table.from_pylist(window, schema=types)
    return types


def check_fields(path: Path, rows: Iterable[tuple[str, Record]]) -> None:
    """Refuse, before any work, what no file can hold, or no tsv, which has no quoting. ``rows``: place and fields."""
    quoted = path.suffix.lower() != ".tsv"
    for where, record in rows:
        if not _is_unicode(record):
            field = next(name for name, value in record.items() if not _is_unicode([name, value]))
            raise BadInput(
                f"{where}: field {field!r} holds a lone surrogate, which is no Unicode character; repair or drop it"
            )
        if not quoted and any(not _TROUBLE.isdisjoint(name + _cell(value)) for name, value in record.items()):
            raise BadInput(f"{where}: a text has a tab or a line break, which tsv cannot; write .csv or .jsonl")


def _is_unicode(value: object) -> bool:
    """JSON may escape half a character, which reading lets pass and writing does not."""
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return False
    return True


def _tsv(file: IO[bytes]) -> Write:
    return _lines(file, lambda fields: "\t".join(fields) + "\n")


def _csv(file: IO[bytes]) -> Write:
    def line(fields: list[str]) -> str:
        buffer = io.StringIO()
        csv.writer(buffer).writerow(fields)  # ends in \r\n, so that either of both inside a text is quoted
        return buffer.getvalue()

    return _lines(file, line)


def _lines(file: IO[bytes], line: Callable[[list[str]], str]) -> Write:
    """A header, then a line a record."""
    started = False

    def write(records: Sequence[Record]) -> None:
        nonlocal started
        if records and not started:
            file.write(line(list(records[0])).encode())
            started = True
        file.writelines(line([_cell(value) for value in record.values()]).encode() for record in records)

    return write


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _jsonl(file: IO[bytes]) -> Write:
    def write(records: Sequence[Record]) -> None:
        lines = (json.dumps(record, ensure_ascii=False, default=str) for record in records)
        file.writelines(f"{line}\n".encode() for line in lines)

    return write


@contextmanager
def _parquet(file: IO[bytes], types: pa.Schema | None) -> Iterator[Write]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer: pq.ParquetWriter | None = None

    def write(records: Sequence[Record]) -> None:
        nonlocal writer
        with files.making_table():
            made = pa.Table.from_pylist(list(records), schema=writer.schema if writer else types)
            writer = writer or pq.ParquetWriter(file, made.schema)
        writer.write_table(made)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()
