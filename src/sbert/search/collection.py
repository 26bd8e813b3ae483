"""Texts with ids, metadata and vectors that a search runs over: in memory, or in a store."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import count, islice
from typing import Protocol

import numpy as np

from sbert.errors import BadInput, shown
from sbert.search.exact import semantic_search
from sbert.search.filters import Condition
from sbert.search.found import Added, Retriever
from sbert.search.index import Neighbours
from sbert.search.store import Document, Match
from sbert.search.store.document import DocumentColumns
from sbert.types import FloatArray, IntArray


class Collection(Protocol):
    """What a search needs of a collection. Every document has a key, by which it is found."""

    def __len__(self) -> int:
        """Return the number of documents."""
        ...

    @property
    def ids(self) -> list[int | str]:
        """The ids, in the order in which the documents were added."""
        ...

    def add(self, columns: DocumentColumns, show_progress_bar: bool) -> Added:
        """Add texts, with their ids, metadata and vectors if they are given."""
        ...

    def remove(self, ids: Sequence[int | str]) -> int:
        """Remove documents, and return how many there were."""
        ...

    def nearest(self, vectors: FloatArray, k: int, condition: Condition | None) -> Neighbours:
        """Find the ``k`` documents that are nearest to each query and meet a condition."""
        ...

    def matching(self, query: str, k: int, condition: Condition | None) -> list[Match]:
        """Find the ``k`` documents that match the words of a query best and meet a condition."""
        ...

    def read(self, keys: IntArray, vectors: bool = False) -> dict[int, Document]:
        """Return documents by their keys, on request with vectors. Keys that no longer exist are left out."""
        ...

    def get(self, name: int | str) -> Document | None:
        """Return a document with its vector, if there is one with this id."""
        ...


class MemoryCollection:
    """Documents in memory. Rows are only ever appended, so that their numbers are their keys."""

    def __init__(self, model: Retriever) -> None:
        self.model = model
        self._lock = threading.Lock()  # held while the fields below change
        self._documents: list[Document] = []
        self._places: dict[int | str, int] = {}
        self._removed: set[int] = set()
        self._vectors = Parts()

    def __len__(self) -> int:
        return len(self._places)

    @property
    def ids(self) -> list[int | str]:
        """The ids, in the order in which the documents were added."""
        return list(self._places)

    def add(self, columns: DocumentColumns, show_progress_bar: bool) -> Added:
        """Add texts: all of them or, if one is wrong, none. An id that is taken is refused."""
        new, vectors = list(columns.texts), columns.vectors
        names = None if columns.ids is None else list(columns.ids)
        own = [{} for _ in new] if columns.metadata is None else [dict(each) for each in columns.metadata]
        if names is not None:
            self._check_ids(names, len(new))
        if len(own) != len(new):
            raise BadInput(f"got metadata for {len(own)} of {len(new)} texts, but each text needs some")
        embedded = len(new) if vectors is None else 0
        if vectors is not None and len(vectors) != len(new):
            raise BadInput(f"got {len(vectors)} vectors for {len(new)} texts, but each text needs one")
        if not new:
            return Added()
        if vectors is None:
            vectors = self.model.encode_document(new)
        with self._lock:
            if names is None:
                free = (number for number in count(len(self._documents)) if number not in self._places)
                names = [*islice(free, len(new))]
            else:
                self._check_ids(names, len(new))  # another thread may have added one of them meanwhile
            self._append(list(map(Document, names, new, own)), vectors)
        return Added(new=len(new), embedded=embedded)

    def _append(self, documents: list[Document], vectors: FloatArray) -> None:
        """Append documents with their vectors: all of them or, after an interrupt, none."""
        before = len(self._documents)
        try:
            self._documents += documents
            self._places.update((document.id, row) for row, document in enumerate(documents, before))
            self._vectors.append(vectors)
        except BaseException:
            self._vectors.cut(before)
            del self._documents[before:]
            self._places = {name: row for name, row in self._places.items() if row < before}
            raise

    def _check_ids(self, ids: list[int | str], texts: int) -> None:
        """Raise BadInput unless every text has an id of its own."""
        if len(ids) != texts:
            raise BadInput(f"got {len(ids)} ids for {texts} texts, but each text needs one")
        twice = next((name for name, times in Counter(ids).items() if times > 1 or name in self._places), None)
        if twice is not None:
            raise BadInput(f"the id {shown(twice)} stands for two texts, but each needs its own")

    def remove(self, ids: Sequence[int | str]) -> int:
        """Remove documents, and return how many there were."""
        with self._lock:
            rows = {name: self._places[name] for name in ids if name in self._places}
            self._removed.update(rows.values())  # first, since nothing is found that was removed
            for name in rows:
                del self._places[name]
        return len(rows)

    def nearest(self, vectors: FloatArray, k: int, condition: Condition | None) -> Neighbours:
        """Find the ``k`` documents that are nearest to each query and meet a condition."""
        with self._lock:
            corpus, removed = self._vectors.joined(), set(self._removed)
        if corpus is None:
            nothing = np.empty(0, np.int64)
            return Neighbours([nothing] * len(vectors), [np.empty(0)] * len(vectors), exact=True, compared=0)
        rows: IntArray | None = None
        if removed or condition is not None:
            kept = (row for row in range(len(corpus)) if row not in removed and self._meets(row, condition))
            rows = np.fromiter(kept, np.int64)
            corpus = corpus[rows]
        found = semantic_search(vectors, corpus, k, self.model.similarity_fn_name)
        places = [np.array([hit.id for hit in hits], np.int64) for hits in found]
        keys: list[IntArray] = [some if rows is None else rows[some] for some in places]
        return Neighbours(keys, [np.array([hit.score for hit in hits]) for hits in found], True, len(corpus))

    def matching(self, query: str, k: int, condition: Condition | None) -> list[Match]:
        """Raise BadInput: a collection in memory has no full-text index."""
        raise BadInput("this searcher keeps its texts in memory, but words are searched in a store; use Searcher.open")

    def read(self, keys: IntArray, vectors: bool = False) -> dict[int, Document]:
        """Return documents by their keys, on request with vectors."""
        found = {key: self._documents[key] for key in keys.tolist()}
        with self._lock:
            rows = self._vectors.joined() if vectors else None
        return found if rows is None else {key: replace(one, vector=rows[key]) for key, one in found.items()}

    def get(self, name: int | str) -> Document | None:
        """Return a document with its vector, if there is one with this id."""
        place = self._places.get(name)
        return None if place is None else self.read(np.array([place]), vectors=True)[place]

    def _meets(self, row: int, condition: Condition | None) -> bool:
        return condition is None or condition.matches(self._documents[row].metadata)


class Parts:
    """Vectors that are appended part by part and joined into one array when they are read."""

    def __init__(self) -> None:
        self.parts: list[FloatArray] = []

    def append(self, vectors: FloatArray) -> None:
        """Add vectors of the same size as those before: (N, D)."""
        if self.parts and self.parts[0].shape[1:] != vectors.shape[1:]:
            ours, theirs = self.parts[0].shape[1:], vectors.shape[1:]
            raise BadInput(
                f"the vectors have shape {theirs} each, but those before have {ours}; use one model for all"
            )
        self.parts.append(vectors)

    def cut(self, rows: int) -> None:
        """Keep the first rows only, which end where a part ends."""
        while sum(map(len, self.parts)) > rows:
            self.parts.pop()

    def joined(self) -> FloatArray | None:
        """Return all vectors (N, D), or None if there are none."""
        if len(self.parts) > 1:
            self.parts = [np.concatenate(self.parts)]
        return self.parts[0] if self.parts else None
