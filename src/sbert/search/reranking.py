"""Sorts a short list with a model that reads a query and a document together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sbert.errors import BadInput
from sbert.search.found import ByVectors, Reranker, Retriever
from sbert.search.store import Document
from sbert.types import FloatArray


class ShortListSorter:
    """A re-ranker, and the vectors of the documents that it has read if it works by vectors.

    Args:
        reranker: A cross-encoder or a poly-encoder.
        model: The model that finds the short list. A poly-encoder built on it uses the same vectors.
    """

    def __init__(self, reranker: Reranker, model: Retriever) -> None:
        if not isinstance(reranker, Reranker):
            raise BadInput(
                f"the re-ranker is a {type(reranker).__name__}, but must be able to rank; pass a CrossEncoder or a "
                "PolyEncoder"
            )
        self._reranker = reranker
        self._kept: dict[int, FloatArray] = {}
        self.needs_vectors = getattr(reranker, "documents", None) is model
        """Whether the re-ranker uses the vectors by which the documents are found."""

    def best(self, query: str, documents: Mapping[int, Document], k: int) -> list[tuple[int, float]]:
        """Return the keys and scores of the ``k`` best documents, best first; the earlier document wins a tie."""
        keys = list(documents)
        if not keys:
            return []
        if not isinstance(self._reranker, ByVectors):
            ranked = self._reranker.rank(query, [document.text for document in documents.values()], k)
            return [(keys[int(hit.id)], hit.score) for hit in ranked]
        vectors = np.stack(self._vectors(self._reranker, documents))
        scores = self._reranker.score(self._reranker.encode_query(query), vectors)
        return [(keys[place], float(scores[place])) for place in np.argsort(-scores, kind="stable")[:k]]

    def _vectors(self, reranker: ByVectors, documents: Mapping[int, Document]) -> list[FloatArray]:
        """Return the vectors of documents; each document is read once."""
        if self.needs_vectors:
            return [document.vector for document in documents.values() if document.vector is not None]
        missing = {key: document.text for key, document in documents.items() if key not in self._kept}
        if missing:
            self._kept.update(zip(missing, reranker.encode_document(list(missing.values())), strict=True))
        return [self._kept[key] for key in documents]
