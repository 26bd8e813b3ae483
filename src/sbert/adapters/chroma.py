"""Chroma: an embedding function, which a collection stores by name and restores."""

from __future__ import annotations

from typing import Any

from chromadb.api.types import Documents, EmbeddingFunction, Embeddings, Space
from chromadb.utils.embedding_functions import register_embedding_function

from sbert.adapters.embedding import document_vectors, query_vectors, vector_model


@register_embedding_function
class SbertEmbeddingFunction(EmbeddingFunction[Documents]):
    """Embeds documents and queries with a model of sbert and its prompts.

    Args:
        model: The name or the folder of a model. Defaults to all-MiniLM-L6-v2.
        device: Device of torch to run the model on.
    """

    def __init__(self, model: str | None = None, device: str | None = None) -> None:
        self.model, self.device = model, device
        self._loaded = vector_model(model, device)

    def __call__(self, input: Documents) -> Embeddings:
        """Embed documents."""
        return list(document_vectors(self._loaded, input))

    def embed_query(self, input: Documents) -> Embeddings:
        """Embed queries."""
        return list(query_vectors(self._loaded, input))

    @staticmethod
    def name() -> str:
        """Return the name under which a collection stores the function."""
        return "sbert"

    def default_space(self) -> Space:
        """Return the default similarity measure of collections."""
        return "cosine"

    def supported_spaces(self) -> list[Space]:
        """Return the similarity measures that collections may use."""
        return ["cosine", "l2", "ip"]

    def get_config(self) -> dict[str, Any]:
        """Return the settings that a collection stores."""
        return {"model": self.model, "device": self.device}

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> SbertEmbeddingFunction:
        """Build the function from the settings that a collection stores."""
        return SbertEmbeddingFunction(**config)

    def validate_config_update(self, old_config: dict[str, Any], new_config: dict[str, Any]) -> None:
        """Raise ValueError for another model, because its vectors would not be comparable with the stored ones."""
        if old_config.get("model") != new_config.get("model"):
            raise ValueError(
                f"the collection was made with the model {old_config.get('model')}; make a new collection"
            )
