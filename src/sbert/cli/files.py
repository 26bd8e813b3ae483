"""Reads texts, and the fields beside them, from txt, tsv, csv, jsonl and parquet. Knows files only: no model.

Lines are counted from 1, as editors count them; rows from 0, as the vectors are.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from sbert.errors import BadInput, BadOption, check_option

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = ("txt", "tsv", "csv", "jsonl", "parquet")
Record = dict[str, Any]
Lines = Iterator[tuple[int, str]]
Records = Iterator[tuple[int, Record]]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of one file: the texts, and everything else that stands beside them."""

    texts: list[str]
    fields: list[Record] | pa.Table

    @property
    def columns(self) -> list[str]:
        """The names of all fields, in the order in which they first appear."""
        if isinstance(self.fields, list):
            return list(dict.fromkeys(name for record in self.fields for name in record))
        return list(self.fields.column_names)

    def records(self) -> Iterator[Record]:
        """Row by row."""
        if isinstance(self.fields, list):
            yield from self.fields
        else:
            for batch in self.fields.to_batches():
                yield from batch.to_pylist()

    def table(self) -> pa.Table:
        """As columns; a field that a row lacks is null there."""
        import pyarrow as pa

        if not isinstance(self.fields, list):
            return self.fields
        try:
            return pa.table({name: [record.get(name) for record in self.fields] for name in self.columns})
        except pa.ArrowException as error:
            raise BadInput(
                f"the fields make no table ({error}), but parquet needs one; write .jsonl instead"
            ) from None


def read(source: str, column: str | None = None, kind: str | None = None) -> Rows:
    """The rows of ``source``, a path or "-" for standard input.

    Args:
        source: the format is told by its suffix; standard input is txt.
        column: which field holds the texts; ``text`` or ``sentence`` or the only one unless named.
        kind: one of FORMATS, whatever the suffix says.
    """
    name = "standard input" if source == "-" else source
    kind = _kind(source, kind)
    try:
        with _opened(source) as stream:
            rows = (
                _read_parquet(stream, name, column) if kind == "parquet" else _read_lines(stream, name, column, kind)
            )
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadInput(f"{name} is a damaged gzip file ({error}); fetch it again") from None
    if not rows.texts:
        raise BadInput(f"{name} is empty, but at least one text is needed")
    return rows


def _kind(source: str, kind: str | None) -> str:
    if kind is not None:
        check_option("--format", kind, FORMATS)
        return kind
    if source == "-":
        return "txt"
    path = Path(source.lower())
    packed = path.suffix == ".gz"
    suffix = path.with_suffix("").suffix if packed else path.suffix
    if suffix[1:] not in FORMATS or (packed and suffix == ".parquet"):
        raise BadInput(
            f"{source!r} has the suffix {''.join(path.suffixes[-2:])!r}, but must end in {_listed(FORMATS, '.')} "
            "(all but .parquet also with .gz); or name the format with --format"
        )
    return suffix[1:]


@contextmanager
def _opened(source: str) -> Iterator[BinaryIO]:
    if source == "-":
        yield sys.stdin.buffer
        return
    path = Path(source)
    if path.is_dir():
        raise BadInput(f"{source!r} is a folder, but a file of texts is needed")
    try:
        stream = gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")  # noqa: SIM115 (closed below)
    except FileNotFoundError:
        raise BadInput(f"there is no file {source!r}") from None
    with stream:
        yield stream  # type: ignore[misc]  # GzipFile reads bytes like any other


def _read_lines(stream: BinaryIO, name: str, column: str | None, kind: str) -> Rows:
    texts: list[str] = []
    records: list[Record] = []
    for line, record in _READERS[kind](_lines(stream, name), name):
        if not records:
            column = choose_column(list(record), column, name)
        assert column is not None
        texts.append(_text(record, column, f"{name}, line {line}"))
        records.append(record)
    return Rows(texts, records)


def _read_parquet(stream: BinaryIO, name: str, column: str | None) -> Rows:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(stream if stream.seekable() else io.BytesIO(stream.read())).read()
    except pa.ArrowException as error:
        raise BadInput(f"{name} cannot be read as parquet ({error})") from None
    column = choose_column(table.column_names, column, name)
    values = table.column(column).to_pylist()
    return Rows([_text({column: value}, column, f"{name}, row {row}") for row, value in enumerate(values)], table)


def choose_column(columns: Sequence[str], asked: str | None, name: str) -> str:
    """The column that holds the texts: the one asked for, or the only one it can be."""
    _check_names(columns, name)
    if asked is not None and asked not in columns:
        raise BadOption(f"--column for {name}", asked, columns)
    usual = [column for column in ("text", "sentence") if column in columns]
    candidates = [asked] if asked is not None else usual or columns
    if len(candidates) > 1 and not usual:
        raise BadInput(f"{name} has the columns {_listed(columns)}; say which one holds the texts with --column")
    return candidates[0]


def _check_names(columns: Sequence[str], name: str) -> None:
    if not columns:
        raise BadInput(f"{name} has no columns, but one must hold the texts")
    if repeated := next((column for column in columns if list(columns).count(column) > 1), None):
        raise BadInput(f"{name} has more than one column {repeated!r}; give every column its own name")


def _text(record: Record, column: str, where: str) -> str:
    if column not in record:
        raise BadInput(f"{where}: there is no field {column!r}, but {_listed(list(record)) or 'nothing at all'}")
    value = record[column]
    if not isinstance(value, str):
        kind = "null" if value is None else type(value).__name__
        raise BadInput(f"{where}: field {column!r} is {kind}, but must be text; drop the row or convert it")
    return value


def _lines(stream: BinaryIO, name: str) -> Lines:
    """Decoded lines, line ends included. Only a line feed ends a line: texts may hold other separators of Unicode."""
    for number, line in enumerate(stream, 1):
        try:
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(
                f"{name}, line {number}: byte {error.start + 1} ({line[error.start]:#04x}) is not UTF-8; "
                "convert the file, for example with: iconv -f cp949 -t utf-8"
            ) from None


def _bare(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def _txt(lines: Lines, name: str) -> Records:
    for number, line in lines:
        yield number, {"text": _bare(line)}


def _tsv(lines: Lines, name: str) -> Records:
    """No quoting: a quotation mark is a letter like any other."""
    return _with_header(((number, _bare(line).split("\t")) for number, line in lines if _bare(line)), name)


def _csv(lines: Lines, name: str) -> Records:
    csv.field_size_limit(2**31 - 1)  # the default stops at texts of 131,072 letters
    # Not strict, an open quotation mark would swallow the rest of the file.
    reader = csv.reader((line for _, line in lines), strict=True)
    try:
        yield from _with_header(((reader.line_num, row) for row in reader if row), name)
    except csv.Error as error:
        raise BadInput(f"{name}, line {reader.line_num}: {error}; check the quotation marks of this row") from None


def _with_header(rows: Iterator[tuple[int, list[str]]], name: str) -> Records:
    header = next(rows, (0, []))[1]
    if not header:
        return
    _check_names(header, name)
    for number, row in rows:
        if len(row) != len(header):
            raise BadInput(f"{name}, line {number}: {len(row)} fields, but the header has {len(header)}")
        yield number, dict(zip(header, row, strict=True))


def _jsonl(lines: Lines, name: str) -> Records:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise BadInput(f"{name}, line {number}: not JSON ({error})") from None
        if not isinstance(record, dict):
            kind = type(record).__name__
            raise BadInput(f'{name}, line {number}: JSON {kind}, but an object such as {{"text": "..."}} is needed')
        yield number, record


def _listed(names: Sequence[str], prefix: str = "") -> str:
    return ", ".join(prefix + name if prefix else repr(name) for name in names)


_READERS: dict[str, Callable[[Lines, str], Records]] = {"txt": _txt, "tsv": _tsv, "csv": _csv, "jsonl": _jsonl}
