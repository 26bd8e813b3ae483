"""Writes tables and vectors window by window in constant memory. Works on records and arrays, not on models."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

import numpy as np

from sbert.data.formats import Record
from sbert.data.rows import Row, Rows
from sbert.disk.files import check_writable, whole_file
from sbert.errors import BadInput, WrongUsage, shown
from sbert.text.display import json_text
from sbert.types import Array

if TYPE_CHECKING:
    import pyarrow as pa

STANDARD_OUTPUT = Path("-")
TABLE_SUFFIXES = (".tsv", ".csv", ".jsonl", ".parquet")
VECTOR_SUFFIXES = (".npy", ".parquet", ".jsonl")
_WINDOW = 4096  # records that are written together


class Write(Protocol):
    """Appends N records, and in a file of vectors an (N, D) array."""

    def __call__(self, records: Sequence[Record], vectors: Array | None = None, /) -> None:
        """Append to the file."""


def check_output(
    path: Path, suffixes: Collection[str], source: str | None = None, *, standard_output: bool = False
) -> None:
    """Raise an error, before any work, unless a file with one of ``suffixes`` can be written at ``path``.

    It must not replace the input, ``source``. With ``standard_output``, "-" is accepted as well.
    """
    if standard_output and path == STANDARD_OUTPUT:
        return
    if path.suffix.lower() not in suffixes:
        raise WrongUsage(f"the output {str(path)!r} must end in {', '.join(suffixes)}, but ends in {path.suffix!r}")
    check_writable(path)
    if source is not None and path.exists() and Path(source).exists() and path.samefile(source):
        raise BadInput(f"the output {str(path)!r} is the input, which it would replace; name another one")


def check_fields(path: Path, rows: Iterable[Row], columns: Sequence[str] | None = None) -> None:
    """Refuse, before any work, rows whose fields in ``columns``, by default in all, the output cannot hold."""
    for row in rows:
        record = row.fields if columns is None else {column: row.fields[column] for column in columns}
        check_record(path, record, row.where)


def check_record(path: Path, record: Record, where: str) -> None:
    """Refuse a record that the output cannot hold; ``where`` is its position, for the message."""
    if not _is_unicode(record):
        field = next(name for name, value in record.items() if not _is_unicode([name, value]))
        raise BadInput(
            f"{where}: field {shown(field)} holds a lone surrogate, which is no Unicode character; repair or drop it"
        )
    written = (name + _cell(value) for name, value in record.items())
    if path.suffix.lower() == ".tsv" and any(mark in field for field in written for mark in "\t\r\n"):
        raise BadInput(f"{where}: a text has a tab or a line break, which tsv cannot hold; write .csv or .jsonl")


def types_of(path: Path, rows: Rows, window: int, added: Record | None = None) -> pa.Schema | None:
    """Return the types of a parquet output, found before any work; None for other formats.

    The rows of a parquet file keep their types; those of other files are read ``window`` at a time. ``added`` is an
    example of the fields that are written beside those of the rows.
    """
    if path.suffix.lower() != ".parquet":
        return None
    import pyarrow.parquet as pq

    from sbert.data import parquet

    if rows.source.format == "parquet":
        with rows.source.opened() as stream:
            types = pq.read_schema(stream)
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

    The path has one of TABLE_SUFFIXES, or is "-" for jsonl on standard output. The types are those that
    :func:`types_of` returned, by default those of the first records.
    """
    suffix = path.suffix.lower()
    with nullcontext[IO[bytes]](sys.stdout.buffer) if path == STANDARD_OUTPUT else whole_file(path) as file:
        if suffix == ".parquet":
            from sbert.data.parquet import appending

            with appending(file, types) as write:
                yield write
        elif suffix in (".tsv", ".csv"):
            yield partial(_delimited, file, suffix)
        else:
            yield partial(_jsonl, file)


def write_records(path: Path, records: Sequence[Record], fields: Sequence[str]) -> None:
    """Write a table with these fields, which appears whole or not at all; it may have no rows."""
    suffix = path.suffix.lower()
    windows = [records[start : start + _WINDOW] for start in range(0, len(records), _WINDOW)]
    types = None
    if suffix == ".parquet":
        from sbert.data import parquet

        types = parquet.types_of(windows or [[dict.fromkeys(fields, "")]])
    if not records and suffix in (".tsv", ".csv"):
        with whole_file(path) as file:
            file.write(_line(fields, suffix))
        return
    with open_table(path, types) as write:
        for part in windows or [[]]:
            write([{name: record.get(name) for name in fields} for record in part])


@contextmanager
def open_vectors(path: Path, count: int, types: pa.Schema | None = None) -> Iterator[Write]:
    """Open a file of ``count`` vectors like a table, with one of VECTOR_SUFFIXES.

    A npy file holds the vectors only; in other formats they are the field "embedding" of each record.
    """
    if path.suffix.lower() == ".npy":
        with whole_file(path) as file:
            yield partial(_npy, file, count)
    else:
        with open_table(path, types) as write:
            yield write


def numbers(values: Array) -> list[Any]:
    """Return an array as lists of numbers with as few digits as identify every value exactly."""
    if values.ndim > 1:
        return [numbers(row) for row in values]
    if values.dtype.kind != "f":
        return list(values.tolist())
    return [float(digits) for digits in values.astype(str)]


def _is_unicode(value: object) -> bool:
    """Return whether a value can be encoded. JSON may escape one half of a surrogate pair."""
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return False
    return True


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _line(fields: Iterable[object], suffix: str) -> bytes:
    cells = [_cell(value) for value in fields]
    if suffix == ".tsv":
        return ("\t".join(cells) + "\n").encode()
    buffer = io.StringIO()
    csv.writer(buffer).writerow(cells)  # ends in \r\n, so that either character inside a text is quoted
    return buffer.getvalue().encode()


def _delimited(file: IO[bytes], suffix: str, records: Sequence[Record], vectors: Array | None = None) -> None:
    if records and not file.tell():
        file.write(_line(records[0], suffix))
    file.writelines(_line(record.values(), suffix) for record in records)


def _jsonl(file: IO[bytes], records: Sequence[Record], vectors: Array | None = None) -> None:
    if vectors is not None:
        pairs = zip(records, numbers(vectors), strict=True)
        records = [{**record, "embedding": vector} for record, vector in pairs]
    file.writelines(f"{json_text(record)}\n".encode() for record in records)


def _npy(file: IO[bytes], count: int, records: Sequence[Record], vectors: Array) -> None:
    if not file.tell():
        header = np.lib.format.header_data_from_array_1_0(vectors)
        np.lib.format.write_array_header_1_0(file, {**header, "shape": (count, vectors.shape[1])})
    file.write(np.ascontiguousarray(vectors).data)
