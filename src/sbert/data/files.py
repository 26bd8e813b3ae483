"""Reads the records of txt, tsv, csv, jsonl, json and parquet files. Knows formats only: not what a column means.

Lines are counted from 1, as editors count them; the rows of json and parquet, which have no lines, from 0.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from sbert.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

FORMATS = ("txt", "tsv", "csv", "jsonl", "json", "parquet")
Record = dict[str, Any]
Lines = Iterator[tuple[int, str]]
Records = Iterator[tuple[int, Record]]

_STSB = ("genre", "filename", "year", "id", "score", "sentence1", "sentence2")
_CHUNK = 8192
"""Rows of a parquet file that are Python objects at the same time."""


def format_of(path: str, formats: Sequence[str] = FORMATS) -> str:
    """The one of ``formats`` that the suffix of ``path`` tells.

    >>> format_of("snli_1.0_train.jsonl.gz")
    'jsonl'
    """
    if path == "-" or Path(path).is_dir():
        what = "standard input, which can be read only once" if path == "-" else "a folder"
        raise BadInput(f"{path!r} is {what}, but a file is needed here; name one")
    lower = Path(path.lower())
    packed = lower.suffix == ".gz"
    suffix = lower.with_suffix("").suffix if packed else lower.suffix
    if suffix[1:] not in formats or (packed and suffix == ".parquet"):
        raise BadInput(
            f"{path!r} has the suffix {''.join(lower.suffixes[-2:])!r}, but must end in "
            f"{', '.join(f'.{name}' for name in formats)} (all but .parquet also with .gz)"
        )
    return suffix[1:]


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked where it is a ``.gz``; damage found while reading is named."""
    if Path(path).is_dir():
        raise BadInput(f"{path!r} is a folder, but a file of texts is needed")
    try:
        stream = gzip.open(path) if path.lower().endswith(".gz") else open(path, "rb")  # noqa: SIM115 (closed below)
    except FileNotFoundError:
        raise BadInput(f"there is no file {path!r}") from None
    with stream:
        try:
            yield stream  # type: ignore[misc]  # GzipFile reads bytes like any other
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise BadInput(f"{path} is a damaged gzip file ({error}); fetch it again") from None


def records(stream: BinaryIO, name: str, kind: str) -> Records:
    """Every record with the number that :func:`place` names.

    Args:
        stream: what :func:`opened` gives.
        name: what to call it in messages.
        kind: one of FORMATS, where "txt" is a text a line; or "table": a tsv whose rows may end early.
    """
    if kind == "json":
        return _json(stream, name)
    if kind == "parquet":
        return _parquet(stream, name)
    return _READERS[kind](_lines(stream, name), name)


def place(name: str, kind: str, number: int) -> str:
    """Where a record stands, for messages."""
    return f"{name}, {'row' if kind in ('json', 'parquet') else 'line'} {number}"


def table(stream: BinaryIO, name: str) -> pa.Table:
    """A whole parquet file."""
    import pyarrow as pa

    try:
        return _parquet_file(stream).read()
    except pa.ArrowException as error:
        raise BadInput(f"{name} cannot be read as parquet ({error})") from None


def text(record: Record, column: str, where: str) -> str:
    """The text in ``column``; anything else is refused."""
    value = field(record, column, where)
    if not isinstance(value, str):
        kind = "null" if value is None else type(value).__name__
        raise BadInput(f"{where}: field {column!r} is {kind}, but must be text; drop the row or convert it")
    return value


def field(record: Record, column: str, where: str) -> Any:
    """The value in ``column``, which must be there."""
    if column not in record:
        raise BadInput(f"{where}: there is no field {column!r}, but {listed(list(record)) or 'nothing at all'}")
    return record[column]


def check_names(columns: Sequence[str], name: str) -> None:
    """Refuse a file without columns or with two of one name."""
    if not columns:
        raise BadInput(f"{name} has no columns, but one must hold the texts")
    if repeated := next((column for column in columns if list(columns).count(column) > 1), None):
        raise BadInput(f"{name} has more than one column {repeated!r}; give every column its own name")


def listed(names: Sequence[str]) -> str:
    """Names as they stand in messages."""
    return ", ".join(map(repr, names))


def not_utf8(error: UnicodeDecodeError, where: str) -> BadInput:
    """What to say of text in another encoding: which one it looks like, and how to convert it."""
    content, start = error.object, error.start
    likely = _likely_encoding(content)
    looks = f"it looks like {likely}: convert the file" if likely else "convert the file from what it was written in"
    way = f"iconv -f {likely or 'ENCODING'} -t UTF-8"
    return BadInput(f"{where}: byte {start + 1} ({content[start]:#04x}) is not UTF-8; {looks} with: {way}")


def _likely_encoding(content: bytes) -> str | None:
    if has_utf16_mark(content):
        return "UTF-16"
    try:
        text = content.decode("cp949")
    except UnicodeDecodeError:
        return None
    return "CP949" if any("가" <= letter <= "힣" for letter in text) else None  # of Korean Windows


def has_utf16_mark(content: bytes) -> bool:
    """Whether text begins as UTF-16 does, in either order of bytes."""
    return content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def _lines(stream: BinaryIO, name: str) -> Lines:
    """Decoded lines, line ends included. Only a line feed ends a line: texts may hold other separators of Unicode."""
    for number, line in enumerate(stream, 1):
        try:
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise not_utf8(error, f"{name}, line {number}") from None


def _bare(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def _txt(lines: Lines, name: str) -> Records:
    for number, line in lines:
        yield number, {"text": _bare(line)}


def _fields(lines: Lines) -> Iterator[tuple[int, list[str]]]:
    """No quoting: a quotation mark is a letter like any other."""
    return ((number, bare.split("\t")) for number, line in lines if (bare := _bare(line)))


def _tsv(lines: Lines, name: str) -> Records:
    return _with_header(_fields(lines), name)


def _table(lines: Lines, name: str) -> Records:
    """The txt files of SNLI and MultiNLI, where the last columns hold what only some rows have."""
    return _with_header(_fields(lines), name, short_rows=True)


def _csv(lines: Lines, name: str) -> Records:
    first = list(next(lines, ())[1:])
    lines = chain(((1, line) for line in first), lines)
    return _stsb(lines, name) if first and _is_stsb(first[0]) else _quoted(lines, name)


def _quoted(lines: Lines, name: str) -> Records:
    csv.field_size_limit(2**31 - 1)  # the default stops at texts of 131,072 letters
    # Not strict, an open quotation mark would swallow the rest of the file.
    reader = csv.reader((line for _, line in lines), strict=True)
    try:
        yield from _with_header(((reader.line_num, row) for row in reader if row), name)
    except csv.Error as error:
        raise BadInput(f"{name}, line {reader.line_num}: {error}; check the quotation marks of this row") from None


def _is_stsb(line: str) -> bool:
    fields = line.split("\t")
    return len(fields) >= len(_STSB) and fields[4].replace(".", "", 1).isdecimal()


def _stsb(lines: Lines, name: str) -> Records:
    """The STS benchmark as published: called csv, but with tabs and without header; some rows name their source."""
    for number, fields in _fields(lines):
        if len(fields) < len(_STSB):
            raise BadInput(f"{name}, line {number}: {len(fields)} fields, but the STS benchmark has {len(_STSB)}")
        yield number, dict(zip(_STSB, fields, strict=False))


def _with_header(rows: Iterator[tuple[int, list[str]]], name: str, short_rows: bool = False) -> Records:
    header = next(rows, (0, []))[1]
    if not header:
        return
    check_names(header, name)
    for number, row in rows:
        if len(row) != len(header) and not (short_rows and len(row) < len(header)):
            raise BadInput(f"{name}, line {number}: {len(row)} fields, but the header has {len(header)}")
        yield number, dict(zip(header, row, strict=False))


def _jsonl(lines: Lines, name: str) -> Records:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            reason = str(error).partition(":")[0]  # where it stands is counted from this line
            raise BadInput(f"{name}, line {number}: not JSON ({reason}); every line must be a JSON object") from None
        yield number, _object(record, f"{name}, line {number}")


def _json(stream: BinaryIO, name: str) -> Records:
    try:
        found = json.loads(stream.read().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise not_utf8(error, name) from None
    except ValueError as error:
        raise BadInput(f"{name} is not JSON ({error})") from None
    if not isinstance(found, list):
        raise BadInput(f"{name} holds a JSON {type(found).__name__}, but a list of objects is needed")
    for number, record in enumerate(found):
        yield number, _object(record, f"{name}, row {number}")


def _object(record: object, where: str) -> Record:
    if not isinstance(record, dict):
        kind = type(record).__name__
        raise BadInput(f'{where}: JSON {kind}, but an object such as {{"text": "..."}} is needed')
    return record


def _parquet(stream: BinaryIO, name: str) -> Records:
    import pyarrow as pa

    try:
        batches = _parquet_file(stream).iter_batches(_CHUNK)
        yield from enumerate(chain.from_iterable(batch.to_pylist() for batch in batches))
    except pa.ArrowException as error:
        raise BadInput(f"{name} cannot be read as parquet ({error})") from None


def _parquet_file(stream: BinaryIO) -> pq.ParquetFile:
    import pyarrow.parquet as pq

    return pq.ParquetFile(stream if stream.seekable() else io.BytesIO(stream.read()))


_READERS: dict[str, Callable[[Lines, str], Records]] = {
    "txt": _txt,
    "tsv": _tsv,
    "table": _table,
    "csv": _csv,
    "jsonl": _jsonl,
}
