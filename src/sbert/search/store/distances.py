"""Finds the nearest rows of a store in PostgreSQL. pgvector chooses candidates; the packed vectors give the scores.

Distances of pgvector have the rounding errors of float32. A search is exact nevertheless, because candidates are
fetched until no further row can be better, even with the maximum rounding error. Scores are therefore equal, bit for
bit, to those of a store in SQLite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sbert.errors import BadInput, BadModel, check_count, listed
from sbert.search.filters import POSTGRES, Condition, Sql, to_sql
from sbert.search.index import Neighbours
from sbert.search.index.exact import search_rows
from sbert.search.measure import Rows
from sbert.search.packing import Packing
from sbert.search.store.store import StoreFacts
from sbert.search.store.tables import FIRST_EFFORT, MEASURES, State, has_index, read_state
from sbert.types import FloatArray, IntArray, Similarity

if TYPE_CHECKING:
    import psycopg

EXACT_ROWS = 50_000
"""Maximum number of rows for comparing all of them."""
FEW_ALLOWED = 20_000
"""Maximum number of rows that meet a condition for comparing all of them."""
RECALL = 0.95
"""Minimum recall of an index."""
_FEW_QUERIES = 8  # for more queries, reading all rows once is faster than a scan for each query
_MOST_EFFORT = 1000  # the largest value that pgvector accepts
_NEIGHBOURS = 10  # number of neighbours of each row of the sample that measures an index
_SAMPLE = 50
_LARGEST = 2**31 - 1  # the largest value of a setting of the server
_MOST_PARAMETERS = 65_000  # maximum number of parameters of a condition; PostgreSQL allows 65,535 in a statement
_LINKS = 32  # links of a row in the HNSW index, twice the default m of pgvector


class Distances:
    """Searches the vectors of a store within one transaction.

    Args:
        connection: A transaction that reads one state of the tables.
        facts: The facts about the store.
        schema: The schema of its tables.
    """

    def __init__(self, connection: psycopg.Connection[Any], facts: StoreFacts, schema: str) -> None:
        self.connection, self.facts, self.schema = connection, facts, schema
        self.packing = Packing(facts.dimension, facts.precision)
        self.state = read_state(connection)
        self._sample: list[tuple[_Query, Neighbours]] | None = None

    def nearest(self, vectors: FloatArray, k: int, condition: Condition | None) -> Neighbours:
        """Find the ``k`` rows that are nearest to each query and meet a condition."""
        check_count("k", k)
        queries = self._queries(vectors)
        few, compared, where = self.state.total <= EXACT_ROWS, self.state.total, where_sql(condition)
        if condition is not None:
            keys = self._keys(where, None if few else FEW_ALLOWED + 1)
            few = few or len(keys) <= FEW_ALLOWED
            if few:  # avoids testing the condition for each query
                compared, where = len(keys), Sql("key = ANY(%s::bigint[])", (keys,))
        if few and len(queries) > _FEW_QUERIES:
            return search_rows(vectors, *self._all(where), k, self.facts.similarity)
        if few or not has_index(self.connection, self.schema):
            return _joined([self._exact(query, k, where) for query in queries], compared)
        self._set_effort(self.state.effort, k)
        found = _joined([self._approximate(query, k, where) for query in queries], self._visited(k))
        return replace(found, compared=self.state.total) if found.exact else found

    def measured(self) -> State:
        """Choose the effort of the index by its recall on a sample, and return the state with effort and recall."""
        effort = FIRST_EFFORT
        while (recall := self.recall(effort)) < RECALL and effort < _MOST_EFFORT:
            effort = min(2 * effort, _MOST_EFFORT)
        return self.state._replace(effort=effort, recall=recall)

    def recall(self, effort: int | None = None) -> float:
        """Return the recall of the index on a sample."""
        if self._sample is None:
            rows = self._rows("SELECT key, vector FROM rows ORDER BY hash, key LIMIT %s", (_SAMPLE,))
            queries = self._queries(self._unpacked(rows)[1])
            self._sample = [(query, self._exact(query, _NEIGHBOURS, Sql("true"))) for query in queries]
        self._set_effort(effort or self.state.effort, _NEIGHBOURS)
        shares = [_share(self._approximate(query, _NEIGHBOURS, Sql("true")), truth) for query, truth in self._sample]
        return round(sum(shares) / max(len(shares), 1), 4)

    def _queries(self, vectors: FloatArray) -> list[_Query]:
        if vectors.ndim != 2 or vectors.shape[1] != self.facts.dimension:
            raise BadInput(
                f"the queries have shape {vectors.shape}, but (queries, {self.facts.dimension}) is expected; embed "
                "them with the model of the store"
            )
        rows = Rows.read("queries", vectors)
        sent = rows.unit() if self.facts.similarity == "cosine" else rows
        return list(map(_Query, vectors[:, None], sent.vectors, sent.norms.tolist()))

    def _exact(self, query: _Query, k: int, where: Sql) -> Neighbours:
        """Compare a query with all rows that meet a condition."""
        limit, operator = 4 * k + 16, MEASURES[self.facts.similarity].operator
        order = f"embedding {operator} %s::vector"
        while True:
            fetched = self._rows(
                f"SELECT key, vector, {order} AS distance FROM rows WHERE {where.text} "
                "ORDER BY distance, key LIMIT %s",
                (query.text, *where.parameters, limit),
            )
            found = self._scored(query, fetched, k)
            if len(fetched) < limit or found.scores[0][-1] > self._best_behind(query, fetched[-1][2]):
                return found
            limit *= 4

    def _best_behind(self, query: _Query, distance: float) -> float:
        """Return an upper bound of the scores of rows whose distance is at least ``distance``.

        A sum of D float32 products errs by at most D units of 2**-24 times the lengths of both vectors, in any order
        of summation. A sum of squared or absolute differences errs by as many units of itself. The remainder covers
        the rounding of vectors and scores, and products below the range of float32.
        """
        dimension = self.facts.dimension
        unit, tiny = (4 * dimension + 64) * 2.0**-24, dimension * 2.0**-60
        if self.facts.similarity in ("cosine", "dot"):
            return -distance + unit * (query.norm * self.state.longest + tiny)
        return -distance * (1 - unit) + unit * query.norm + tiny

    def _approximate(self, query: _Query, k: int, where: Sql) -> Neighbours:
        """Search the index, or compare all rows if the index returns too few candidates."""
        limit, size = 4 * k + 16, self.facts.dimension
        order = f"embedding::halfvec({size}) {MEASURES[self.facts.similarity].operator} %s::halfvec({size})"
        fetched: list[Any] = []
        if query.largest <= np.finfo(np.float16).max:
            fetched = self._rows(
                f"SELECT key, vector FROM rows WHERE {where.text} ORDER BY {order} LIMIT %s",
                (*where.parameters, query.text, limit),
            )
        if len(fetched) < limit:
            return self._exact(query, k, where)
        return replace(self._scored(query, fetched, k), exact=False)

    def _set_effort(self, effort: int, k: int) -> None:
        """Set how far searches in the index go until the transaction ends.

        Once its library is loaded, pgvector reports unknown or invalid settings as a warning.
        """
        limit = 4 * k + 16
        wanted = {
            "hnsw.ef_search": str(min(max(effort, limit), _MOST_EFFORT)),
            "hnsw.iterative_scan": "relaxed_order",
            # Enough to find the candidates if the rows that meet the condition are distributed evenly.
            "hnsw.max_scan_tuples": str(min(max(20_000, 4 * limit * self.state.total // FEW_ALLOWED), _LARGEST)),
            "hnsw.scan_mem_multiplier": "8",
            "enable_seqscan": "off",
        }
        self.connection.execute("SELECT '[1]'::vector")  # loads the library, which checks the settings
        calls = ", ".join("set_config(%s, %s, true)" for _ in wanted)
        pairs = [value for setting in wanted.items() for value in setting]
        self._rows(f"SELECT {calls}", pairs)
        shown = ", ".join("current_setting(%s, true)" for _ in wanted)
        (found,) = self._rows(f"SELECT {shown}", list(wanted))
        if list(found) != list(wanted.values()):
            raise BadModel(
                f"the server has the settings {listed(found)} for {listed(wanted)}, but {listed(wanted.values())} are "
                "needed; update pgvector there"
            )

    def _visited(self, k: int) -> int:
        """Estimate how many rows a search in the index compares: the neighbours of every candidate in its list."""
        return min(_LINKS * max(self.state.effort, 4 * k + 16), self.state.total)

    def _scored(self, query: _Query, fetched: Sequence[Any], k: int) -> Neighbours:
        """Return the best of some rows, scored by their packed vectors."""
        keys, rows = self._unpacked(sorted((row[0], row[1]) for row in fetched))
        return search_rows(query.vector, keys, rows, k, self.facts.similarity)

    def _all(self, where: Sql) -> tuple[IntArray, FloatArray]:
        """Return the keys and vectors of all rows that meet a condition."""
        query = f"SELECT key, vector FROM rows WHERE {where.text} ORDER BY key"
        return self._unpacked(self._rows(query, where.parameters))

    def _unpacked(self, rows: Sequence[Any]) -> tuple[IntArray, FloatArray]:
        keys = np.fromiter((key for key, _ in rows), np.int64, len(rows))
        packed = np.frombuffer(bytearray().join(blob for _, blob in rows), np.uint8)  # torch needs writable memory
        return keys, self.packing.unpack(packed.reshape(len(rows), self.packing.row_bytes))

    def _keys(self, where: Sql, most: int | None) -> list[int]:
        found = self._rows(f"SELECT key FROM rows WHERE {where.text} LIMIT %s", (*where.parameters, most))
        return [key for (key,) in found]

    def _rows(self, query: str, parameters: Sequence[Any]) -> list[Any]:
        return self.connection.execute(query.encode(), parameters, binary=True).fetchall()


class _Query(NamedTuple):
    vector: FloatArray
    """(1, D), without changes."""
    sent: FloatArray
    """(D,), in the form that the server receives: of length 1 for the cosine."""
    norm: float

    @property
    def text(self) -> str:
        return as_vector(self.sent)

    @property
    def largest(self) -> float:
        return float(np.abs(self.sent).max(initial=0))


def embeddings(vectors: FloatArray, similarity: Similarity) -> FloatArray:
    """Return the vectors that pgvector compares: those of length 1 for the cosine, otherwise the same."""
    if similarity != "cosine":
        return vectors
    rows = vectors.astype(np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(norms > 0, norms, 1)).astype(np.float32)


def as_vector(row: FloatArray) -> str:
    """Write a vector for pgvector without changing its float32 values.

    >>> as_vector(np.array([0.1, -2.0], np.float32))
    '[0.100000001,-2]'
    """
    return f"[{','.join(['%.9g'] * len(row)) % tuple(row.tolist())}]"


def where_sql(condition: Condition | None) -> Sql:
    """Return the SQL that selects the rows that meet a condition."""
    where = Sql("true") if condition is None else to_sql(condition, POSTGRES)
    if len(where.parameters) > _MOST_PARAMETERS:
        raise BadInput(
            f"the filter has {len(where.parameters):,} names and values, but PostgreSQL takes at most "
            f"{_MOST_PARAMETERS:,}; split it"
        )
    return where


def _joined(parts: Sequence[Neighbours], compared: int) -> Neighbours:
    """Return the results of several queries as one."""
    keys, scores = [part.keys[0] for part in parts], [part.scores[0] for part in parts]
    return Neighbours(keys, scores, all(part.exact for part in parts), compared)


def _share(found: Neighbours, truth: Neighbours) -> float:
    """Return the share of the nearest rows that were found; rows with equal scores count as equal."""
    worst = truth.scores[0].min(initial=np.inf)
    return float((found.scores[0] >= worst).sum()) / max(len(truth.keys[0]), 1)
