"""Extracts the fields of a job from the records of a file, and refuses records without a text."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing
from typing import IO, NamedTuple

from sbert.bulk.inputs import opened, source
from sbert.bulk.job import ID, Columns, Input, Shard
from sbert.data.files import Lines, Place, Source
from sbert.data.formats import Record, attempts, explained
from sbert.data.rows import Row
from sbert.errors import BadInput, shown


class Refused(NamedTuple):
    """A row without a text."""

    file: str
    line: int
    """Number of the line, from 1; in parquet the number of the row, from 0."""
    reason: str


def fields_of(row: Row, columns: Columns, number: int) -> Record | Refused:
    """Return the id, the text and the kept fields of a row. ``number`` is the id if the job names no field for it."""
    try:
        name = number if columns.id is None else row.field(columns.id)
        if columns.id is not None and (isinstance(name, bool) or not isinstance(name, int | str) or name == ""):
            raise BadInput(f"{row.where}: the id is {shown(name)}, but must be a text or a whole number")
        record = {ID: name, columns.text: row.text(columns.text)}
        record |= {field: row.fields.get(field) for field in columns.keep}
    except BadInput as error:
        return Refused(row.source.name, row.number, str(error))
    if not _is_unicode(record):
        return Refused(row.source.name, row.number, f"{row.where}: the row is not UTF-8 or holds a lone surrogate")
    return record


def _is_unicode(record: Record) -> bool:
    try:
        for value in record.values():
            if isinstance(value, str):
                value.encode()
            elif not isinstance(value, int | float | None):
                json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return False
    return True


def checked(found: Source, number: int, record: Record | BadInput, columns: Columns, row: int) -> Record | Refused:
    """Return the fields of a record, or the reason why it is refused."""
    if isinstance(record, BadInput):
        return Refused(found.name, number, str(record))
    return fields_of(Row(record, found, number, (columns.text,)), columns, row)


def records_of(
    given: Input, start: Place | None = None, onward: IO[bytes] | None = None
) -> Generator[tuple[Lines, int, Record | BadInput], None, None]:
    """Yield the records of a file from a place on, or the errors of records that cannot be read.

    Each record comes with the lines of the file, which give the place after it.
    """
    found, last = source(given), None
    with explained(found, lambda: last), opened(given) as stream:
        lines = Lines(stream, found.name, lenient=True, onward=onward)
        for number, record in attempts(given.format, lines, start):
            last = number
            yield lines, number, record


class Reader:
    """Reads the rows of shards. A compressed file is decompressed once if shards are read in ascending order."""

    def __init__(self, inputs: tuple[Input, ...], columns: Columns) -> None:
        self._inputs, self._columns = inputs, columns
        self._open: tuple[int, ExitStack, IO[bytes]] | None = None

    def rows(self, shard: Shard) -> Iterator[Record]:
        """Yield the rows of a shard that have a text."""
        for stretch in shard.stretches:
            given, row, left = self._inputs[stretch.file], stretch.first, stretch.rows
            found = source(given)
            onward = self._kept_open(stretch.file) if stretch.start and given.path.lower().endswith(".gz") else None
            with closing(records_of(given, stretch.start, onward)) as records:
                for _, number, record in records:
                    taken = checked(found, number, record, self._columns, row)
                    row += 1
                    if not isinstance(taken, Refused):
                        yield taken
                        left -= 1
                    if not left:
                        break
            if left:
                raise BadInput(f"{found.name} has fewer rows than before, so it has changed; start the job again")

    def _kept_open(self, file: int) -> IO[bytes]:
        if self._open is None or self._open[0] != file:
            if self._open is not None:
                self._open[1].close()
            stack = ExitStack()
            self._open = file, stack, stack.enter_context(opened(self._inputs[file]))
        return self._open[2]
