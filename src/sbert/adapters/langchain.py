"""LangChain: embeddings, a re-ranker, a cross-encoder, and a vector store over a store of sbert."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from langchain_core.cross_encoders import BaseCrossEncoder
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from pydantic import ConfigDict

from sbert.adapters.embedding import Named, as_lists, document_vectors, pair_model, query_vectors, vector_model
from sbert.errors import BadInput
from sbert.models.model import TextModel
from sbert.search.found import SearchHit
from sbert.search.searcher import Mode, Searcher


class SbertEmbeddings(Embeddings):
    """Embeddings with the model's prompts for queries and documents.

    Args:
        model: A model of sbert, its name or folder. Defaults to all-MiniLM-L6-v2.
        device: Device of torch for a model that is given by name.
    """

    def __init__(self, model: Named = None, device: str | None = None) -> None:
        self.model = vector_model(model, device)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed documents."""
        return as_lists(document_vectors(self.model, texts))

    def embed_query(self, text: str) -> list[float]:
        """Embed a query."""
        return as_lists(query_vectors(self.model, [text]))[0]


class SbertCrossEncoder(BaseCrossEncoder):
    """Scores of pairs of texts, for the re-rankers of LangChain.

    Args:
        model: A cross-encoder of sbert, its name or folder.
        device: Device of torch for a model that is given by name.
    """

    def __init__(self, model: TextModel | str | Path, device: str | None = None) -> None:
        self.model = pair_model(model, device)

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        """Score pairs of texts."""
        scores: list[float] = self.model.score_pairs(text_pairs).tolist()
        return scores


class SbertReranker(BaseDocumentCompressor):
    """Selects the documents that answer a query best, with their scores as ``relevance_score`` in the metadata."""

    model: TextModel
    """A cross-encoder of sbert; a poly-encoder or a bi-encoder is also possible."""
    top_n: int | None = 3
    """Number of documents to keep; None keeps all of them, sorted."""
    model_config = ConfigDict(arbitrary_types_allowed=True, protected_namespaces=())

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: object = None
    ) -> Sequence[Document]:
        """Return the best documents, best first."""
        hits = self.model.rank(query, [document.page_content for document in documents], self.top_n)
        kept = [(documents[int(hit.id)], hit.score) for hit in hits]
        return [
            document.model_copy(update={"metadata": {**document.metadata, "relevance_score": score}})
            for document, score in kept
        ]


class SbertStore(VectorStore):
    """A vector store over a :class:`~sbert.Searcher`: in memory, or in a file.

    Args:
        searcher: The searcher, such as ``Searcher.open("texts.db")`` for a persistent store.
        mode: Whether texts are found by vectors, by words ("lexical"), or by both ("hybrid").
    """

    def __init__(self, searcher: Searcher, mode: Mode = "vector") -> None:
        self.searcher = searcher
        self.mode: Mode = mode

    @property
    def embeddings(self) -> Embeddings:
        """The embedding model of the store."""
        model: Any = self.searcher._model
        return SbertEmbeddings(model)

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[Any, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Add texts and return their ids."""
        if kwargs:
            raise BadInput(f"add_texts got {next(iter(kwargs))}, but takes texts, metadatas and ids; leave it out")
        rows = list(texts)
        before = set(self.searcher.ids)
        self.searcher.add(rows, ids, metadata=metadatas)
        if ids is not None:
            return [str(name) for name in ids]
        return [str(name) for name in self.searcher.ids if name not in before]

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool | None:
        """Remove the texts with these ids."""
        wanted = set(self.searcher.ids) if ids is None else {name for name in self.searcher.ids if str(name) in ids}
        return self.searcher.remove(wanted) == len(wanted)

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """Return the documents that are most similar to a query."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, filter: str | None = None
    ) -> list[tuple[Document, float]]:
        """Return documents and their scores; higher is more similar.

        Args:
            query: Text to look for.
            k: Number of documents.
            filter: A condition on the metadata, such as ``lang = "ko"``.
        """
        found = self.searcher.search(query, k, max(k, 100), filter=filter, mode=self.mode)
        return [(_document(hit), hit.score) for hit in found.hits]

    def _select_relevance_score_fn(self) -> Any:
        return lambda score: max(0.0, min(1.0, score))

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[Any, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> SbertStore:
        """Build a store in memory with the model of :class:`SbertEmbeddings`."""
        if not isinstance(embedding, SbertEmbeddings):
            raise BadInput(
                f"embedding is a {type(embedding).__name__}, but this store embeds with SbertEmbeddings; pass one"
            )
        store = cls(Searcher(embedding.model), **kwargs)
        store.add_texts(texts, metadatas, ids=ids)
        return store


def _document(hit: SearchHit) -> Document:
    return Document(page_content=hit.text or "", metadata=dict(hit.metadata or {}), id=str(hit.id))
