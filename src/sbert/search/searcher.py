"""Retrieve, then re-rank: a bi-encoder finds a short list, a model that reads more closely puts it in order.

Knows models only by what they can do, and keeps texts and vectors in memory.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Protocol, runtime_checkable

import numpy as np

from sbert.errors import BadInput, check_count
from sbert.search.exact import semantic_search
from sbert.types import Array, FloatArray, Hit, Similarity

CANDIDATES = 100
"""How long the short list is unless given."""


@runtime_checkable
class Retriever(Protocol):
    """What finds the short list: a bi-encoder."""

    similarity_fn_name: Similarity

    def encode_query(self, sentences: str, /) -> Array:
        """(D,)."""
        ...

    def encode_document(self, sentences: Sequence[str], /) -> Array:
        """(N, D)."""
        ...


@runtime_checkable
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

    # So that a name that is set by mistake is an error, and not an attribute that nobody reads.
    __slots__ = ("_known", "_model", "_read", "_reranker", "_vectors", "ids", "texts")

    def __init__(self, model: Retriever, reranker: Reranker | None = None) -> None:
        if not isinstance(model, Retriever):
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
        self.ids: list[int | str] = []
        self.texts: list[str] = []
        self._known: set[int | str] = set()
        self._vectors: list[Array] = []
        self._read: list[FloatArray] = []
        """The re-ranker's own vectors, where it works by them."""

    def __len__(self) -> int:
        return len(self.texts)

    def add(self, texts: Iterable[str], ids: Iterable[int | str] | None = None) -> None:
        """Add texts: all of them or, where one is wrong, none.

        Args:
            texts: what can be found.
            ids: what to call them; their places, or the next free numbers, unless given.
        """
        new = [texts] if isinstance(texts, str) else list(texts)
        free = (place for place in count(len(self)) if place not in self._known)
        named: list[int | str] = [*(islice(free, len(new)) if ids is None else ids)]
        self._check_ids(named, len(new))
        if not new:
            return
        vectors = self._model.encode_document(new)
        if isinstance(self._reranker, ByVectors):
            same = getattr(self._reranker, "documents", None) is self._model
            self._read.append(vectors if same else self._reranker.encode_document(new))
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
        check_count("k", k)
        check_count("candidates", candidates)
        if not isinstance(query, str):
            raise BadInput(f"the query is a {type(query).__name__}, but must be one text; search for one at a time")
        began = time.perf_counter()
        vector = self._model.encode_query(query)
        encoded = time.perf_counter()
        short = self._retrieve(vector, k if self._reranker is None else max(k, candidates))
        retrieved = time.perf_counter()
        places = short if self._reranker is None else self._rerank(query, short, k)
        reranked = retrieved if self._reranker is None else time.perf_counter()
        seconds = Seconds(encoded - began, retrieved - encoded, reranked - retrieved)
        hits = [Hit(self.ids[place], score, self.texts[place]) for place, score in places]
        return Found(hits, 0 if self._reranker is None else len(short), seconds)

    def _retrieve(self, vector: Array, k: int) -> list[tuple[int, float]]:
        """Places and scores, best first."""
        if not self.texts:
            return []
        self._vectors = _joined(self._vectors)
        nearest = semantic_search(vector, self._vectors[0], k, self._model.similarity_fn_name)[0]
        return [(int(hit.id), hit.score) for hit in nearest]

    def _rerank(self, query: str, short: list[tuple[int, float]], k: int) -> list[tuple[int, float]]:
        places = [place for place, _ in short]
        if not places:
            return []
        assert self._reranker is not None
        if not isinstance(self._reranker, ByVectors):
            ranked = self._reranker.rank(query, [self.texts[place] for place in places], k)
            return [(places[int(hit.id)], hit.score) for hit in ranked]
        self._read = _joined(self._read)
        scores = self._reranker.score(self._reranker.encode_query(query), self._read[0][places])
        return [(places[best], float(scores[best])) for best in np.argsort(-scores, kind="stable")[:k]]

    def _check_ids(self, ids: list[int | str], texts: int) -> None:
        if len(ids) != texts:
            raise BadInput(f"got {len(ids)} ids for {texts} texts, but each text needs one")
        for row, name in enumerate(ids):
            if not isinstance(name, int | str | np.integer):
                raise BadInput(f"the id of row {row} is {name!r}, but must be a number or a text")
        twice = next((name for name, count in Counter(ids).items() if count > 1 or name in self._known), None)
        if twice is not None:
            raise BadInput(f"the id {twice!r} stands for two texts, but each needs its own")


def _joined(parts: list[FloatArray]) -> list[FloatArray]:
    """What was added bit by bit, as one array: once, at the first search after."""
    return parts if len(parts) == 1 else [np.concatenate(parts)]
