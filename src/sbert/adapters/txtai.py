"""txtai: the settings of an index whose vectors come from sbert."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sbert.adapters.embedding import Named, document_vectors, vector_model
from sbert.types import FloatArray


class SbertTransform:
    """Embeds the texts of an index: ``txtai.Embeddings(SbertTransform(model).settings())``.

    txtai embeds queries and documents with the same function, so a model with different prompts is refused.

    Args:
        model: A model of sbert, its name or folder. Defaults to all-MiniLM-L6-v2.
        device: Device of torch for a model that is given by name.
    """

    def __init__(self, model: Named = None, device: str | None = None) -> None:
        self.model = vector_model(model, device)
        prompts = getattr(self.model, "prompts", {})
        if prompts.get("query", "") != prompts.get("document", ""):
            raise ValueError(
                "the model has different prompts for queries and documents, but txtai embeds both with one function; "
                "use a model without them, or sbert.Searcher"
            )

    def __call__(self, texts: Iterable[str]) -> FloatArray:
        """Embed texts: (N, D)."""
        return document_vectors(self.model, texts)

    def settings(self, **more: Any) -> dict[str, Any]:
        """Return the settings of ``txtai.Embeddings``, with further settings."""

        # A function, because txtai calls any other object once without an argument.
        def transform(texts: Iterable[str]) -> FloatArray:
            return self(texts)

        return {"method": "external", "transform": transform, **more}
