"""Retrieves and re-ranks: a bi-encoder finds a short list, and a more accurate model sorts it.

Uses models through the protocols below. Keeps texts and vectors in memory.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Protocol, runtime_checkable

import numpy as np

from sbert.errors import BadInput, check_count, shown
from sbert.search.exact import semantic_search
from sbert.types import Array, FloatArray, Hit, Similarity

CANDIDATES = 100
"""Default length of the short list."""


@runtime_checkable
class Retriever(Protocol):
    """A model that finds the short list, such as a bi-encoder."""

    similarity_fn_name: Similarity

    def encode_query(self, sentences: str, /) -> Array:
        """Embed a query: (D,)."""
        ...

    def encode_document(self, sentences: Sequence[str], /) -> Array:
        """Embed documents: (N, D)."""
        ...


@runtime_checkable
class Reranker(Protocol):
    """A model that sorts the short list, such as a cross-encoder or a poly-encoder."""

    def rank(self, query: str, documents: Sequence[str], top_k: int | None = None) -> list[Hit]:
        """Sort documents by their score with a query, best first; the id of a hit is the position of its document."""
        ...


@runtime_checkable
class ByVectors(Protocol):
    """A re-ranker that reads a document as one vector, such as a poly-encoder; the vectors are kept."""

    def encode_query(self, sentences: str, /) -> FloatArray:
        """Embed a query as several vectors: (M, H)."""
        ...

    def encode_document(self, sentences: Sequence[str], /) -> FloatArray:
        """Embed documents: (N, H)."""
        ...

    def score(self, codes: FloatArray, vectors: FloatArray, /) -> FloatArray:
        """Score documents with a query: (M, H), (K, H) -> (K,)."""
        ...


@dataclass(frozen=True, slots=True)
class Seconds:
    """Duration of each stage of a search, in seconds."""

    encode: float
    """Embedding the query."""
    retrieve: float
    """Finding the short list."""
    rerank: float
    """Sorting the short list; 0 without a re-ranker."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search."""

    hits: list[Hit]
    """Best first, with the scores of the re-ranker if there is one."""
    candidates: int
    """Number of documents that the re-ranker read; 0 without one."""
    seconds: Seconds


class Searcher:
    """A collection of texts to search. Threads may add to it and search it at the same time.

    Args:
        model: Finds the short list; a bi-encoder, or the ``documents`` of a poly-encoder.
        reranker: Sorts the short list; a cross-encoder or a poly-encoder. Without one, the short list is the result.

    >>> from sbert import BiEncoder
    >>> searcher = Searcher(BiEncoder.from_pretrained())
    >>> searcher.add(["A man is eating.", "비가 온다.", "A cat sleeps."], ids=["meal", "rain", "cat"])
    >>> [hit.id for hit in searcher.search("Someone has lunch.", k=1).hits]
    ['meal']
    """

    # Slots make setting an attribute that does not exist an error.
    __slots__ = ("_known", "_lock", "_model", "_rerank_vectors", "_reranker", "_vectors", "ids", "texts")

    def __init__(self, model: Retriever, reranker: Reranker | None = None) -> None:
        if not isinstance(model, Retriever) or isinstance(model, ByVectors):
            raise BadInput(
                f"the model is a {type(model).__name__}, but a short list is found by vectors; pass a BiEncoder, or "
                "the documents of a PolyEncoder"
            )
        if reranker is not None and not isinstance(reranker, Reranker):
            raise BadInput(
                f"the re-ranker is a {type(reranker).__name__}, but must be able to rank; pass a CrossEncoder or a "
                "PolyEncoder"
            )
        self._model, self._reranker = model, reranker
        self._lock = threading.Lock()  # held while the fields below change; rows are only ever appended
        self.ids: list[int | str] = []
        self.texts: list[str] = []
        self._known: set[int | str] = set()
        self._vectors = _Parts()
        self._rerank_vectors = _Parts()

    def __len__(self) -> int:
        return len(self.texts)

    def add(
        self, texts: Iterable[str], ids: Iterable[int | str] | None = None, vectors: FloatArray | None = None
    ) -> None:
        """Add texts. If one of them is refused, none is added.

        Args:
            texts: Texts that can be found.
            ids: A unique id for each text. Defaults to the next free numbers.
            vectors: The vectors (N, D) that ``encode_document`` of the model returns for the texts, if they have been
                computed already.
        """
        new = [texts] if isinstance(texts, str) else list(texts)
        named = None if ids is None else [_plain(row, name) for row, name in enumerate(ids)]
        if named is not None:
            self._check_ids(named, len(new))
        if not new:
            return
        if vectors is None:
            vectors = self._model.encode_document(new)
        elif len(vectors) != len(new):
            raise BadInput(f"got {len(vectors)} vectors for {len(new)} texts, but each text needs one")
        read = self._vectors_for_reranking(new, vectors)
        with self._lock:
            if named is None:
                free = (place for place in count(len(self.texts)) if place not in self._known)
                named = [*islice(free, len(new))]
            else:
                self._check_ids(named, len(new))  # another thread may have added one of them meanwhile
            self._vectors.append(vectors)
            if read is not None:
                self._rerank_vectors.append(read)
            self.ids += named
            self.texts += new
            self._known.update(named)

    def search(self, query: str, k: int = 10, candidates: int = CANDIDATES) -> Found:
        """Find the ``k`` best texts for a query.

        Args:
            query: Text to look for.
            k: Number of hits; fewer if there are fewer texts.
            candidates: Length of the short list that the re-ranker reads, at least ``k``.
        """
        check_count("k", k)
        check_count("candidates", candidates)
        if not isinstance(query, str):
            raise BadInput(f"the query is a {type(query).__name__}, but must be one text; search for one at a time")
        began = time.perf_counter()
        vector = self._model.encode_query(query)
        encoded = time.perf_counter()
        with self._lock:
            vectors, read = self._vectors.joined(), self._rerank_vectors.joined()
        short = self._retrieve(vector, vectors, k if self._reranker is None else max(k, candidates))
        retrieved = time.perf_counter()
        best, reranked = short, retrieved
        if self._reranker is not None:
            best = self._rerank(self._reranker, query, short, read, k)
            reranked = time.perf_counter()
        hits = [Hit(self.ids[row], score, self.texts[row]) for row, score in best]
        seconds = Seconds(encoded - began, retrieved - encoded, reranked - retrieved)
        return Found(hits, 0 if self._reranker is None else len(short), seconds)

    def _retrieve(self, query: Array, vectors: FloatArray | None, k: int) -> list[tuple[int, float]]:
        """Return the rows and scores of the ``k`` nearest vectors, best first."""
        if vectors is None:
            return []
        return [
            (int(hit.id), hit.score) for hit in semantic_search(query, vectors, k, self._model.similarity_fn_name)[0]
        ]

    def _rerank(
        self, reranker: Reranker, query: str, short: list[tuple[int, float]], vectors: FloatArray | None, k: int
    ) -> list[tuple[int, float]]:
        """Return the rows and scores of the ``k`` best of the short list, best first."""
        rows = [row for row, _ in short]
        if not rows:
            return []
        if not isinstance(reranker, ByVectors) or vectors is None:
            return [
                (rows[int(hit.id)], hit.score) for hit in reranker.rank(query, [self.texts[row] for row in rows], k)
            ]
        scores = reranker.score(reranker.encode_query(query), vectors[rows])
        return [(rows[best], float(scores[best])) for best in np.argsort(-scores, kind="stable")[:k]]

    def _vectors_for_reranking(self, texts: list[str], vectors: FloatArray) -> FloatArray | None:
        if not isinstance(self._reranker, ByVectors):
            return None
        same = getattr(self._reranker, "documents", None) is self._model
        return vectors if same else self._reranker.encode_document(texts)

    def _check_ids(self, ids: list[int | str], texts: int) -> None:
        if len(ids) != texts:
            raise BadInput(f"got {len(ids)} ids for {texts} texts, but each text needs one")
        twice = next((name for name, count in Counter(ids).items() if count > 1 or name in self._known), None)
        if twice is not None:
            raise BadInput(f"the id {shown(twice)} stands for two texts, but each needs its own")


class _Parts:
    """Vectors that are appended part by part and joined into one array when they are read."""

    __slots__ = ("parts",)

    def __init__(self) -> None:
        self.parts: list[FloatArray] = []

    def append(self, vectors: FloatArray) -> None:
        if self.parts and self.parts[0].shape[1:] != vectors.shape[1:]:
            ours, theirs = self.parts[0].shape[1:], vectors.shape[1:]
            raise BadInput(
                f"the vectors have shape {theirs} each, but those before have {ours}; use one model for all"
            )
        self.parts.append(vectors)

    def joined(self) -> FloatArray | None:
        """Return all vectors (N, D), or None if there are none."""
        if len(self.parts) > 1:
            self.parts = [np.concatenate(self.parts)]
        return self.parts[0] if self.parts else None


def _plain(row: int, name: object) -> int | str:
    """Return an id as a plain number or text."""
    if isinstance(name, np.integer):
        return int(name)
    if not isinstance(name, int | str):
        raise BadInput(f"the id of row {row} is {shown(name)}, but must be a number or a text")
    return name
