"""Chooses the texts of a file, or of standard input, and keeps the fields beside them. Knows no model.

Lines are counted from 1, as editors count them; rows from 0, as the vectors are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from sbert.data import files
from sbert.data.files import Record
from sbert.errors import BadInput, BadOption, check_value

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = ("txt", "tsv", "csv", "jsonl", "parquet")


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
        with making_table():
            return pa.table({name: [record.get(name) for record in self.fields] for name in self.columns})


@contextmanager
def making_table() -> Iterator[None]:
    """What fits no table in here is said as one sentence."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OverflowError) as error:
        raise BadInput(f"the fields make no table ({error}), but parquet needs one; write .jsonl instead") from None


def check_parquet(types: pa.Schema) -> None:
    """Refuse types that a table has and parquet lacks, such as that of an object without fields."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with making_table():
        pq.write_table(types.empty_table(), pa.BufferOutputStream())


def read(source: str, column: str | None = None, kind: str | None = None) -> Rows:
    """The rows of ``source``, a path or "-" for standard input.

    Args:
        source: the format is told by its suffix; standard input is txt.
        column: which field holds the texts; ``text`` or ``sentence`` or the only one unless named.
        kind: one of FORMATS, whatever the suffix says.
    """
    name = "standard input" if source == "-" else source
    kind = _kind(source, kind)
    with nullcontext(sys.stdin.buffer) if source == "-" else files.opened(source) as stream:
        rows = (_read_table if kind == "parquet" else _read_records)(stream, name, column, kind)
    if not rows.texts:
        raise BadInput(f"{name} is empty, but at least one text is needed")
    return rows


def _kind(source: str, kind: str | None) -> str:
    if kind is not None:
        check_value("--format", kind, FORMATS)
        return kind
    if source == "-":
        return "txt"
    try:
        return files.format_of(source, FORMATS)
    except BadInput as error:
        raise BadInput(f"{error}; or name the format with --format") from None


def _read_records(stream: BinaryIO, name: str, column: str | None, kind: str) -> Rows:
    texts: list[str] = []
    records: list[Record] = []
    for number, record in files.records(stream, name, kind):
        if not records:
            column = choose_column(list(record), column, name)
        assert column is not None
        texts.append(files.text(record, column, files.place(name, kind, number)))
        records.append(record)
    return Rows(texts, records)


def _read_table(stream: BinaryIO, name: str, column: str | None, kind: str) -> Rows:
    table = files.table(stream, name)
    column = choose_column(table.column_names, column, name)
    values = enumerate(table.column(column).to_pylist())
    return Rows([files.text({column: value}, column, files.place(name, kind, row)) for row, value in values], table)


def choose_column(columns: Sequence[str], asked: str | None, name: str) -> str:
    """The column that holds the texts: the one asked for, or the only one it can be."""
    files.check_names(columns, name)
    if asked is not None and asked not in columns:
        raise BadOption(f"--column for {name}", asked, columns)
    usual = [column for column in ("text", "sentence") if column in columns]
    candidates = [asked] if asked is not None else usual or columns
    if len(candidates) > 1 and not usual:
        raise BadInput(f"{name} has the columns {files.listed(columns)}; say which one holds the texts with --column")
    return candidates[0]
