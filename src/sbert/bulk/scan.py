"""Reads the whole input once before any work, to find bad rows, the types of all columns, and the shards."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from sbert.bulk.inputs import opened, source
from sbert.bulk.job import ID, Columns, Input, Plan, Settings, Shard, Stretch
from sbert.bulk.rows import Refused, checked, records_of
from sbert.data import parquet
from sbert.data.files import Place, Source
from sbert.data.formats import Record
from sbert.data.shapes import text_columns
from sbert.errors import BadInput, listed, shown

if TYPE_CHECKING:
    import pyarrow as pa

_FEWEST_ROWS, _MOST_ROWS, _SHARDS = 1024, 65_536, 128
_MOST_CHARACTERS = 1 << 26
"""Number of characters after which a shard ends, regardless of its number of rows."""
_WINDOW = 4096
_TEXT_FORMATS = ("txt", "tsv", "csv")


class Cutter:
    """Cuts the input into shards. Their number stays below 129 until they have 65,536 rows."""

    def __init__(self, rows_per_shard: int | None) -> None:
        self._size = rows_per_shard or _FEWEST_ROWS
        self._fixed = rows_per_shard is not None
        self._shards: list[Shard] = []
        self._row = self._rows = self._characters = 0
        self._stretches: list[Stretch] = []

    def begin(self, file: int, start: Place | None) -> None:
        """Begin a stretch of rows."""
        self._stretches.append(Stretch(file, start, self._row, 0))

    def count(self, characters: int | None) -> bool:
        """Count a row, and return whether the shard ends with it. ``characters`` is None for a row without a text."""
        self._row += 1
        if characters is None:
            return False
        self._characters += characters
        self._rows += 1
        last = self._stretches[-1]
        self._stretches[-1] = last._replace(rows=last.rows + 1)
        if self._rows < self._size and self._characters < _MOST_CHARACTERS:
            return False
        self._end()
        return True

    def _end(self) -> None:
        """Append the current shard, and merge neighbouring shards in pairs if there are too many."""
        stretches = tuple(stretch for stretch in self._stretches if stretch.rows)
        if stretches:
            self._shards.append(Shard(0, self._rows, self._characters, stretches))
        self._stretches, self._rows, self._characters = [], 0, 0
        if len(self._shards) >= _SHARDS and self._size < _MOST_ROWS and not self._fixed:
            self._size *= 2
            self._shards = [shard for pair in _pairs(self._shards) for shard in _merged(pair)]

    def finish(self) -> tuple[Shard, ...]:
        """Return all shards."""
        self._end()
        return tuple(replace(shard, number=number) for number, shard in enumerate(self._shards))


def _pairs(shards: list[Shard]) -> Iterator[list[Shard]]:
    return (shards[start : start + 2] for start in range(0, len(shards), 2))


def _merged(pair: list[Shard]) -> list[Shard]:
    """Merge two consecutive shards, unless their texts are too long together."""
    if len(pair) < 2 or sum(shard.characters for shard in pair) > _MOST_CHARACTERS:
        return pair
    first, second = pair
    (*before, last), (next_, *after) = first.stretches, second.stretches
    joined = [last._replace(rows=last.rows + next_.rows)] if last.file == next_.file else [last, next_]
    rows, characters = first.rows + second.rows, first.characters + second.characters
    return [Shard(0, rows, characters, (*before, *joined, *after))]


class Scan:
    """One pass over all files.

    Args:
        settings: The settings of the job.
        refuse: Called with every row without a text; raises an error if such rows are not allowed.
        seen: Called with the number of rows read since the last call.
    """

    def __init__(
        self, settings: Settings, refuse: Callable[[Refused], None], seen: Callable[[int], None] = lambda rows: None
    ) -> None:
        self._settings, self._refuse, self._seen = settings, refuse, seen
        self._cutter = Cutter(settings.rows_per_shard)
        self._columns: Columns | None = None
        self._types: list[pa.Schema] = []
        self._rejected = self._row = 0

    def __call__(self, inputs: Sequence[Input]) -> Plan:
        """Read all files."""
        for file, given in enumerate(inputs):
            columns = self._checked(given)
            self._types = [_unified([*self._types, _declared(given, columns)], source(given))]
            self._cutter.begin(file, None)
            self._read(file, given, columns)
        shards = self._cutter.finish()
        assert self._columns is not None
        if not shards:
            raise BadInput(
                f"no row of the input holds a text in the field {shown(self._columns.text)}; name another one"
            )
        types = _ordered(self._types[0], self._columns)
        parquet.check_types(types)
        return Plan(self._columns, base64.b64encode(types.serialize().to_pybytes()).decode(), shards, self._rejected)

    def _read(self, file: int, given: Input, columns: Columns) -> None:
        found, window = source(given), list[Record]()
        for lines, number, record in records_of(given):
            taken = checked(found, number, record, columns, self._row)
            self._row += 1
            if isinstance(taken, Refused):
                self._refuse(taken)
                self._rejected += 1
                self._cutter.count(None)
                continue
            window.append(taken)
            if self._cutter.count(len(taken[columns.text])):
                self._cutter.begin(file, Place(0, number + 1) if given.format == "parquet" else lines.place)
            if len(window) == _WINDOW:
                self._note(window, given)
                window = []
        self._note(window, given)

    def _note(self, window: list[Record], given: Input) -> None:
        """Count rows, and find the types of their values unless the file declares them."""
        self._seen(len(window))
        if window and given.format == "jsonl":
            self._types = [_unified([*self._types, parquet.types_of([window])], source(given))]

    def _checked(self, given: Input) -> Columns:
        """Return the columns of the job, after checking that the file has all of them."""
        names, found = _names(given), source(given)
        if self._columns is None:
            self._columns = _columns(names, found, self._settings)
        columns = self._columns
        needed = [columns.text, *([columns.id] if columns.id else []), *columns.keep]
        if names and (missing := next((name for name in needed if name not in names), None)):
            raise BadInput(
                f"{found.name} has no field {shown(missing)}, but {listed(names)}; every file needs all fields that "
                "are written, under the same names"
            )
        return columns


def _names(given: Input) -> list[str]:
    """Return the fields of the first record of a file that can be read."""
    with closing(records_of(given)) as records:
        return next((list(record) for _, _, record in records if not isinstance(record, BadInput)), [])


def _columns(names: list[str], found: Source, settings: Settings) -> Columns:
    if not names:
        raise BadInput(f"{found.name} has no row that can be read, but at least one is needed")
    (text,) = text_columns(names, found.name, None if settings.column is None else [settings.column], one_text=True)
    return Columns(text, settings.id, settings.keep)


def _declared(given: Input, columns: Columns) -> pa.Schema:
    """Return the types that a file declares for the columns of a shard."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = [pa.field(columns.text, pa.string())] + ([] if columns.id else [pa.field(ID, pa.int64())])
    others = {name: name for name in columns.keep} | ({columns.id: ID} if columns.id else {})
    if given.format == "parquet":
        with opened(given) as stream:
            schema = pq.read_schema(stream)
        fields += [pa.field(new, schema.field(old).type) for old, new in others.items()]
    elif given.format in _TEXT_FORMATS:
        fields += [pa.field(new, pa.string()) for new in others.values()]
    return pa.schema(fields)


def _unified(types: list[pa.Schema], found: Source) -> pa.Schema:
    import pyarrow as pa

    try:
        return pa.unify_schemas(types, promote_options="permissive")
    except pa.ArrowException as error:
        why = next(iter(str(error).splitlines()), "")[:200]
        raise BadInput(
            f"{found.name} has a field of another type than before ({why}); give the field one type in all rows and "
            "files, or leave it out"
        ) from None


def _ordered(types: pa.Schema, columns: Columns) -> pa.Schema:
    import pyarrow as pa

    return pa.schema([pa.field(name, types.field(name).type) for name in (ID, columns.text, *columns.keep)])
