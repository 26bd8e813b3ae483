"""Haystack: components that embed texts and documents, and a ranker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict

from sbert.adapters.embedding import as_lists, document_vectors, pair_model, query_vectors, vector_model
from sbert.models.model import TextModel
from sbert.models.vectors import VectorModel


@component
class SbertTextEmbedder:
    """Embeds a query, with the model's prompt for queries.

    Args:
        model: The name or the folder of a model. Defaults to all-MiniLM-L6-v2.
        device: Device of torch to run the model on.
        prefix: A text to put before the query.
        suffix: A text to put after the query.
    """

    def __init__(
        self, model: str | None = None, device: str | None = None, prefix: str = "", suffix: str = ""
    ) -> None:
        self.model, self.device, self.prefix, self.suffix = model, device, prefix, suffix
        self._loaded: VectorModel | None = None

    def warm_up(self) -> None:
        """Load the model."""
        if self._loaded is None:
            self._loaded = vector_model(self.model, self.device)

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        """Embed a query."""
        self.warm_up()
        assert self._loaded is not None
        return {"embedding": as_lists(query_vectors(self._loaded, [self.prefix + text + self.suffix]))[0]}

    def to_dict(self) -> dict[str, Any]:
        """Return the settings, for pipeline files."""
        settings = {"model": self.model, "device": self.device, "prefix": self.prefix, "suffix": self.suffix}
        serialized: dict[str, Any] = default_to_dict(self, **settings)
        return serialized

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SbertTextEmbedder:
        """Build the component from its settings."""
        built: SbertTextEmbedder = default_from_dict(cls, data)
        return built


@component
class SbertDocumentEmbedder:
    """Embeds documents, with the model's prompt for documents.

    Args:
        model: The name or the folder of a model. Defaults to all-MiniLM-L6-v2.
        device: Device of torch to run the model on.
        prefix: A text to put before every document.
        suffix: A text to put after every document.
        meta_fields_to_embed: Names of metadata to put before the content.
        embedding_separator: The text between metadata and content.
    """

    def __init__(
        self,
        model: str | None = None,
        device: str | None = None,
        prefix: str = "",
        suffix: str = "",
        meta_fields_to_embed: list[str] | None = None,
        embedding_separator: str = "\n",
    ) -> None:
        self.model, self.device, self.prefix, self.suffix = model, device, prefix, suffix
        self.meta_fields_to_embed, self.embedding_separator = meta_fields_to_embed or [], embedding_separator
        self._loaded: VectorModel | None = None

    def warm_up(self) -> None:
        """Load the model."""
        if self._loaded is None:
            self._loaded = vector_model(self.model, self.device)

    @component.output_types(documents=list[Document], meta=dict[str, Any])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Return copies of the documents with their vectors."""
        self.warm_up()
        assert self._loaded is not None
        vectors = as_lists(document_vectors(self._loaded, [self._text(document) for document in documents]))
        embedded = [replace(document, embedding=vector) for document, vector in zip(documents, vectors, strict=True)]
        return {"documents": embedded, "meta": {"model": self.model}}

    def _text(self, document: Document) -> str:
        named = [str(document.meta[name]) for name in self.meta_fields_to_embed if document.meta.get(name) is not None]
        return self.prefix + self.embedding_separator.join([*named, document.content or ""]) + self.suffix

    def to_dict(self) -> dict[str, Any]:
        """Return the settings, for pipeline files."""
        names = ("model", "device", "prefix", "suffix", "meta_fields_to_embed", "embedding_separator")
        serialized: dict[str, Any] = default_to_dict(self, **{name: getattr(self, name) for name in names})
        return serialized

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SbertDocumentEmbedder:
        """Build the component from its settings."""
        built: SbertDocumentEmbedder = default_from_dict(cls, data)
        return built


@component
class SbertRanker:
    """Sorts documents by their score with a query, best first.

    Args:
        model: The name or the folder of a cross-encoder.
        top_k: Number of documents to keep. Defaults to all.
        device: Device of torch to run the model on.
    """

    def __init__(self, model: str, top_k: int | None = None, device: str | None = None) -> None:
        self.model, self.top_k, self.device = model, top_k, device
        self._loaded: TextModel | None = None

    def warm_up(self) -> None:
        """Load the model."""
        if self._loaded is None:
            self._loaded = pair_model(self.model, self.device)

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document], top_k: int | None = None) -> dict[str, Any]:
        """Return copies of the best documents with their scores."""
        self.warm_up()
        assert self._loaded is not None
        hits = self._loaded.rank(query, [document.content or "" for document in documents], top_k or self.top_k)
        return {"documents": [replace(documents[int(hit.id)], score=hit.score) for hit in hits]}

    def to_dict(self) -> dict[str, Any]:
        """Return the settings, for pipeline files."""
        serialized: dict[str, Any] = default_to_dict(self, model=self.model, top_k=self.top_k, device=self.device)
        return serialized

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SbertRanker:
        """Build the component from its settings."""
        built: SbertRanker = default_from_dict(cls, data)
        return built
