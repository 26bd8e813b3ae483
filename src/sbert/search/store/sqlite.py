"""A store in one SQLite file. An index of many vectors is in a folder beside it and can always be rebuilt."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from sbert.disk.files import real
from sbert.errors import BadModel, listed, shown
from sbert.search.filters import SQLITE, Condition, Sql, to_sql
from sbert.search.index import Kind, Neighbours
from sbert.search.packing import Packed, checksums
from sbert.search.store import schema
from sbert.search.store.cache import CachedIndex, Changes
from sbert.search.store.database import Database
from sbert.search.store.document import Document, check_text, content_hash, id_to_json, metadata_to_json
from sbert.search.store.rows import RowStore
from sbert.search.store.store import Match, StoreFacts, damaged
from sbert.text.terms import document_terms
from sbert.types import FloatArray, IntArray

_BLOCK = 4096
_FILTERS = 16  # number of filters whose rows are cached
_INSERT = "INSERT INTO rows (id, text, metadata, vector, checksum, hash) VALUES (?, ?, ?, ?, ?, ?)"


class SqliteStore(RowStore):
    """Documents in one file: see :class:`~sbert.search.store.Store`. Threads and processes may share the file.

    Args:
        path: The file. It is created if ``facts`` are given.
        facts: The facts about a new store. An existing store keeps its own facts.
        show_progress_bar: Whether to show a progress bar while the index of many vectors is built or updated.
    """

    _metadata_column = "metadata"

    def __init__(self, path: str | Path, facts: StoreFacts | None = None, *, show_progress_bar: bool = False) -> None:
        self.path = real(Path(path))  # threads connect later, when the working directory may have changed
        if facts is not None and not self.path.exists():
            Database.create(self.path, schema.SCHEMA, {**asdict(facts), "generation": 0, "forgotten": 0, "content": 0})
        self._database = Database(self.path)
        self.facts, self.packing = schema.read_facts(self._database)
        folder = self.path.with_name(f"{self.path.name}-index")
        self._index = CachedIndex(self, self.packing, self.facts.similarity, folder, show_progress_bar)
        self._filtered: dict[str, tuple[int, IntArray]] = {}

    @property
    def address(self) -> str:
        """The path of the file."""
        return str(self.path)

    def put(self, documents: Sequence[Document]) -> None:
        """Add documents, or replace those with the same ids. A document without a vector keeps the one it has."""
        rows = [
            (id_to_json(document.id), document.text, metadata_to_json(document.metadata)) for document in documents
        ]
        for document in documents:
            check_text(f"the text of {shown(document.id)}", document.text)
        packed = self._packed(documents)
        vectors = zip(packed, checksums(packed).view(np.int64).tolist(), strict=True)
        keys: list[int] = []
        with self._database.writing() as connection:
            for document, (name, text, metadata) in zip(documents, rows, strict=True):
                if document.vector is None:
                    connection.execute("UPDATE rows SET metadata = ? WHERE id = ?", (metadata, name))
                    continue
                self._delete(connection, [name])
                vector, checksum = next(vectors)
                values = (name, text, metadata, vector.tobytes(), checksum, content_hash(text))
                added = connection.execute(_INSERT, values)
                keys.append(added.lastrowid or 0)
                terms = " ".join(document_terms(text, self.facts.morphemes))
                connection.execute("INSERT INTO terms (rowid, words) VALUES (?, ?)", (added.lastrowid, terms))
            schema.add_content(connection, keys, checksums(packed), 1)

    def delete(self, ids: Sequence[int | str]) -> int:
        """Delete documents, and return how many there were."""
        with self._database.writing() as connection:
            return self._delete(connection, [id_to_json(name) for name in ids])

    def count(self, condition: Condition | None = None) -> int:
        """Return the number of documents that meet a condition."""
        where = _where(condition)
        ((number,),) = self._select(f"SELECT count(*) FROM rows WHERE {where.text}", where.parameters)
        return int(number)

    def nearest(self, vectors: FloatArray, k: int, condition: Condition | None = None) -> Neighbours:
        """Find the ``k`` documents that are nearest to each query and meet a condition."""
        return self._index.search(vectors, k, None if condition is None else self._keys(condition))

    def matching(self, terms: Sequence[str], k: int, condition: Condition | None = None) -> list[Match]:
        """Find the ``k`` documents with the best BM25 scores that contain one of the terms and meet a condition."""
        if not terms:
            return []
        where = _where(condition)
        query = (
            "SELECT terms.rowid, -bm25(terms) FROM terms JOIN rows ON rows.key = terms.rowid "
            f"WHERE terms MATCH ? AND {where.text} ORDER BY bm25(terms), terms.rowid LIMIT ?"
        )
        words = " OR ".join(f'"{term}"' for term in dict.fromkeys(terms))
        return [Match(*row) for row in self._select(query, (words, *where.parameters, k))]

    def save_index(self) -> None:
        """Save the index to the disk if there are many new rows."""
        self._index.save()

    def index_facts(self) -> dict[str, object]:
        """Return the facts about the index of the vectors, such as its measured recall."""
        return self._index.describe()

    def check(self) -> list[str]:
        """Check the consistency of the store, and return a sentence about each problem."""
        problems = [f"{self.path} is damaged: {line}; restore it from a backup" for line in self._database.damage()]
        if problems:
            return problems
        wrong = list(self._wrong_rows())
        if wrong:
            problems.append(f"the rows {listed(wrong)} do not match their hashes or checksums; add these texts again")
        ((rows, terms),) = self._select("SELECT (SELECT count(*) FROM rows), (SELECT count(*) FROM terms)", ())
        if rows != terms:
            problems.append(f"{rows:,} texts have {terms:,} entries in the full-text index; add them again")
        return problems if wrong else [*problems, *self._index.check()]

    def _wrong_rows(self) -> Iterator[object]:
        """Yield the ids of damaged rows."""
        for block in self._blocks("id, text, metadata, vector, checksum, hash"):
            for _, name, text, metadata, vector, checksum, hashed in block:
                try:
                    self._document(name, text, metadata, vector)
                    self._intact([vector], [checksum])
                    whole = content_hash(text) == hashed
                except BadModel:
                    whole = False
                if not whole:
                    yield self._id_or_raw(name)

    def compact(self, kind: Kind | None = None) -> None:
        """Rebuild the index, of another kind if ``kind`` is given, and free the space of deleted documents."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM deleted")
            after = schema.generation(connection) + 1
            connection.execute("UPDATE facts SET value = ? WHERE name = 'forgotten'", (after,))
            connection.execute("INSERT INTO terms (terms) VALUES ('optimize')")
        self._index.rebuild(kind)
        self._database.vacuum()

    def generation(self) -> int:
        """Return the number of the current state, which every change increases."""
        with self._database.reading() as connection:
            return schema.generation(connection)

    def changes(self, last_key: int, generation: int) -> Changes:
        """Return the rows with larger keys, and the keys deleted after a generation, in one consistent state."""
        with ExitStack() as stack:
            connection = stack.enter_context(self._database.snapshot())
            facts = {name: int(value) for name, value in connection.execute(schema.NUMBERS)}
            ((total,),) = connection.execute("SELECT count(*) FROM rows")
            ((last,),) = connection.execute("SELECT ifnull(max(key), 0) FROM rows")
            deleted = connection.execute("SELECT key FROM deleted WHERE generation > ?", (generation,)).fetchall()
            snapshot = stack.pop_all()  # the rows are read later
        return Changes(
            generation=facts["generation"],
            complete=generation >= facts["forgotten"] or not last_key,
            total=total,
            last_key=max(last, last_key),
            content=facts["content"] % 2**64,
            deleted=np.fromiter((key for (key,) in deleted), np.int64, len(deleted)),
            added=self._vector_blocks(snapshot, connection, last_key),
        )

    def close(self) -> None:
        """Close the connection of the calling thread; those of other threads close with them."""
        self._database.close()

    def _vector_blocks(
        self, snapshot: ExitStack, connection: sqlite3.Connection, after: int
    ) -> Iterator[tuple[IntArray, Packed]]:
        with snapshot:
            for block in self._blocks_of(connection, "vector, checksum", after):
                keys, blobs, sums = zip(*block, strict=True)
                yield np.array(keys, np.int64), self._intact(blobs, sums)

    def _intact(self, blobs: Sequence[bytes], sums: Sequence[int]) -> Packed:
        """Return packed vectors, which must match their checksums."""
        with self._decoding():
            rows = np.frombuffer(b"".join(blobs), np.uint8).reshape(len(blobs), self.packing.row_bytes)
            self.packing.check(rows)
            if (checksums(rows).view(np.int64) != np.array(sums, np.int64)).any():
                raise ValueError("a vector does not match its checksum")
        return rows

    def _blocks(self, wanted: str) -> Iterator[list[Any]]:
        """Yield the key and some columns of all rows of one state, in the order of the keys."""
        with self._database.snapshot() as connection:
            yield from self._blocks_of(connection, wanted)

    def _blocks_of(self, connection: sqlite3.Connection, wanted: str, after: int = 0) -> Iterator[list[Any]]:
        """Yield the rows after a key in the order of the keys. Another order, as in a damaged file, is an error."""
        query = f"SELECT key, {wanted} FROM rows WHERE key > ? ORDER BY key LIMIT ?"
        while block := connection.execute(query, (after, _BLOCK)).fetchall():
            keys = [after, *(row[0] for row in block)]
            if any(one >= other for one, other in pairwise(keys)):
                raise damaged(self.path, "its rows are not in order")
            yield block
            after = keys[-1]

    def _keys(self, condition: Condition) -> IntArray:
        """Return the keys of the rows that meet a condition, which are cached until the store changes."""
        where = _where(condition)
        name = repr(where)  # 1 and True are equal, but their representations differ
        with self._database.reading() as connection:
            generation = schema.generation(connection)
            known = self._filtered.get(name)
            if known is not None and known[0] == generation:
                return known[1]
            query = f"SELECT key FROM rows WHERE {where.text} ORDER BY key"
            rows = connection.execute(query, where.parameters).fetchall()
        keys = np.fromiter((key for (key,) in rows), np.int64, len(rows))
        if len(self._filtered) >= _FILTERS:
            self._filtered.clear()
        self._filtered[name] = generation, keys
        return keys

    def _delete(self, connection: sqlite3.Connection, names: Sequence[str]) -> int:
        found = list(schema.chunked(connection, "id", "key, checksum", names))
        keys = [(key,) for key, _ in found]
        schema.add_content(connection, [key for key, _ in found], [checksum % 2**64 for _, checksum in found], -1)
        connection.executemany("DELETE FROM terms WHERE rowid = ?", keys)
        connection.executemany("DELETE FROM rows WHERE key = ?", keys)
        now = "(SELECT value + 1 FROM facts WHERE name = 'generation')"
        connection.executemany(f"INSERT INTO deleted (key, generation) VALUES (?, {now})", keys)
        return len(keys)

    def _by(self, column: str, wanted: str, values: Sequence[Any]) -> list[Any]:
        with self._database.reading() as connection:
            return list(schema.chunked(connection, column, wanted, values))

    def _select(self, query: str, parameters: Sequence[Any]) -> list[Any]:
        with self._database.reading() as connection:
            return connection.execute(query, parameters).fetchall()


def _where(condition: Condition | None) -> Sql:
    return Sql("1") if condition is None else to_sql(condition, SQLITE)
