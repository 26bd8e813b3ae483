"""Reads parquet files and builds tables in bounded memory. The only module that knows the types of pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sbert.data import files
from sbert.data.formats import Record, check_names, reason
from sbert.errors import BadInput, shown
from sbert.types import Array

_ROWS = 8192
"""Maximum number of rows that are decoded at a time."""
_VALUES_PER_BYTE, _COMPRESSION = 100, 1000
"""A file of texts never holds more values per byte, nor is it compressed further; gzip has about the same maximum."""
_BYTES_PER_VALUE = 64
"""A low estimate of what a value takes as a Python object."""


def records(stream: IO[bytes], name: str, first: int = 0) -> Iterator[Record]:
    """Yield the records of a file, or those from row ``first`` on.

    Equal texts of a batch are one Python object, because a file of a few hundred bytes can repeat a long text
    thousands of times.
    """
    plain = pq.ParquetFile(stream)
    check_names(plain.schema_arrow.names, name)
    for column in plain.schema_arrow:
        _check_zones(column.type, f"{name}, column {shown(column.name)}")
    deltas = _delta_columns(plain.metadata)
    size, rows = stream.seek(0, 2), _batch_size(plain.metadata, stream, name, deltas)
    leaves = [leaf for leaf in map(plain.schema.column, range(len(plain.schema))) if leaf.path not in deltas]
    texts = [
        leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY" and leaf.logical_type.type != "DECIMAL"
    ]
    file, total = pq.ParquetFile(stream, read_dictionary=texts), 0
    for group in range(file.num_row_groups):  # one by one, because pyarrow joins no dictionaries inside of lists
        if first >= (size_of_group := plain.metadata.row_group(group).num_rows):
            first -= size_of_group
            continue
        for whole in file.iter_batches(rows, [group]):
            batch, first = whole[first:], max(0, first - len(whole))
            total += _shared(batch) + _copied(batch)
            if total > max(files.limit(), size * _COMPRESSION):
                raise files.too_large(name, f"what {size:,} bytes expand to")
            for piece in _pieces(batch, name):
                columns = map(_values, piece.columns, plain.schema_arrow.types)
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


def _check_zones(type_: pa.DataType, where: str) -> None:
    """Refuse an unknown time zone, also inside of a list or struct; pyarrow would ask to install a package."""
    if pa.types.is_timestamp(type_) and type_.tz:
        try:
            pa.lib.string_to_tzinfo(type_.tz)
        except ValueError:
            zone = f"the time zone {shown(type_.tz)} is unknown"
            raise BadInput(
                f"{where}: {zone}, but one such as 'Asia/Seoul' or '+09:00' is needed; correct it"
            ) from None
    for place in range(type_.num_fields):
        _check_zones(type_.field(place).type, where)


def _delta_columns(metadata: pq.FileMetaData) -> set[str]:
    """Return the columns whose texts refer to the one before; pyarrow reads no dictionaries of them."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    columns = (group.column(place) for group in groups for place in range(group.num_columns))
    return {
        column.path_in_schema
        for column in columns
        if not {"DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"}.isdisjoint(column.encodings)
    }


def _batch_size(metadata: pq.FileMetaData, stream: IO[bytes], name: str, deltas: set[str]) -> int:
    """Return how many rows to decode at a time, and refuse a small file that claims to hold very much."""
    size, most = stream.seek(0, 2), _ROWS
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        decoded = 1
        for place, column in enumerate(map(group.column, range(group.num_columns))):
            plain = max(column.total_uncompressed_size, column.num_values * metadata.schema.column(place).length)
            suspicious = max(column.num_values / _VALUES_PER_BYTE, plain / _COMPRESSION) > size
            if suspicious and max(column.num_values * _BYTES_PER_VALUE, plain) > files.limit():
                claim = f"column {shown(column.path_in_schema)} claims {column.num_values:,} values"
                raise files.too_large(name, f"what {size:,} bytes expand to ({claim})")
            if column.path_in_schema in deltas:  # every value may repeat all of the one before it
                most = min(most, max(1, files.limit() // max(plain, 1)))
            decoded += plain
        most = min(most, files.limit() * max(group.num_rows, 1) // decoded)
    if not most:
        raise files.too_large(name, "the average row")
    return most


def _pieces(batch: pa.RecordBatch, name: str) -> Iterator[pa.RecordBatch]:
    """Halve a batch until no piece takes more memory than the limit."""
    if _copied(batch) <= files.limit():
        yield batch
    elif batch.num_rows == 1:
        raise files.too_large(name, "a row")
    else:
        middle = batch.num_rows // 2
        yield from _pieces(batch[:middle], name)
        yield from _pieces(batch[middle:], name)


def _shared(batch: pa.RecordBatch) -> int:
    """Return how many bytes the texts take of which there is only one copy."""
    return sum(column.dictionary.nbytes for column in batch.columns if isinstance(column, pa.DictionaryArray))


def _copied(batch: pa.RecordBatch) -> int:
    """Return how many bytes all other values take, such as the texts in lists, of which every row has its own copy."""
    return sum(_expanded(column) for column in batch.columns if not isinstance(column, pa.DictionaryArray))


def _expanded(column: pa.Array) -> int:
    if isinstance(column, pa.DictionaryArray):
        return pc.sum(pc.binary_length(column.dictionary).take(column.indices)).as_py() or 0
    if isinstance(column, pa.ExtensionArray):
        return _expanded(column.storage)
    if not pa.types.is_nested(column.type):
        return int(column.nbytes)
    if isinstance(column, pa.MapArray):  # its keys and items are those of all rows, also if it is a slice
        place = slice(column.offsets[0].as_py(), column.offsets[-1].as_py())
        return _expanded(column.keys[place]) + _expanded(column.items[place])
    parts = column.flatten()
    return sum(map(_expanded, parts if isinstance(parts, list) else [parts]))


def _values(column: pa.Array, stored: pa.DataType) -> list[Any]:
    if isinstance(column, pa.DictionaryArray):
        places = column.indices.to_pylist()
        words = {place: column.dictionary[place].as_py() for place in {*places} - {None}}
        return [words.get(place) for place in places]
    with suppress(
        pa.ArrowNotImplementedError
    ):  # pyarrow turns lists of dictionaries into lists of texts, not of views
        column = column.cast(_python_type(stored))  # many times as fast
    values: list[Any] = column.to_pylist()
    return values


def _python_type(type_: pa.DataType) -> pa.DataType:
    """Return text for nanoseconds, for which Python has no type, and any other type as it is."""
    return pa.string() if pa.types.is_timestamp(type_) and type_.unit == "ns" else type_
