"""The tables of a store in SQLite, and what holds for the store as a whole, checked when it is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any, get_args

from sbert.errors import BadInput, check_option
from sbert.search.packing import Packing
from sbert.search.store.database import Database
from sbert.search.store.store import StoreFacts, damaged
from sbert.types import Similarity

_PARAMETERS = 500
SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE rows (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    metadata TEXT NOT NULL,
    vector BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    hash BLOB NOT NULL
);
CREATE INDEX rows_by_hash ON rows (hash);
CREATE TABLE deleted (key INTEGER PRIMARY KEY, generation INTEGER NOT NULL);
CREATE VIRTUAL TABLE terms USING fts5 (words, tokenize = 'unicode61 remove_diacritics 0');
"""


def read_facts(database: Database) -> tuple[StoreFacts, Packing]:
    """Return what holds for the store, and the packing of its vectors."""
    with database.reading() as connection:
        values = dict(connection.execute("SELECT name, value FROM facts"))
        int(values["generation"]), int(values["forgotten"])
        known = {field.name: values[field.name] for field in fields(StoreFacts)}
        facts = StoreFacts(**{**known, "morphemes": bool(known["morphemes"])})
    try:
        check_option("similarity", facts.similarity, get_args(Similarity))
        return facts, Packing(facts.dimension, facts.precision)
    except BadInput as error:
        raise damaged(database.path, str(error)) from None


def chunked(connection: sqlite3.Connection, column: str, wanted: str, values: Sequence[Any]) -> Iterator[Any]:
    """Yield some columns of the rows that have one of ``values`` in a column."""
    for start in range(0, len(values), _PARAMETERS):
        some = values[start : start + _PARAMETERS]
        marks = ", ".join("?" * len(some))
        yield from connection.execute(f"SELECT {wanted} FROM rows WHERE {column} IN ({marks})", some)


def generation(connection: sqlite3.Connection) -> int:
    """Return the number of the present state."""
    ((number,),) = connection.execute("SELECT value FROM facts WHERE name = 'generation'")
    return int(number)
