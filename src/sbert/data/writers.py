"""Writes tables and vectors window by window in constant memory. Knows records and arrays, but no model."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from sbert.data.formats import Record
from sbert.data.rows import Row, Rows
from sbert.disk.files import check_writable, whole_file
from sbert.errors import BadInput, WrongUsage, shown
from sbert.text.display import json_text

if TYPE_CHECKING:
    import pyarrow as pa

    from sbert.types import Array

STANDARD_OUTPUT = Path("-")
TABLE_SUFFIXES = (".tsv", ".csv", ".jsonl", ".parquet")
VECTOR_SUFFIXES = (".npy", ".parquet", ".jsonl")
Write = Callable[[Sequence[Record]], None]
WriteVectors = Callable[[Sequence[Record], "Array"], None]


def check_output(
    path: Path, suffixes: Collection[str], source: str | None = None, *, standard_output: bool = False
) -> None:
    """Raise an error, before any work, unless a file can be written at ``path``.

    Args:
        path: The output.
        suffixes: The suffixes that it may have.
        source: The input, which the output must not replace.
        standard_output: Whether "-" is accepted and means standard output.
    """
    if standard_output and path == STANDARD_OUTPUT:
        return
    if path.suffix.lower() not in suffixes:
        raise WrongUsage(f"the output {str(path)!r} must end in {', '.join(suffixes)}, but ends in {path.suffix!r}")
    check_writable(path)
    if source is not None and path.exists() and Path(source).exists() and path.samefile(source):
        raise BadInput(f"the output {str(path)!r} is the input, which it would replace; name another one")


def check_fields(path: Path, rows: Iterable[Row], columns: Sequence[str] | None = None) -> None:
    """Refuse, before any work, values that the output cannot hold.

    Args:
        path: The output.
        rows: The rows to write.
        columns: The fields to write. Defaults to all.
    """
    quoting = path.suffix.lower() != ".tsv"
    for row in rows:
        record = row.fields if columns is None else {column: row.fields[column] for column in columns}
        if not _is_unicode(record):
            field = next(name for name, value in record.items() if not _is_unicode([name, value]))
            raise BadInput(
                f"{row.where}: field {shown(field)} holds a lone surrogate, which is no Unicode character; repair or "
                "drop it"
            )
        if not quoting and any(mark in name + _cell(value) for name, value in record.items() for mark in "\t\r\n"):
            raise BadInput(
                f"{row.where}: a text has a tab or a line break, which tsv cannot hold; write .csv or .jsonl"
            )


def types_of(path: Path, rows: Rows, window: int, added: Record | None = None) -> pa.Schema | None:
    """Return the types of a parquet output, found before any work; None for other formats.

    Args:
        path: The output.
        rows: The rows to write. Those of a parquet file keep their types.
        window: The number of rows to look at at a time.
        added: An example of the fields that are written beside those of the rows.
    """
    if path.suffix.lower() != ".parquet":
        return None
    from sbert.data import parquet

    if rows.source.format == "parquet":
        with rows.source.opened() as stream:
            types = parquet.schema(stream)
    else:
        types = parquet.types_of([row.fields for row in part] for part in rows.windows(window))
        for part in rows.windows(window):  # some combinations of values fail only with the types of all rows
            parquet.table([row.fields for row in part], types)
    for field in parquet.types_of([[added]]) if added else ():
        types = types.append(field)
    parquet.check_types(types)
    return types


@contextmanager
def open_table(path: Path, types: pa.Schema | None = None) -> Iterator[Write]:
    """Open a table that appears whole or not at all, and yield a function that appends records to it.

    Args:
        path: The output, with one of TABLE_SUFFIXES; "-" writes jsonl to standard output.
        types: What :func:`types_of` returned. Defaults to the types of the first records.
    """
    with _opened(path) as file:
        if path.suffix.lower() == ".parquet":
            with _parquet(file) as write:
                yield lambda records: write(_table(records, types))
        else:
            yield {".tsv": _tsv, ".csv": _csv}.get(path.suffix.lower(), _jsonl)(file)


@contextmanager
def open_vectors(path: Path, count: int, types: pa.Schema | None = None) -> Iterator[WriteVectors]:
    """Open a file of vectors that appears whole or not at all, and yield a function that appends rows to it.

    The function takes the fields of N rows and an (N, D) array; a npy file holds the vectors only.

    Args:
        path: The output, with one of VECTOR_SUFFIXES; "-" writes jsonl to standard output.
        count: The number of all rows.
        types: What :func:`types_of` returned.
    """
    with _opened(path) as file:
        if path.suffix.lower() == ".npy":
            yield _npy(file, count)
        elif path.suffix.lower() == ".parquet":
            from sbert.data.parquet import with_vectors

            with _parquet(file) as write:
                yield lambda records, vectors: write(with_vectors(_table(records, types), vectors))
        else:
            lines = _jsonl(file)
            yield lambda records, vectors: lines(
                [{**record, "embedding": vector} for record, vector in zip(records, numbers(vectors), strict=True)]
            )


def numbers(values: Array) -> list[Any]:
    """Return an array as lists of numbers with as few digits as identify every value exactly."""
    if values.ndim > 1:
        return [numbers(row) for row in values]
    if values.dtype.kind != "f":
        return list(values.tolist())
    return [float(digits) for digits in values.astype(str)]


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if path == STANDARD_OUTPUT:
        yield sys.stdout.buffer
    else:
        with whole_file(path) as file:
            yield file


def _is_unicode(value: object) -> bool:
    """Return whether a value can be encoded. JSON may escape one half of a surrogate pair."""
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
        csv.writer(buffer).writerow(fields)  # ends in \r\n, so that either character inside a text is quoted
        return buffer.getvalue()

    return _lines(file, line)


def _lines(file: IO[bytes], line: Callable[[list[str]], str]) -> Write:
    """Return a function that writes a header before the first record."""
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
        file.writelines(f"{json_text(record)}\n".encode() for record in records)

    return write


def _npy(file: IO[bytes], count: int) -> WriteVectors:
    started = False

    def write(records: Sequence[Record], vectors: Array) -> None:
        nonlocal started
        if not started:
            header = np.lib.format.header_data_from_array_1_0(vectors)
            np.lib.format.write_array_header_1_0(file, {**header, "shape": (count, vectors.shape[1])})
            started = True
        file.write(np.ascontiguousarray(vectors).data)

    return write


def _table(records: Sequence[Record], types: pa.Schema | None) -> pa.Table:
    from sbert.data import parquet

    return parquet.table(records, parquet.types_of([records]) if types is None else types)


@contextmanager
def _parquet(file: IO[bytes]) -> Iterator[Callable[[pa.Table], None]]:
    """Yield a function that writes a table as one row group."""
    import pyarrow.parquet as pq

    writer: pq.ParquetWriter | None = None

    def write(table: pa.Table) -> None:
        nonlocal writer
        writer = writer or pq.ParquetWriter(file, table.schema)
        writer.write_table(table.cast(writer.schema))

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()
