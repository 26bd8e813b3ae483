"""Retrieves and re-ranks: a bi-encoder finds a short list, and a more accurate model sorts it.

Uses models through the protocols in ``search/found.py``. Keeps texts and vectors in memory, or in a persistent store.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, overload

import numpy as np

from sbert.errors import BadInput, check_count, check_option, shown
from sbert.search.collection import Collection, MemoryCollection
from sbert.search.filters import Condition, Filter, read_filter
from sbert.search.found import Added, ByVectors, Found, Reranker, Retriever, SearchHit, Seconds
from sbert.search.index import Neighbours
from sbert.search.packing import StoredPrecision
from sbert.search.reranking import ShortListSorter
from sbert.search.store import Document, Match, Store
from sbert.search.store.document import DocumentColumns
from sbert.search.stored import StoredCollection
from sbert.types import FloatArray

if TYPE_CHECKING:
    from sbert.models.vectors import VectorModel

CANDIDATES = 100
"""Default length of the short list."""
Mode = Literal["vector", "lexical", "hybrid"]
"""How a short list is found: by the similarity of vectors, by words, or by the ranks in both lists."""
NOTHING = Neighbours([np.empty(0, np.int64)], [np.empty(0)], exact=True, compared=0)
"""The result of a search for one query that was not made."""
_FUSION = 60  # the constant of reciprocal rank fusion (Cormack et al., 2009)


class Searcher:
    """A collection of texts to search. Threads may add to it and search it at the same time.

    Args:
        model: Finds the short list; a bi-encoder, or the ``documents`` of a poly-encoder.
        reranker: Sorts the short list; a cross-encoder or a poly-encoder. Without one, the short list is the result.

    >>> from sbert import BiEncoder
    >>> searcher = Searcher(BiEncoder.from_pretrained())
    >>> _ = searcher.add(["A man is eating.", "비가 온다.", "A cat sleeps."], ids=["meal", "rain", "cat"])
    >>> [hit.id for hit in searcher.search("Someone has lunch.", k=1).hits]
    ['meal']
    """

    # Slots make setting an attribute that does not exist an error.
    __slots__ = ("_collection", "_model", "_sorter")

    def __init__(self, model: Retriever, reranker: Reranker | None = None) -> None:
        if not isinstance(model, Retriever) or isinstance(model, ByVectors):
            raise BadInput(
                f"the model is a {type(model).__name__}, but a short list is found by vectors; pass a BiEncoder, or "
                "the documents of a PolyEncoder"
            )
        self._model = model
        self._collection: Collection = MemoryCollection(model)
        self._sorter = None if reranker is None else ShortListSorter(reranker, model)

    @classmethod
    def open(
        cls,
        location: str | Path,
        model: VectorModel | str | Path | None = None,
        reranker: Reranker | None = None,
        *,
        precision: StoredPrecision = "float32",
        show_progress_bar: bool = False,
    ) -> Searcher:
        """Open a store, or create one.

        Args:
            location: An SQLite file such as ``faq.db``, or the address of a PostgreSQL database.
            model: A model or its name. Defaults to the one that the store was created with, or to the embedded model.
                A model whose vectors differ from those in the store is refused.
            reranker: Sorts the short list; a cross-encoder or a poly-encoder.
            precision: The precision in which a new store keeps vectors.
            show_progress_bar: Whether to show a progress bar when a search has to build the index of a large store.
        """
        from sbert.search.opening import open_store

        store, retriever = open_store(location, model, precision, show_progress_bar=show_progress_bar)
        return cls.over(store, retriever, reranker)

    @classmethod
    def over(cls, store: Store, model: Retriever, reranker: Reranker | None = None) -> Searcher:
        """Return a searcher over a store that is open already.

        Args:
            store: The store.
            model: The model that the vectors in the store come from, which is not checked here.
            reranker: Sorts the short list.
        """
        searcher = cls(model, reranker)
        searcher._collection = StoredCollection(store, model)
        return searcher

    def __len__(self) -> int:
        return len(self._collection)

    @property
    def ids(self) -> list[int | str]:
        """The ids of all texts, in the order in which they were added."""
        return self._collection.ids

    def add(
        self,
        texts: Iterable[str],
        ids: Iterable[int | str] | None = None,
        vectors: FloatArray | None = None,
        metadata: Iterable[Mapping[str, Any]] | None = None,
        *,
        show_progress_bar: bool = False,
    ) -> Added:
        """Add texts.

        In memory all of them are added or, if one is wrong, none. A store takes any number of texts, 1,024 at a time,
        embeds only those that it does not hold yet under any id, and replaces the text and the metadata of known ids.

        Args:
            texts: Texts that can be found.
            ids: An id for each text. Defaults to the next free numbers, and in a store to hashes of the texts.
            vectors: What the model's ``encode_document`` gives for the texts, if it is known already: (N, D).
            metadata: For each text, the values that filters select by and that hits carry.
            show_progress_bar: Whether to show a progress bar.
        """
        names = None if ids is None else (_plain(row, name) for row, name in enumerate(ids))
        rows = [texts] if isinstance(texts, str) else texts
        given = None if vectors is None else _matrix(vectors)
        return self._collection.add(DocumentColumns(rows, names, metadata, given), show_progress_bar)

    def remove(self, ids: Iterable[int | str]) -> int:
        """Remove the texts with these ids, and return how many there were."""
        return self._collection.remove([_plain(row, name) for row, name in enumerate(ids)])

    @overload
    def search(
        self, query: str, k: int = 10, candidates: int = CANDIDATES, *, filter: Filter | None = None, mode: Mode = ...
    ) -> Found: ...
    @overload
    def search(
        self,
        query: list[str],
        k: int = 10,
        candidates: int = CANDIDATES,
        *,
        filter: Filter | None = None,
        mode: Mode = ...,
    ) -> list[Found]: ...
    def search(
        self,
        query: str | list[str],
        k: int = 10,
        candidates: int = CANDIDATES,
        *,
        filter: Filter | None = None,
        mode: Mode = "vector",
    ) -> Found | list[Found]:
        """Find the ``k`` best texts for a query, or for each of several queries.

        Args:
            query: Text to look for, or a list of texts.
            k: Number of hits; fewer if there are fewer texts.
            candidates: Length of the short list that the re-ranker reads, and of the two lists that are joined if the
                mode is "hybrid"; at least ``k``.
            filter: Condition on the metadata, such as ``lang = "ko" and year >= 2020``; see
                :func:`~sbert.search.filters.read_filter`.
            mode: Whether the short list is found by vectors, by words ("lexical"), or by the ranks in both ("hybrid").
        """
        check_count("k", k)
        check_count("candidates", candidates)
        check_option("mode", mode, get_args(Mode))
        condition = None if filter is None else read_filter(filter)
        if isinstance(query, str):
            return self._search(query, k, candidates, condition, mode)
        if not isinstance(query, list) or not all(isinstance(text, str) for text in query):
            raise BadInput(f"the query is {shown(query)}, but must be a text or a list of texts")
        return [self._search(text, k, candidates, condition, mode) for text in query]

    def similar(self, id: int | str, k: int = 10, *, filter: Filter | None = None) -> Found:
        """Find the ``k`` texts that are most similar to one that was added, without that text itself."""
        check_count("k", k)
        document = self._collection.get(_plain(0, id))
        if document is None or document.vector is None:
            raise BadInput(f"there is no text with the id {shown(id)}; add it first")
        began = time.perf_counter()
        near = self._collection.nearest(document.vector[None], k + 1, None if filter is None else read_filter(filter))
        short, documents = _short_list(near, [], k + 1, "vector"), self._collection.read(near.keys[0])
        hits = [_hit(documents[key], place.score, place) for key, place in short.items() if key in documents]
        others = [hit for hit in hits if hit.id != document.id][:k]
        return Found(others, 0, Seconds(0.0, time.perf_counter() - began, 0.0), near.exact, near.compared)

    def _search(self, query: str, k: int, candidates: int, condition: Condition | None, mode: Mode) -> Found:
        count = k if self._sorter is None and mode != "hybrid" else max(k, candidates)
        began = time.perf_counter()
        vectors = None if mode == "lexical" else self._model.encode_query(query)[None]
        encoded = time.perf_counter()
        near = NOTHING if vectors is None else self._collection.nearest(vectors, count, condition)
        matches = [] if mode == "vector" else self._collection.matching(query, count, condition)
        short = _short_list(near, matches, k if self._sorter is None else count, mode)
        with_vectors = self._sorter is not None and self._sorter.needs_vectors
        documents = self._collection.read(np.array(list(short), np.int64), with_vectors)
        retrieved = time.perf_counter()
        scored = [(key, short[key].score) for key in short if key in documents][:k]
        if self._sorter is not None:
            scored = self._sorter.best(query, {key: documents[key] for key in short if key in documents}, k)
        reranked = time.perf_counter()
        hits = [_hit(documents[key], score, short[key]) for key, score in scored]
        seconds = Seconds(encoded - began, retrieved - encoded, reranked - retrieved if self._sorter else 0.0)
        return Found(hits, len(documents) if self._sorter else 0, seconds, near.exact, near.compared)


class _Place(NamedTuple):
    """The place of a document in the lists by vectors and by words, and its score in the short list."""

    score: float
    vector_rank: int | None
    lexical_rank: int | None


def _short_list(near: Neighbours, matches: list[Match], count: int, mode: Mode) -> dict[int, _Place]:
    """Return the places of the best documents by their keys, best first."""
    by_vector = {key: rank for rank, key in enumerate(near.keys[0].tolist(), 1)}
    by_words = {match.key: rank for rank, match in enumerate(matches, 1)}
    if mode == "vector":
        return {key: _Place(near.scores[0][rank - 1].item(), rank, None) for key, rank in by_vector.items()}
    if mode == "lexical":
        return {match.key: _Place(match.score, None, by_words[match.key]) for match in matches}
    places = {
        key: _Place(_fused(by_vector.get(key), by_words.get(key)), by_vector.get(key), by_words.get(key))
        for key in dict.fromkeys([*by_vector, *by_words])
    }
    return dict(sorted(places.items(), key=lambda place: -place[1].score)[:count])


def _fused(*ranks: int | None) -> float:
    """Return the score of reciprocal rank fusion."""
    return sum(1 / (_FUSION + rank) for rank in ranks if rank is not None)


def _hit(document: Document, score: float, place: _Place) -> SearchHit:
    return SearchHit(document.id, score, document.text, document.metadata, place.vector_rank, place.lexical_rank)


def _matrix(vectors: object) -> FloatArray:
    """Return vectors that a user passed as an array: (N, D)."""
    try:
        found = np.asarray(vectors)
    except ValueError:  # rows of different lengths
        found = np.empty(0)
    if found.ndim != 2 or not np.issubdtype(found.dtype, np.floating):
        raise BadInput("the vectors are no rows of decimal numbers, but one row per text is needed; pass a 2-D array")
    return found


def _plain(row: int, name: object) -> int | str:
    """Return an id as a plain number or text."""
    if isinstance(name, np.integer):
        return int(name)
    if not isinstance(name, int | str):
        raise BadInput(f"the id of row {row} is {shown(name)}, but must be a number or a text")
    return name
