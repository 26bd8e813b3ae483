"""Writes records to tsv, csv, jsonl or parquet, window after window in constant memory. Knows no model."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sbert.cli import output
from sbert.data.files import Record
from sbert.errors import BadInput

_TROUBLE = frozenset("\t\r\n")
SUFFIXES = (".tsv", ".csv", ".jsonl", ".parquet")
Write = Callable[[Sequence[Record]], None]


@contextmanager
def table(path: Path) -> Iterator[Write]:
    """A function that writes records, all of the same fields, to ``path``, whole or not at all; - is jsonl."""
    if path == output.STANDARD_OUTPUT:
        yield _jsonl(sys.stdout.buffer)
        return
    with output.whole(path) as file:
        if path.suffix.lower() == ".parquet":
            with _parquet(file) as write:
                yield write
        else:
            yield {".tsv": _tsv, ".csv": _csv, ".jsonl": _jsonl}[path.suffix.lower()](file)


def check_fields(path: Path, rows: Iterable[tuple[str, Iterable[object]]]) -> None:
    """Refuse, before any work, what a tsv cannot hold, having no quoting: of each row its place and its fields."""
    for where, fields in rows if path.suffix.lower() == ".tsv" else ():
        if any(not _TROUBLE.isdisjoint(field) for field in fields if isinstance(field, str)):
            raise BadInput(f"{where}: a text has a tab or a line break, which tsv cannot; write .csv or .jsonl")


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
def _parquet(file: IO[bytes]) -> Iterator[Write]:
    """The first window decides the types."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer: pq.ParquetWriter | None = None

    def write(records: Sequence[Record]) -> None:
        nonlocal writer
        try:
            made = pa.Table.from_pylist(list(records), schema=writer and writer.schema)
        except pa.ArrowException as error:
            raise BadInput(
                f"the fields make no table ({error}), but parquet needs one; write .jsonl instead"
            ) from None
        writer = writer or pq.ParquetWriter(file, made.schema)
        writer.write_table(made)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()
