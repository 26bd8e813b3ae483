"""KeyBERT: an embedder. KeyBERT would replace a model that it does not know by another one; this one it knows."""

from __future__ import annotations

from keybert.backend import BaseEmbedder

from sbert.adapters.embedding import Named, document_vectors, vector_model
from sbert.types import FloatArray


class SbertEmbedder(BaseEmbedder):
    """Embeds documents and words with a model of sbert.

    Args:
        model: A model of sbert, its name or folder. Defaults to all-MiniLM-L6-v2.
        device: Where to run a model that is given by name.
    """

    def __init__(self, model: Named = None, device: str | None = None) -> None:
        super().__init__()
        self.embedding_model = vector_model(model, device)

    def embed(self, documents: list[str], verbose: bool = False) -> FloatArray:
        """Embed documents or words: (N, D)."""
        return document_vectors(self.embedding_model, list(documents))
