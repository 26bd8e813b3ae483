"""A collection in a store: embeds what is new, and leaves alone what is there already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from sbert.disk.progress import Progress
from sbert.search.filters import Condition
from sbert.search.found import Added, Retriever
from sbert.search.index import Neighbours
from sbert.search.store import Document, Known, Match, Store
from sbert.search.store.document import DocumentColumns, check_text, content_hash, metadata_to_json
from sbert.text.terms import has_morphemes, query_terms
from sbert.types import FloatArray, IntArray

WINDOW = 1024
"""Number of documents that are embedded and written together."""


class StoredCollection:
    """The documents of a store, and the model that embeds new ones."""

    def __init__(self, store: Store, model: Retriever) -> None:
        self.store, self.model = store, model

    def __len__(self) -> int:
        return self.store.count()

    @property
    def ids(self) -> list[int | str]:
        """The ids, in the order in which the documents were written."""
        return list(self.store.ids())

    def add(self, columns: DocumentColumns, show_progress_bar: bool) -> Added:
        """Add texts, or replace those with the same ids."""
        total = len(columns.texts) if isinstance(columns.texts, Sequence) else None
        return self.add_documents(columns.documents(), total, show_progress_bar)

    def add_documents(self, documents: Iterable[Document], total: int | None, show_progress_bar: bool) -> Added:
        """Add documents or replace those with the same ids, one window after another; each window is written whole."""
        added, seen = Added(), set[int | str]()
        rows = iter(documents)
        with Progress(total, "documents", show_progress_bar) as progress:
            while window := list(islice(rows, WINDOW)):
                latest = {document.id: document for document in window}
                repeated = len(window) - len(latest.keys() - seen)
                seen.update(latest)
                added += replace(self._add(list(latest.values())), repeated=repeated)
                progress.add(len(window))
        return added

    def _add(self, documents: list[Document]) -> Added:
        """Add documents with different ids."""
        known = self.store.known([document.id for document in documents])
        kept: list[Document] = []  # the text stays, and with it the vector
        written: list[Document] = []
        for document in documents:
            check_text("the text", document.text)
            same_text = _has_text(known.get(document.id), document.text) and document.vector is None
            (kept if same_text else written).append(document)
        renamed = [one for one in kept if known[one.id].metadata != metadata_to_json(one.metadata)]
        vectors, embedded = self._vectors([one.text for one in written if one.vector is None])
        complete = [
            one if one.vector is not None else replace(one, vector=vectors[content_hash(one.text)]) for one in written
        ]
        if complete or renamed:
            self.store.put([*complete, *renamed])
        unchanged = len(kept) - len(renamed)
        return Added(len(documents) - len(known), len(known) - unchanged, unchanged, embedded)

    def _vectors(self, texts: list[str]) -> tuple[dict[bytes, FloatArray], int]:
        """Return the vectors of texts by their hashes, and the number of texts that had to be embedded."""
        by_hash = {content_hash(text): text for text in texts}
        vectors = self.store.vectors_of(list(by_hash))
        missing = [text for hashed, text in by_hash.items() if hashed not in vectors]
        if missing:
            vectors.update(zip(map(content_hash, missing), self.model.encode_document(missing), strict=True))
        return vectors, len(missing)

    def remove(self, ids: Sequence[int | str]) -> int:
        """Remove documents, and return how many there were."""
        return self.store.delete(ids)

    def nearest(self, vectors: FloatArray, k: int, condition: Condition | None) -> Neighbours:
        """Find the ``k`` documents that are nearest to each query and meet a condition."""
        return self.store.nearest(vectors, k, condition)

    def matching(self, query: str, k: int, condition: Condition | None) -> list[Match]:
        """Find the ``k`` documents that match the words of a query best and meet a condition."""
        morphemes = self.store.facts.morphemes and has_morphemes()  # without them, pairs of letters still match
        return self.store.matching(query_terms(query, morphemes), k, condition)

    def read(self, keys: IntArray, vectors: bool = False) -> dict[int, Document]:
        """Return documents by their keys, on request with vectors."""
        return self.store.read(keys, vectors)

    def get(self, name: int | str) -> Document | None:
        """Return a document with its vector, if there is one with this id."""
        return next(iter(self.store.get([name])), None)


def _has_text(known: Known | None, text: str) -> bool:
    return known is not None and known.hash == content_hash(text)
