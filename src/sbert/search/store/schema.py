"""The tables of a store in SQLite, and the facts about the store, which are checked when they are read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sbert.search.packing import Checksums, Packing, content
from sbert.search.store.database import Database
from sbert.search.store.store import StoreFacts, facts_from

_PARAMETERS = 500
NUMBERS = "SELECT name, value FROM facts WHERE name IN ('generation', 'forgotten', 'content')"
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
    """Return the facts about the store, and the packing of its vectors."""
    with database.reading() as connection:
        values = dict(connection.execute("SELECT name, value FROM facts"))
        [int(values[name]) for name in ("generation", "forgotten", "content")]
    return facts_from(values, database.path)


def chunked(connection: sqlite3.Connection, column: str, wanted: str, values: Sequence[Any]) -> Iterator[Any]:
    """Yield some columns of the rows that have one of ``values`` in a column."""
    for start in range(0, len(values), _PARAMETERS):
        some = values[start : start + _PARAMETERS]
        marks = ", ".join("?" * len(some))
        yield from connection.execute(f"SELECT {wanted} FROM rows WHERE {column} IN ({marks})", some)


def add_content(connection: sqlite3.Connection, keys: list[int], sums: Sequence[int] | Checksums, sign: int) -> None:
    """Record that rows with these keys and checksums were added, or deleted if ``sign`` is -1."""
    ((before,),) = connection.execute("SELECT value FROM facts WHERE name = 'content'")
    after = (before + sign * content(np.array(keys, np.int64), np.array(sums, np.uint64))) % 2**64
    signed = after - 2**64 if after >= 2**63 else after  # because the integers of SQLite are signed
    connection.execute("UPDATE facts SET value = ? WHERE name = 'content'", (signed,))


def generation(connection: sqlite3.Connection) -> int:
    """Return the number of the current state."""
    ((number,),) = connection.execute("SELECT value FROM facts WHERE name = 'generation'")
    return int(number)
