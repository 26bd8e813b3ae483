"""Reads the records of txt, tsv, csv, jsonl, json and parquet files one by one. Does not know what a column means."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import IO, Any
from unicodedata import normalize

from sbert.data import files
from sbert.data.files import Source
from sbert.errors import BadInput, SbertError, counted, shown

Record = dict[str, Any]
Lines = Iterator[tuple[int, str]]
Records = Iterator[tuple[int, Record]]

_BYTES_PER_PART = 25
"""The limit allows one value of a row or of JSON per so many bytes: it may take one in a file, but many in memory."""
_STSB = ("genre", "filename", "year", "id", "score", "sentence1", "sentence2")


def records(source: Source) -> Records:
    """Yield every record, at least one, with its number, which :meth:`Source.place` turns into words.

    Whatever the libraries raise about the contents becomes a BadInput that names the file and the record.
    """
    number = None
    try:
        with source.opened() as stream:
            for number, record in _READERS[source.format](stream, source.name):
                yield number, record
        if number is None:
            raise BadInput(f"{source.name} is empty, but at least one row is needed")
    except SbertError:
        raise
    except Exception as error:
        where = source.name if number is None else f"{source.place(number)} or the one after it"
        raise BadInput(f"{where} cannot be read as {source.format} ({reason(error)})") from None


def check_names(columns: Sequence[str], name: str) -> None:
    """Refuse a table without columns, or with two columns of the same name, in whatever Unicode form."""
    if not columns:
        raise BadInput(f"{name} has no columns, but one must hold the texts")
    for column, uses in Counter(normalize("NFC", column) for column in columns).items():
        if uses > 1:
            forms = " in other Unicode forms" if len(set(columns)) == len(columns) else ""
            raise BadInput(f"{name} has more than one column {shown(column)}{forms}; give every column its own name")


def reason(error: Exception) -> str:
    """Return the first line of a library's message."""
    message = next(iter(str(error).splitlines()), "")[:200] or type(error).__name__
    return "".join(letter if letter.isprintable() else "?" for letter in message)


def _strip(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def _txt(stream: IO[bytes], name: str) -> Records:
    for number, line in files.lines(stream, name):
        yield number, {"text": _strip(line)}


def _tsv(stream: IO[bytes], name: str, short_rows: bool = False) -> Records:
    return _with_header(_split(files.lines(stream, name), name), name, short_rows)


def _split(lines: Lines, name: str) -> Iterator[tuple[int, list[str]]]:
    """Split lines at their tabs. There is no quoting: a quotation mark is an ordinary character."""
    for number, line in lines:
        if stripped := _strip(line):
            _check_parts(stripped.count("\t"), "tabs", f"{name}, line {number}")
            yield number, stripped.split("\t")


def _csv(stream: IO[bytes], name: str) -> Records:
    lines = files.lines(stream, name)
    first = next(lines, (1, ""))
    fields = first[1].split("\t", len(_STSB))
    is_stsb = len(fields) >= len(_STSB) and fields[4].replace(".", "", 1).isdecimal()
    return (_stsb if is_stsb else _quoted)(chain([first], lines), name)


def _quoted(lines: Lines, name: str) -> Records:
    csv.field_size_limit(min(files.limit(), 2**31 - 1))  # the default of 131,072 characters is too little for texts
    held = commas = 0

    def bounded() -> Iterator[str]:
        nonlocal held, commas
        for number, line in lines:
            held += len(line)
            commas += line.count(",")
            if held > files.limit():
                raise files.too_large(f"{name}, line {number}", "the row that ends here or later")
            _check_parts(commas, "commas", f"{name}, line {number}")
            yield line

    def rows() -> Iterator[tuple[int, list[str]]]:
        nonlocal held, commas
        for row in reader:
            held = commas = 0
            if row:
                yield reader.line_num, row

    # Without strict=True, an unclosed quotation mark would swallow the rest of the file.
    reader = csv.reader(bounded(), strict=True)
    try:
        yield from _with_header(rows(), name)
    except csv.Error as error:
        raise BadInput(f"{name}, line {reader.line_num}: {error}; check the quotation marks of this row") from None


def _stsb(lines: Lines, name: str) -> Records:
    """Read the STS benchmark as published: named csv, but with tabs and no header; some rows also name a source."""
    for number, fields in _split(lines, name):
        if len(fields) < len(_STSB):
            raise BadInput(
                f"{name}, line {number}: {counted(len(fields), 'field')}, but the STS benchmark has {len(_STSB)}"
            )
        yield number, dict(zip(_STSB, fields, strict=False))


def _with_header(rows: Iterator[tuple[int, list[str]]], name: str, short_rows: bool = False) -> Records:
    header = next(rows, (0, []))[1]
    if not header:
        return
    check_names(header, name)
    for number, row in rows:
        if len(row) != len(header) and not (short_rows and len(row) < len(header)):
            raise BadInput(f"{name}, line {number}: {counted(len(row), 'field')}, but the header has {len(header)}")
        yield number, dict(zip(header, row, strict=False))


def _jsonl(stream: IO[bytes], name: str) -> Records:
    for number, line in files.lines(stream, name):
        if not line.strip():
            continue
        try:
            record = _parsed(line, f"{name}, line {number}")
        except SbertError:
            raise
        except (ValueError, RecursionError) as error:
            why = reason(error).partition(":")[0]  # the rest counts characters from the start of this line
            raise BadInput(f"{name}, line {number}: not JSON ({why}); every line must be a JSON object") from None
        yield number, _object(record, f"{name}, line {number}")


def _json(stream: IO[bytes], name: str) -> Records:
    try:
        found = _parsed(files.document(stream, name).decode("utf-8-sig"), name)
    except UnicodeDecodeError as error:
        raise files.not_utf8(error, name) from None
    except SbertError:
        raise
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name} is not JSON ({reason(error)})") from None
    if not isinstance(found, list):
        raise BadInput(f"{name} holds a JSON {type(found).__name__}, but a list of objects is needed")
    for number, record in enumerate(found):
        yield number, _object(record, f"{name}, row {number}")


def _parsed(text: str, where: str) -> Any:
    """Parse JSON, unless it has so many brackets and commas, be it inside of texts, that it could take gigabytes."""
    _check_parts(sum(map(text.count, "[{,")), "brackets and commas", where)
    return json.loads(text)


def _check_parts(parts: int, what: str, where: str) -> None:
    """Refuse what would be divided into so many values that they take gigabytes, before it is divided."""
    most = files.limit() // _BYTES_PER_PART
    if parts > most:
        raise BadInput(
            f"{where}: {parts:,} {what}, but at most {most:,} are read at once; split it, or set "
            "SBERT_DATA_LIMIT_MB to a higher limit"
        )


def _object(record: object, where: str) -> Record:
    if not isinstance(record, dict):
        kind = type(record).__name__
        raise BadInput(f'{where}: JSON {kind}, but an object such as {{"text": "..."}} is needed')
    return record


def _parquet(stream: IO[bytes], name: str) -> Records:
    from sbert.data import parquet

    return enumerate(parquet.records(stream, name))


_READERS: dict[str, Callable[[IO[bytes], str], Records]] = {
    "txt": _txt,
    "tsv": _tsv,
    "table": partial(_tsv, short_rows=True),
    "csv": _csv,
    "jsonl": _jsonl,
    "json": _json,
    "parquet": _parquet,
}
