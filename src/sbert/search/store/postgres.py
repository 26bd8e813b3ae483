"""A store in PostgreSQL with pgvector, in a schema of its own, which ``#name`` at the end of the address selects.

Up to 50,000 rows, and up to 20,000 that meet a condition, a search compares all of them and is exact. For more rows,
:meth:`PostgresStore.save_index` builds an HNSW index, which the server keeps up to date. The build is faster if
``maintenance_work_mem`` of the server is large. Each thread that uses a store has its own connection.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sbert.errors import BadInput, BadModel, listed, shown
from sbert.search.filters import Condition
from sbert.search.index import Kind, Neighbours
from sbert.search.store import tables
from sbert.search.store.distances import EXACT_ROWS, Distances, as_vector, embeddings, where_sql
from sbert.search.store.document import Document, check_text, content_hash, id_to_json, metadata_to_json
from sbert.search.store.rows import RowStore
from sbert.search.store.server import Server
from sbert.search.store.store import Match, StoreFacts
from sbert.search.store.words import match, words_of
from sbert.types import FloatArray

if TYPE_CHECKING:
    import psycopg

_BLOCK = 4096
_TOLERATED_LOSS = 0.05
_COPY = """
COPY rows (id, id_hash, text, metadata, written, vector, embedding, words, counts, length, hash) FROM STDIN
"""
_UPDATE = "UPDATE rows SET metadata = %s::jsonb, written = %s WHERE id_hash = %b"
_DELETE = """
WITH gone AS (DELETE FROM rows WHERE id_hash = ANY(%s::bytea[]) RETURNING length)
SELECT count(*), coalesce(sum(length), 0)::bigint FROM gone
"""
_LOOKUPS = {"key": "key = ANY(%s::bigint[])", "id": "id_hash = ANY(%s::bytea[])", "hash": "hash = ANY(%s::bytea[])"}
_COUNT = """
UPDATE state SET generation = generation + 1, total = total + %s, words = words + %s, longest = greatest(longest, %s)
"""


class PostgresStore(RowStore):
    """Documents in a database: see :class:`~sbert.search.store.Store`. Threads and processes may share it.

    Args:
        url: The address, such as ``postgresql://user@host/database#schema``. The tables are created if ``facts`` are
            given; the schema is "sbert" by default.
        facts: The facts about a new store. An existing store keeps its own facts.
    """

    _metadata_column = "written"

    def __init__(self, url: str, facts: StoreFacts | None = None) -> None:
        self._server = Server(url)
        if facts is not None and not tables.exists(self._server):
            tables.create(self._server, facts)
        self.facts, self.packing = tables.read_facts(self._server)

    @staticmethod
    def exists(url: str) -> bool:
        """Return whether there is a store at an address."""
        return tables.exists(Server(url))

    @property
    def address(self) -> str:
        """The address for display, without user and password."""
        return self._server.address.shown

    def put(self, documents: Sequence[Document]) -> None:
        """Add documents, or replace those with the same ids. A document without a vector keeps the one it has."""
        written, renamed = _latest(documents)
        rows, longest = self._rows(written)
        names = [content_hash(name) for name in written]
        with self._server.writing() as connection:
            count, words = self._delete(connection, names)
            cursor = connection.cursor()
            if rows:
                with cursor.copy(_COPY) as copy:
                    for row in rows:
                        copy.write_row(row)
            cursor.executemany(_UPDATE, [(new, new, content_hash(name)) for name, new in renamed.items()])
            connection.execute(_COUNT, (len(rows) - count, sum(row[9] for row in rows) - words, longest))

    def delete(self, ids: Sequence[int | str]) -> int:
        """Delete documents, and return how many there were."""
        names = [content_hash(id_to_json(name)) for name in ids]
        with self._server.writing() as connection:
            count, words = self._delete(connection, names)
            connection.execute(_COUNT, (-count, -words, 0.0))
        return count

    def count(self, condition: Condition | None = None) -> int:
        """Return the number of documents that meet a condition."""
        where = where_sql(condition)
        ((number,),) = self._select(f"SELECT count(*) FROM rows WHERE {where.text}", where.parameters)
        return int(number)

    def nearest(self, vectors: FloatArray, k: int, condition: Condition | None = None) -> Neighbours:
        """Find the ``k`` documents that are nearest to each query and meet a condition."""
        with self._server.reading() as connection:
            return self._distances(connection).nearest(vectors, k, condition)

    def matching(self, terms: Sequence[str], k: int, condition: Condition | None = None) -> list[Match]:
        """Find the ``k`` documents with the best BM25 scores that contain one of the terms and meet a condition."""
        with self._server.reading() as connection:
            return match(connection, terms, k, where_sql(condition))

    def save_index(self) -> None:
        """Build an HNSW index if there are many rows and none was built before."""
        self._save_index(rebuild=False)

    def compact(self, kind: Kind | None = None) -> None:
        """Rebuild the index, and make the space of deleted documents available for new ones."""
        if kind is not None:
            raise BadInput(f"the kind of index is {shown(kind)}, but PostgreSQL has HNSW only; leave the kind out")
        self._save_index(rebuild=True)
        self._server.vacuum()

    def index_facts(self) -> dict[str, object]:
        """Return the facts about the index of the vectors, such as its measured recall."""
        with self._server.reading() as connection:
            if not tables.has_index(connection, self._server.address.schema):
                return {"index": "exact", "recall": 1.0, "not_yet_indexed": 0}
            state = tables.read_state(connection)
        return {"index": f"hnsw, ef_search {state.effort}", "recall": state.recall, "not_yet_indexed": 0}

    def check(self) -> list[str]:
        """Check the consistency of the store, and return a sentence about each problem."""
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

    def _rows(self, documents: dict[str, Document]) -> tuple[list[tuple[Any, ...]], float]:
        """Return the values of new rows, and the length of their longest embedding."""
        packed = self._packed(list(documents.values()))
        sent = embeddings(self.packing.unpack(packed), self.facts.similarity)
        rows = []
        for (name, document), blob, embedding in zip(documents.items(), packed, sent, strict=True):
            metadata = metadata_to_json(document.metadata)
            words = words_of(document.text, self.facts.morphemes)
            text = (name, content_hash(name), document.text, metadata, metadata)
            rows.append((*text, blob.tobytes(), as_vector(embedding), *words, content_hash(document.text)))
        return rows, float(np.linalg.norm(sent.astype(np.float64), axis=1).max(initial=0.0))

    def _delete(self, connection: psycopg.Connection[Any], names: list[bytes]) -> tuple[int, int]:
        """Delete rows by the hashes of their ids, and return how many rows and words there were."""
        ((count, words),) = connection.execute(_DELETE, (names,)).fetchall()
        return count, words

    def _wrong_rows(self) -> Iterator[object]:
        """Yield the ids of rows with a damaged text, metadata or vector."""
        for block in self._blocks("id, text, written, vector, hash, embedding::real[]"):
            for _, name, text, metadata, vector, hashed, sent in block:
                try:
                    found = self._document(name, text, metadata, vector).vector
                    whole = found is not None and content_hash(text) == hashed and sent == self._embedding(found)
                except BadModel:
                    whole = False
                if not whole:
                    yield self._id_or_raw(name)

    def _embedding(self, vector: FloatArray) -> list[float]:
        """Return the form of a vector that the server compares."""
        values: list[float] = embeddings(vector[None], self.facts.similarity)[0].tolist()
        return values

    def _blocks(self, wanted: str) -> Iterator[list[Any]]:
        """Yield the key and some columns of all rows of one state, in the order of the keys."""
        last, query = 0, f"SELECT key, {wanted} FROM rows WHERE key > %s ORDER BY key LIMIT %s".encode()
        with self._server.snapshot() as connection:
            while block := connection.execute(query, (last, _BLOCK), binary=True).fetchall():
                yield block
                last = block[-1][0]

    def _by(self, column: Literal["key", "id", "hash"], wanted: str, values: Sequence[Any]) -> list[Any]:
        if column == "id":
            values = [content_hash(name) for name in values]
        return self._select(f"SELECT {wanted} FROM rows WHERE {_LOOKUPS[column]} ORDER BY key", (values,))

    def _select(self, query: str, parameters: Sequence[Any]) -> list[Any]:
        with self._server.reading() as connection:
            return connection.execute(query.encode(), parameters, binary=True).fetchall()


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
        written.pop(name, None)  # so that the last documents determine the order
        renamed.pop(name, None)
        written[name] = document
    return written, renamed
