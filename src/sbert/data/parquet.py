"""Reads parquet files and builds tables in bounded memory. The only module that knows the types of pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from sbert.data import files
from sbert.data.formats import Record, check_names, reason
from sbert.errors import BadInput, shown
from sbert.types import Array

_ROWS = 8192
"""Maximum number of rows that are decoded at a time."""
_VALUES_PER_BYTE, _COMPRESSION = 100, 1000
"""A file of texts never holds more values per byte, nor is it compressed further; gzip has about the same maximum."""
_TEXTS = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
_BYTES_PER_VALUE = 64
"""A low estimate of what a value takes as a Python object."""


def records(stream: IO[bytes], name: str) -> Iterator[Record]:
    """Yield the records of a file.

    Equal texts of a batch are one Python object, because a file of a few hundred bytes can repeat a long text
    thousands of times.
    """
    plain = pq.ParquetFile(stream)
    check_names(plain.schema_arrow.names, name)
    rows = _batch_size(plain.metadata, stream, name)
    texts = [field.name for field in plain.schema_arrow if field.type in _TEXTS]
    for batch in pq.ParquetFile(stream, read_dictionary=texts).iter_batches(rows):
        columns = [_values(column) for column in batch.columns]
        for row in zip(*columns, strict=True):
            yield dict(zip(batch.schema.names, row, strict=True))


def types_of(windows: Iterable[Sequence[Record]]) -> pa.Schema:
    """Return the smallest types that hold every record."""
    types = pa.schema([])
    with _making_table():
        for window in windows:
            types = pa.unify_schemas([types, pa.Table.from_pylist(list(window)).schema], promote_options="permissive")
    return types


def check_types(types: pa.Schema) -> None:
    """Refuse types that a parquet file cannot hold, such as that of an object without fields."""
    with _making_table():
        pq.write_table(types.empty_table(), pa.BufferOutputStream())


def table(records: Sequence[Record], types: pa.Schema) -> pa.Table:
    """Return records as a table; a field that a record lacks is null."""
    built = pa.schema([field.with_type(_python_type(field.type)) for field in types], metadata=types.metadata)
    with _making_table():
        return pa.Table.from_pylist(list(records), schema=built).cast(types)


@contextmanager
def appending(file: IO[bytes], types: pa.Schema | None) -> Iterator[Callable[..., None]]:
    """Yield a function that writes records, and optionally their vectors as "embedding", as one row group."""
    writer: pq.ParquetWriter | None = None

    def write(records: Sequence[Record], vectors: Array | None = None) -> None:
        nonlocal writer
        rows = table(records, types_of([records]) if types is None else types)
        if vectors is not None:
            embedding = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
            rows = rows.append_column("embedding", embedding)
        writer = writer or pq.ParquetWriter(file, rows.schema)
        writer.write_table(rows.cast(writer.schema))

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


@contextmanager
def _making_table() -> Iterator[None]:
    """Turn what pyarrow raises about values that do not fit into one table into a BadInput."""
    try:
        yield
    except (pa.ArrowException, OverflowError, TypeError, RecursionError) as error:
        raise BadInput(
            f"the fields make no table ({reason(error)}), but parquet needs one; write .jsonl instead"
        ) from None


def _batch_size(metadata: pq.FileMetaData, stream: IO[bytes], name: str) -> int:
    """Return how many rows to decode at a time, and refuse a small file that claims to hold very much."""
    size, most = stream.seek(0, 2), _ROWS
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            expanded = max(column.num_values * _BYTES_PER_VALUE, column.total_uncompressed_size)
            suspicious = (
                max(column.num_values / _VALUES_PER_BYTE, column.total_uncompressed_size / _COMPRESSION) > size
            )
            if suspicious and expanded > files.limit():
                claim = f"column {shown(column.path_in_schema)} claims {column.num_values:,} values"
                raise files.too_large(name, f"what {size:,} bytes expand to ({claim})")
        most = min(most, files.limit() * max(group.num_rows, 1) // max(group.total_byte_size, 1))
    if not most:
        raise files.too_large(name, "the average row")
    return most


def _values(column: pa.Array) -> list[Any]:
    if isinstance(column, pa.DictionaryArray):
        places = column.indices.to_pylist()
        words = {place: column.dictionary[place].as_py() for place in {*places} - {None}}
        return [words.get(place) for place in places]
    values: list[Any] = column.cast(_python_type(column.type)).to_pylist()
    return values


def _python_type(type_: pa.DataType) -> pa.DataType:
    """Return text for nanoseconds, for which Python has no type, and any other type as it is."""
    return pa.string() if pa.types.is_timestamp(type_) and type_.unit == "ns" else type_
