"""Searches and changes the store on separate threads, with models that compute through the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from sbert.errors import BadInput
from sbert.models.postprocess import best
from sbert.search.searcher import Searcher
from sbert.search.store import Store
from sbert.serve.served import Served
from sbert.types import Array, Hit

Result = TypeVar("Result")
_THREADS = 8
_AT_ONCE = 256
"""Number of texts that are embedded together, so that searches can run in between."""


class QueuedEncoder:
    """Embeds the texts of a store through the engine, like ``BiEncoder``."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self.similarity_fn_name = served.bi_encoder().similarity_fn_name

    def encode_query(self, sentences: str, /) -> Array:
        """Embed a query: (D,)."""
        prompt = self._served.bi_encoder().prompt_for("query")
        vector: Array = self._served.encode_now([sentences], prompt)[0]
        return vector

    def encode_document(self, sentences: Sequence[str], /) -> Array:
        """Embed documents: (N, D)."""
        prompt = self._served.bi_encoder().prompt_for("document")
        starts = range(0, len(sentences), _AT_ONCE)
        return np.concatenate(
            [self._served.encode_now(sentences[start : start + _AT_ONCE], prompt) for start in starts]
        )


class QueuedReranker:
    """Sorts a short list through the engine, with a model of any kind."""

    def __init__(self, served: Served) -> None:
        self._served = served

    def rank(self, query: str, documents: Sequence[str], top_k: int | None = None) -> list[Hit]:
        """Sort documents by their score with a query, best first."""
        return best(*self._served.rank_now(query, documents), documents, top_k)


class Retrieval:
    """A store with its model and an optional re-ranker.

    Args:
        store: The store.
        served: The model that computes the vectors of the store.
        reranker: The model that sorts the hits of requests with ``rerank``.
    """

    def __init__(self, store: Store, served: Served, reranker: Served | None) -> None:
        self.store, self.served, self.reranker = store, served, reranker
        encoder = QueuedEncoder(served)
        self._plain = Searcher.over(store, encoder)
        self._reranked = None if reranker is None else Searcher.over(store, encoder, QueuedReranker(reranker))
        self._pool = ThreadPoolExecutor(_THREADS, "sbert-store")

    def searcher(self, rerank: bool) -> Searcher:
        """Return the searcher with or without a re-ranker."""
        if not rerank:
            return self._plain
        if self._reranked is None:
            raise BadInput(
                "the request asks for re-ranking, but the server has no re-ranker; start it with --rerank MODEL"
            )
        return self._reranked

    async def run(self, function: Callable[[], Result]) -> Result:
        """Call a function that uses the store on one of its threads."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, function)

    def close(self) -> None:
        """Finish the running calls, and close the store."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self.store.close()
