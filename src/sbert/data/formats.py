"""Reads the records of txt, tsv, csv, jsonl, json and parquet files one by one. Does not know what a column means."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any
from unicodedata import normalize

from sbert.data import files
from sbert.data.files import Lines, Place, Source
from sbert.errors import BadInput, SbertError, counted, shown

Record = dict[str, Any]
Records = Iterator[tuple[int, Record]]
Attempts = Iterator[tuple[int, Record | BadInput]]
"""Numbered records, and an error in the place of each one that cannot be read although those behind it can."""

_BYTES_PER_PART = 25
"""The limit allows one value of a row or of JSON per so many bytes: it may take one in a file, but many in memory."""
_STSB = ("genre", "filename", "year", "id", "score", "sentence1", "sentence2")


def records(source: Source) -> Records:
    """Yield every record, at least one, with its number, which :meth:`Source.place` turns into words.

    Whatever the libraries raise about the contents becomes a BadInput that names the file and the record.
    """
    number = None
    with explained(source, lambda: number), source.opened() as stream:
        for number, record in attempts(source.format, Lines(stream, source.name)):
            if isinstance(record, BadInput):
                raise record
            yield number, record
        if number is None:
            raise BadInput(f"{source.name} is empty, but at least one row is needed")


def attempts(format: str, lines: Lines, start: Place | None = None) -> Attempts:
    """Yield every record of a stream, or every one behind a place, with the errors of those that cannot be read."""
    return _READERS[format](lines, start)


@contextmanager
def explained(source: Source, last: Callable[[], int | None]) -> Iterator[None]:
    """Turn what libraries raise about a file into a BadInput that names the file and the record after ``last``."""
    try:
        yield
    except (SbertError, GeneratorExit):
        raise
    except Exception as error:
        number = last()
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


def _from(lines: Lines, start: Place | None) -> Lines:
    if start is not None:
        lines.jump(start)
    return lines


def _txt(lines: Lines, start: Place | None) -> Attempts:
    for number, line in _from(lines, start):
        yield number, {"text": _strip(line)}


def _tsv(lines: Lines, start: Place | None, short_rows: bool = False) -> Attempts:
    return _with_header(_split(lines, lines.name), lines, start, short_rows)


def _split(lines: Iterable[tuple[int, str]], name: str) -> Iterator[tuple[int, list[str]]]:
    """Split lines at their tabs. There is no quoting: a quotation mark is an ordinary character."""
    for number, line in lines:
        if stripped := _strip(line):
            _check_parts(stripped.count("\t"), "tabs", f"{name}, line {number}")
            yield number, stripped.split("\t")


def _csv(lines: Lines, start: Place | None) -> Attempts:
    first = next(lines, (1, ""))
    fields = first[1].split("\t", len(_STSB))
    if len(fields) >= len(_STSB) and fields[4].replace(".", "", 1).isdecimal():
        return _stsb(chain([first], lines) if start is None else _from(lines, start), lines.name)
    return _with_header(_quoted(first, lines), lines, start)


def _quoted(first: tuple[int, str], lines: Lines) -> Iterator[tuple[int, list[str] | BadInput]]:
    csv.field_size_limit(min(files.limit(), 2**31 - 1))  # the default of 131,072 characters is too little for texts
    held = commas = 0

    def bounded() -> Iterator[str]:
        nonlocal held, commas
        for _, line in chain([first], lines):
            held += len(line)
            commas += line.count(",")
            if held > files.limit():
                raise files.too_large(lines.where, "the row that ends here or later")
            _check_parts(commas, "commas", lines.where)
            yield line

    # Without strict=True, an unclosed quotation mark would swallow the rest of the file.
    reader = csv.reader(bounded(), strict=True)
    while True:
        try:
            row: list[str] | BadInput | None = next(reader, None)
        except csv.Error as error:
            row = BadInput(f"{lines.where}: {error}; check the quotation marks of this row")
            if "unexpected end" in str(error):  # the row would contain the rest of the file
                raise row from None
        if row is None:
            return
        held = commas = 0
        if row:
            yield lines.number, row


def _stsb(lines: Iterable[tuple[int, str]], name: str) -> Attempts:
    """Read the STS benchmark as published: named csv, but with tabs and no header; some rows also name a source."""
    for number, fields in _split(lines, name):
        if len(fields) < len(_STSB):
            have = f"{counted(len(fields), 'field')}, but the STS benchmark has {len(_STSB)}"
            yield number, BadInput(f"{name}, line {number}: {have}")
        else:
            yield number, dict(zip(_STSB, fields, strict=False))


def _with_header(
    rows: Iterator[tuple[int, list[str] | BadInput]] | Iterator[tuple[int, list[str]]],
    lines: Lines,
    start: Place | None,
    short_rows: bool = False,
) -> Attempts:
    header = next(rows, (0, []))[1]
    if isinstance(header, BadInput):
        raise header
    if not header:
        return
    check_names(header, lines.name)
    _from(lines, start)
    for number, row in rows:
        if isinstance(row, BadInput):
            yield number, row
        elif len(row) != len(header) and not (short_rows and len(row) < len(header)):
            have = f"{counted(len(row), 'field')}, but the header has {len(header)}"
            yield number, BadInput(f"{lines.name}, line {number}: {have}")
        else:
            yield number, dict(zip(header, row, strict=False))


def _jsonl(lines: Lines, start: Place | None) -> Attempts:
    for number, line in _from(lines, start):
        if line.strip():
            yield number, _json_record(line, lines.where)


def _json_record(line: str, where: str) -> Record | BadInput:
    try:
        return _object(_parsed(line, where), where)
    except BadInput as error:
        return error
    except (ValueError, RecursionError) as error:
        why = reason(error).partition(":")[0]  # the rest counts characters from the start of this line
        return BadInput(f"{where}: not JSON ({why}); every line must be a JSON object")


def _json(lines: Lines, start: Place | None) -> Attempts:
    name = lines.name
    try:
        found = _parsed(files.document(lines.stream, name).decode("utf-8-sig"), name)
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


def _parquet(lines: Lines, start: Place | None) -> Attempts:
    from sbert.data import parquet

    first = 0 if start is None else start.number
    return enumerate(parquet.records(lines.stream, lines.name, first), first)


_READERS: dict[str, Callable[[Lines, Place | None], Attempts]] = {
    "txt": _txt,
    "tsv": _tsv,
    "table": partial(_tsv, short_rows=True),
    "csv": _csv,
    "jsonl": _jsonl,
    "json": _json,
    "parquet": _parquet,
}
