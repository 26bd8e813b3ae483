"""Retrieve, then re-rank: a bi-encoder finds a short list, a model that reads more closely puts it in order.

Knows models only by what they can do, and keeps texts and vectors in memory.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from sbert.errors import BadInput
from sbert.search.exact import semantic_search
from sbert.types import Array, FloatArray, Hit, Similarity

CANDIDATES = 100
"""How long the short list is unless given."""


class Retriever(Protocol):
    """What finds the short list: a bi-encoder."""

    similarity_fn_name: Similarity

    def encode_query(self, sentences: str, /) -> Array:
        """(D,)."""
        ...

    def encode_document(self, sentences: Sequence[str], /) -> Array:
        """(N, D)."""
        ...


class Reranker(Protocol):
    """What puts the short list in order: a cross-encoder or a poly-encoder."""

    def rank(self, query: str, documents: Sequence[str], top_k: int | None = None) -> list[Hit]:
        """The documents by their places, best first."""
        ...


@runtime_checkable
class ByVectors(Protocol):
    """A re-ranker that needs of a document only its vector, which can be kept: a poly-encoder."""

    def encode_query(self, sentences: str, /) -> FloatArray:
        """(M, H)."""
        ...

    def encode_document(self, sentences: Sequence[str], /) -> FloatArray:
        """(N, H)."""
        ...

    def score(self, codes: FloatArray, vectors: FloatArray, /) -> FloatArray:
        """(M, H), (K, H) -> (K,)."""
        ...


@dataclass(frozen=True, slots=True)
class Seconds:
    """What each stage of a search took."""

    encode: float
    """The query becomes a vector."""
    retrieve: float
    """The short list is found."""
    rerank: float
    """It is put in order; 0 without a re-ranker."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found, and what it cost."""

    hits: list[Hit]
    """Best first, with the re-ranker's scores where there is one."""
    candidates: int
    """How many documents the re-ranker looked at; 0 without one."""
    seconds: Seconds


class Searcher:
    """A collection of texts that can be searched.

    Args:
        model: finds the short list; a bi-encoder, or the ``documents`` of a poly-encoder.
        reranker: puts it in order; a cross-encoder or a poly-encoder. Without one, the short list is the result.

    >>> from sbert import BiEncoder
    >>> searcher = Searcher(BiEncoder.from_pretrained())
    >>> searcher.add(["A man is eating.", "비가 온다.", "A cat sleeps."], ids=["meal", "rain", "cat"])
    >>> [hit.id for hit in searcher.search("Someone has lunch.", k=1).hits]
    ['meal']
    """

    def __init__(self, model: Retriever, reranker: Reranker | None = None) -> None:
        self.model, self.reranker = model, reranker
        self.ids: list[int | str] = []
        self.texts: list[str] = []
        self._known: set[int | str] = set()
        self._vectors: list[Array] = []
        self._read: list[FloatArray] = []
        """The re-ranker's own vectors, where it works by them."""

    def __len__(self) -> int:
        return len(self.texts)

    def add(self, texts: Iterable[str], ids: Iterable[int | str] | None = None) -> None:
        """Add texts; their ids are their places unless given. Either all are added or, where one is wrong, none."""
        new = [texts] if isinstance(texts, str) else list(texts)
        named: list[int | str] = [*range(len(self), len(self) + len(new))] if ids is None else [*ids]
        self._check_ids(named, len(new))
        if not new:
            return
        vectors = self.model.encode_document(new)
        if isinstance(self.reranker, ByVectors):
            same = getattr(self.reranker, "documents", None) is self.model
            self._read.append(vectors if same else self.reranker.encode_document(new))
        self._vectors.append(vectors)
        self.texts += new
        self.ids += named
        self._known.update(named)

    def search(self, query: str, k: int = 10, candidates: int = CANDIDATES) -> Found:
        """The ``k`` best texts for ``query``.

        Args:
            query: what is looked for.
            k: hits; fewer where there are fewer texts.
            candidates: how long the short list is that the re-ranker reads, at least ``k``.
        """
        if k < 1 or candidates < 1:
            raise BadInput(f"k is {k} and candidates {candidates}, but both must be at least 1")
        began = time.perf_counter()
        vector = self.model.encode_query(query)
        encoded = time.perf_counter()
        short = self._retrieve(vector, k if self.reranker is None else max(k, candidates))
        retrieved = time.perf_counter()
        places = short if self.reranker is None else self._rerank(query, short, k)
        seconds = Seconds(encoded - began, retrieved - encoded, time.perf_counter() - retrieved)
        hits = [Hit(self.ids[place], score, self.texts[place]) for place, score in places]
        return Found(hits, 0 if self.reranker is None else len(short), seconds)

    def _retrieve(self, vector: Array, k: int) -> list[tuple[int, float]]:
        """Places and scores, best first."""
        if not self.texts:
            return []
        self._vectors = _joined(self._vectors)
        nearest = semantic_search(vector, self._vectors[0], k, self.model.similarity_fn_name)[0]
        return [(int(hit.id), hit.score) for hit in nearest]

    def _rerank(self, query: str, short: list[tuple[int, float]], k: int) -> list[tuple[int, float]]:
        places = [place for place, _ in short]
        if not places:
            return []
        assert self.reranker is not None
        if not isinstance(self.reranker, ByVectors):
            ranked = self.reranker.rank(query, [self.texts[place] for place in places], k)
            return [(places[int(hit.id)], hit.score) for hit in ranked]
        self._read = _joined(self._read)
        scores = self.reranker.score(self.reranker.encode_query(query), self._read[0][places])
        return [(places[best], float(scores[best])) for best in np.argsort(-scores, kind="stable")[:k]]

    def _check_ids(self, ids: list[int | str], texts: int) -> None:
        if len(ids) != texts:
            raise BadInput(f"got {len(ids)} ids for {texts} texts, but each text needs one")
        twice = next((name for name, count in Counter(ids).items() if count > 1 or name in self._known), None)
        if twice is not None:
            raise BadInput(f"the id {twice!r} stands for two texts, but each needs its own")


def _joined(parts: list[FloatArray]) -> list[FloatArray]:
    """What was added bit by bit, as one array: once, at the first search after."""
    return parts if len(parts) == 1 else [np.concatenate(parts)]
