"""A store in PostgreSQL with pgvector, in a schema of its own; ``#name`` at the end of the address chooses another.

Up to 50,000 rows, and up to 20,000 that meet a condition, a search compares all of them and is exact. For more rows,
:meth:`PostgresStore.save_index` builds an HNSW index, which the server keeps up to date; its build is quicker if the
server's ``maintenance_work_mem`` is large. Each thread that uses a store has a connection of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sbert.errors import BadInput, listed, shown
from sbert.search.filters import Condition
from sbert.search.index import Kind, Neighbours
from sbert.search.packing import Packing
from sbert.search.store import tables
from sbert.search.store.distances import EXACT_ROWS, Distances, as_vector, embeddings, where_sql
from sbert.search.store.document import (
    Document,
    check_text,
    content_hash,
    id_from_json,
    id_to_json,
    metadata_to_json,
)
from sbert.search.store.server import Server
from sbert.search.store.store import Known, Match, StoreFacts
from sbert.search.store.words import match, words_of
from sbert.types import FloatArray, IntArray

if TYPE_CHECKING:
    import psycopg

_BLOCK = 4096
_TOLERATED_LOSS = 0.05
_INSERT = """
INSERT INTO rows (id, id_hash, text, metadata, written, vector, embedding, words, counts, length, hash)
VALUES (%s, %b, %s, %s::jsonb, %s, %b, %s::vector, %s::text[], %s::integer[], %s, %b)
"""
_UPDATE = "UPDATE rows SET metadata = %s::jsonb, written = %s WHERE id_hash = %b"
_DELETE = """
WITH gone AS (DELETE FROM rows WHERE id_hash = ANY(%s::bytea[]) RETURNING length)
SELECT count(*), coalesce(sum(length), 0)::bigint FROM gone
"""
_COUNT = """
UPDATE state SET generation = generation + 1, total = total + %s, words = words + %s, longest = greatest(longest, %s)
"""


class PostgresStore:
    """Documents in a database: see :class:`~sbert.search.store.Store`. Threads and processes may share it.

    Args:
        url: The address, such as ``postgresql://user@host/database#schema``. The tables are created if ``facts`` are
            given; the schema is "sbert" by default.
        facts: What holds for a new store. A store that exists keeps its own.
    """

    def __init__(self, url: str, facts: StoreFacts | None = None) -> None:
        self._server = Server(url)
        if facts is not None and not tables.exists(self._server):
            tables.create(self._server, facts)
        self.facts = tables.read_facts(self._server)
        self.packing = Packing(self.facts.dimension, self.facts.precision)

    @staticmethod
    def exists(url: str) -> bool:
        """Return whether there is a store at an address."""
        return tables.exists(Server(url))

    @property
    def address(self) -> str:
        """The address for people, without user and password."""
        return self._server.address.shown

    def put(self, documents: Sequence[Document]) -> None:
        """Add documents, or replace those with the same ids. A document without a vector keeps the one it has."""
        written, renamed = _latest(documents)
        vectors = [document.vector for document in written.values() if document.vector is not None]
        rows, longest = self._rows(written, vectors)
        names = [content_hash(name) for name in written]
        with self._server.writing() as connection:
            count, words = self._delete(connection, names)
            cursor = connection.cursor()
            cursor.executemany(_INSERT, rows)
            cursor.executemany(_UPDATE, [(new, new, content_hash(name)) for name, new in renamed.items()])
            connection.execute(_COUNT, (len(rows) - count, sum(row[9] for row in rows) - words, longest))

    def delete(self, ids: Sequence[int | str]) -> int:
        """Delete documents, and return how many there were."""
        names = [content_hash(id_to_json(name)) for name in ids]
        with self._server.writing() as connection:
            count, words = self._delete(connection, names)
            connection.execute(_COUNT, (-count, -words, 0.0))
        return count

    def known(self, ids: Sequence[int | str]) -> dict[int | str, Known]:
        """Return what is stored of those of the ids that exist."""
        rows = self._by_ids("id, hash, written", [id_to_json(name) for name in ids])
        return {id_from_json(name): Known(found, metadata) for name, found, metadata in rows}

    def vectors_of(self, hashes: Sequence[bytes]) -> dict[bytes, FloatArray]:
        """Return the vectors of those texts that are stored already, under any id."""
        rows = self._select("SELECT hash, vector FROM rows WHERE hash = ANY(%s::bytea[])", (list(hashes),))
        return {found: self._vector(blob) for found, blob in rows}

    def get(self, ids: Sequence[int | str]) -> list[Document]:
        """Return the documents with these ids, in their order, with vectors. Unknown ids are skipped."""
        names = [id_to_json(name) for name in ids]
        found = {row[0]: self._document(*row) for row in self._by_ids("id, text, written, vector", names)}
        return [found[name] for name in names if name in found]

    def read(self, keys: IntArray, vectors: bool = False) -> dict[int, Document]:
        """Return documents by their keys, on request with vectors. Keys that no longer exist are left out."""
        wanted = "key, id, text, written, vector" if vectors else "key, id, text, written"
        rows = self._select(f"SELECT {wanted} FROM rows WHERE key = ANY(%s::bigint[]) ORDER BY key", (keys.tolist(),))
        return {key: self._document(*row) for key, *row in rows}

    def count(self, condition: Condition | None = None) -> int:
        """Return the number of documents that meet a condition."""
        where = where_sql(condition)
        ((number,),) = self._select(f"SELECT count(*) FROM rows WHERE {where.text}", where.parameters)
        return int(number)

    def __len__(self) -> int:
        return self.count()

    def __iter__(self) -> Iterator[Document]:
        for _, *row in self._blocks("id, text, written, vector"):
            yield self._document(*row)

    def ids(self) -> Iterator[int | str]:
        """Yield all ids, in the order in which the documents were written."""
        for _, name in self._blocks("id"):
            yield id_from_json(name)

    def nearest(self, vectors: FloatArray, k: int, condition: Condition | None = None) -> Neighbours:
        """Find the ``k`` documents that are nearest to each query and meet a condition."""
        with self._server.reading() as connection:
            return self._distances(connection).nearest(vectors, k, condition)

    def matching(self, terms: Sequence[str], k: int, condition: Condition | None = None) -> list[Match]:
        """Find the ``k`` documents with the best BM25 scores that hold one of the terms and meet a condition."""
        with self._server.reading() as connection:
            return match(connection, terms, k, where_sql(condition))

    def save_index(self) -> None:
        """Build an HNSW index if there are many rows and none was built before."""
        self._save_index(rebuild=False)

    def compact(self, kind: Kind | None = None) -> None:
        """Build the index again, and make the space of deleted documents usable for new ones."""
        if kind is not None:
            raise BadInput(f"the kind of index is {shown(kind)}, but PostgreSQL has HNSW only; leave the kind out")
        self._save_index(rebuild=True)
        self._server.vacuum()

    def index_facts(self) -> dict[str, object]:
        """Return what is known about the index of the vectors, such as its measured recall."""
        with self._server.reading() as connection:
            if not tables.has_index(connection, self._server.address.schema):
                return {"index": "exact", "recall": 1.0, "not_yet_indexed": 0}
            state = tables.read_state(connection)
        return {"index": f"hnsw, ef_search {state.effort}", "recall": state.recall, "not_yet_indexed": 0}

    def check(self) -> list[str]:
        """Compare what is stored with itself, and return a sentence about everything that is wrong."""
        problems = []
        if wrong := list(self._wrong_rows()):
            problems.append(f"the rows {listed(wrong)} do not match their hashes or vectors; add these texts again")
        with self._server.reading() as connection:
            state = tables.read_state(connection)
            sums = "SELECT count(*), coalesce(sum(length), 0)::bigint FROM rows"
            (counted,) = connection.execute(sums).fetchall()
            if counted != (state.total, state.words):
                problems.append(
                    f"{self.address} counts {state.total:,} texts and {state.words:,} words, but holds "
                    f"{counted[0]:,} and {counted[1]:,}; index again into a new store"
                )
            if not wrong and tables.has_index(connection, self._server.address.schema):
                recall = self._distances(connection).recall()
                if recall < state.recall - _TOLERATED_LOSS:
                    problems.append(f"the recall of the index fell from {state.recall} to {recall}; compact the store")
        return problems

    def close(self) -> None:
        """Close the connection of the calling thread; those of other threads close with them."""
        self._server.close()

    def _save_index(self, rebuild: bool) -> None:
        with self._server.writing() as connection:
            there = tables.has_index(connection, self._server.address.schema)
            many = tables.read_state(connection).total > EXACT_ROWS
            if not many or self.facts.dimension > tables.INDEXED_DIMENSIONS or (there and not rebuild):
                return
            tables.build_index(connection, self.facts)
            state = self._distances(connection).measured()
            connection.execute("UPDATE state SET effort = %s, recall = %s", (state.effort, state.recall))

    def _distances(self, connection: psycopg.Connection[Any]) -> Distances:
        return Distances(connection, self.facts, self._server.address.schema)

    def _rows(self, documents: dict[str, Document], vectors: list[FloatArray]) -> tuple[list[tuple[Any, ...]], float]:
        """Return the values of new rows, and the length of their longest embedding."""
        if not documents:
            return [], 0.0
        wrong = next((vector for vector in vectors if vector.shape != (self.packing.dimension,)), None)
        packed = self.packing.pack(np.stack(vectors) if wrong is None else wrong[None])
        sent = embeddings(self.packing.unpack(packed), self.facts.similarity)
        rows = []
        for (name, document), blob, embedding in zip(documents.items(), packed, sent, strict=True):
            metadata = metadata_to_json(document.metadata)
            words = words_of(document.text, self.facts.morphemes)
            text = (name, content_hash(name), document.text, metadata, metadata)
            rows.append((*text, blob.tobytes(), as_vector(embedding), *words, content_hash(document.text)))
        return rows, float(np.linalg.norm(sent.astype(np.float64), axis=1).max())

    def _delete(self, connection: psycopg.Connection[Any], names: list[bytes]) -> tuple[int, int]:
        """Delete rows by the hashes of their ids, and return how many rows and words there were."""
        ((count, words),) = connection.execute(_DELETE, (names,)).fetchall()
        return count, words

    def _wrong_rows(self) -> Iterator[int | str]:
        """Yield the ids of rows whose text or vector was damaged."""
        wanted = "id, text, hash, vector, embedding::real[]"
        for _, name, text, hashed, blob, sent in self._blocks(wanted):
            good = content_hash(text) == hashed and len(blob) == self.packing.row_bytes
            if not good or sent != embeddings(self._vector(blob)[None], self.facts.similarity)[0].tolist():
                yield id_from_json(name)

    def _blocks(self, wanted: str) -> Iterator[Any]:
        """Yield the key and some columns of all rows, in the order of the keys."""
        last, query = 0, f"SELECT key, {wanted} FROM rows WHERE key > %s ORDER BY key LIMIT %s"
        while block := self._select(query, (last, _BLOCK)):
            yield from block
            last = block[-1][0]

    def _by_ids(self, wanted: str, names: Sequence[str]) -> list[Any]:
        hashes = [content_hash(name) for name in names]
        return self._select(f"SELECT {wanted} FROM rows WHERE id_hash = ANY(%s::bytea[])", (hashes,))

    def _select(self, query: str, parameters: Sequence[Any]) -> list[Any]:
        with self._server.reading() as connection:
            return connection.execute(query.encode(), parameters, binary=True).fetchall()

    def _vector(self, blob: bytes) -> FloatArray:
        vector: FloatArray = self.packing.unpack(np.frombuffer(blob, np.uint8)[None])[0]
        return vector

    def _document(self, name: str, text: str, metadata: str, blob: bytes | None = None) -> Document:
        vector = None if blob is None else self._vector(blob)
        return Document(id_from_json(name), text, json.loads(metadata), vector)


def _latest(documents: Sequence[Document]) -> tuple[dict[str, Document], dict[str, str]]:
    """Check documents, and return the last one of each id, and the new metadata of those that keep their vectors."""
    written: dict[str, Document] = {}
    renamed: dict[str, str] = {}
    for document in documents:
        name, metadata = id_to_json(document.id), metadata_to_json(document.metadata)
        check_text(f"the text of {shown(document.id)}", document.text)
        if document.vector is None:
            renamed[name] = metadata
            continue
        written.pop(name, None)  # so that the order is that of the last ones
        renamed.pop(name, None)
        written[name] = document
    return written, renamed
