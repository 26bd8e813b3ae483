"""An index that compares a query with every vector. Works on arrays only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sbert.disk.files import whole_folder
from sbert.errors import BadInput
from sbert.search.exact import semantic_search
from sbert.search.index.index import Neighbours
from sbert.search.measure import Rows, Scorer
from sbert.types import FloatArray, IntArray, Similarity


class ExactIndex:
    """Keeps vectors in memory and compares all of them: the right choice up to about 50,000 vectors.

    >>> index = ExactIndex(2)
    >>> index.add(np.array([10, 20]), np.array([[1.0, 0.0], [0.0, 1.0]], np.float32))
    >>> index.search(np.array([[0.9, 0.1]], np.float32), k=1).keys[0].tolist()
    [10]
    """

    def __init__(self, dimension: int, similarity: Similarity = "cosine") -> None:
        self.similarity: Similarity = similarity
        # One attribute, so that a search in another thread sees keys and vectors of the same state.
        self._rows: tuple[IntArray, FloatArray] = np.empty(0, np.int64), np.empty((0, dimension), np.float32)

    def __len__(self) -> int:
        return len(self._rows[0])

    def add(self, keys: IntArray, vectors: FloatArray) -> None:
        """Add vectors whose keys are larger than all existing keys."""
        check_keys(self._rows[0], keys)
        new = (keys, np.asarray(vectors, np.float32))
        self._rows = np.concatenate([self._rows[0], new[0]]), np.concatenate([self._rows[1], new[1]])

    def remove(self, keys: IntArray) -> None:
        """Remove the vectors with these keys."""
        kept = ~np.isin(self._rows[0], keys)
        if not kept.all():
            self._rows = self._rows[0][kept], self._rows[1][kept]

    def search(self, vectors: FloatArray, k: int, allowed: IntArray | None = None) -> Neighbours:
        """Find the ``k`` nearest vectors of each query; see :class:`~sbert.search.index.Index`."""
        keys, corpus = self._rows
        if allowed is not None:
            rows = np.flatnonzero(np.isin(keys, allowed, assume_unique=True))
            keys, corpus = keys[rows], corpus[rows]
        return search_rows(vectors, keys, corpus, k, self.similarity)

    def rows(self) -> tuple[IntArray, FloatArray]:
        """Return all keys and vectors."""
        return self._rows

    def save(self, folder: Path) -> None:
        """Write the index to a folder, completely or not at all."""
        with whole_folder(folder) as new:
            np.save(new / "keys.npy", self._rows[0])
            np.save(new / "vectors.npy", self._rows[1])
            (new / "similarity").write_text(self.similarity)

    @classmethod
    def open(cls, folder: Path) -> ExactIndex:
        """Read an index that :meth:`save` wrote."""
        similarity: Similarity = (folder / "similarity").read_text()  # type: ignore[assignment]
        keys, vectors = (np.load(folder / f"{name}.npy", allow_pickle=False) for name in ("keys", "vectors"))
        index = cls(vectors.shape[1], similarity)
        index.add(keys, vectors)
        return index


def search_rows(
    queries: FloatArray, keys: IntArray, vectors: FloatArray, k: int, similarity: Similarity
) -> Neighbours:
    """Compare queries with all rows of an array. The keys are in ascending order."""
    found = semantic_search(queries, vectors, k, similarity) if len(keys) else [[] for _ in queries]
    rows = [np.array([hit.id for hit in hits], np.int64) for hits in found]
    scores = [np.array([hit.score for hit in hits]) for hits in found]
    return Neighbours([keys[some] for some in rows], scores, exact=True, compared=len(keys))


def best_of(
    queries: FloatArray, keys: IntArray, vectors: FloatArray, counts: IntArray, k: int, similarity: Similarity
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Score a few candidates of each query, and yield the keys and scores of the ``k`` best.

    Args:
        queries: (Q, D).
        keys: The keys of all candidates, those of the first query first: (N,).
        vectors: Their vectors, (N, D).
        counts: Number of candidates of each query, (Q,).
        k: Number of candidates to return for each query.
        similarity: "cosine", "dot" or "euclidean".
    """
    own = np.repeat(np.arange(len(queries)), counts)
    Rows.read("queries", queries)  # refuses NaN and infinity
    scores = Scorer(queries, vectors, similarity).scores(own, np.arange(len(keys)))
    order = np.lexsort((keys, -scores, own))
    for stop, count in zip(np.cumsum(counts).tolist(), counts.tolist(), strict=True):
        best = order[stop - count : stop][:k]
        yield keys[best], scores[best]


def check_keys(before: IntArray, new: IntArray) -> None:
    """Raise BadInput unless the new keys ascend and are larger than the existing keys."""
    together = np.concatenate([before[-1:], new])
    if (np.diff(together) <= 0).any():
        raise BadInput("the keys do not ascend, but every key must be larger than those before")
