"""The code that adapters share: models, and their vectors in the forms that hosts need."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sbert.errors import BadInput
from sbert.models.cross import CrossEncoder
from sbert.models.load import load
from sbert.models.model import TextModel
from sbert.models.vectors import VectorModel
from sbert.text import check_texts
from sbert.types import FloatArray

Named = VectorModel | str | Path | None
"""A model, its name or folder, or None for all-MiniLM-L6-v2."""


def vector_model(model: Named, device: str | None = None) -> VectorModel:
    """Return a model with one vector per text, loaded if it is named."""
    found: Any = model if isinstance(model, TextModel) else load(model, device=device)
    found = getattr(found, "native", found)
    if not isinstance(found, VectorModel):
        raise BadInput(f"the model is a {type(found).__name__}, but one vector per text is needed; name a bi-encoder")
    return found


def pair_model(model: TextModel | str | Path, device: str | None = None) -> TextModel:
    """Return a model that scores pairs, loaded if it is named."""
    return model if isinstance(model, TextModel) else CrossEncoder.from_pretrained(model, device=device)


def query_vectors(model: VectorModel, texts: Iterable[str]) -> FloatArray:
    """Return the vectors of queries, with the model's prompt for them: (N, D)."""
    vectors: FloatArray = model.encode_query(check_texts(texts))
    return vectors


def document_vectors(model: VectorModel, texts: Iterable[str]) -> FloatArray:
    """Return the vectors of documents, with the model's prompt for them: (N, D)."""
    vectors: FloatArray = model.encode_document(check_texts(texts))
    return vectors


def as_lists(vectors: FloatArray) -> list[list[float]]:
    """Return vectors as lists of Python floats, which hosts store; every float32 value is exact."""
    lists: list[list[float]] = vectors.tolist()
    return lists


class TextEmbedder:
    """An embedder for hosts that embed documents and words with one method.

    Args:
        model: A model of sbert, its name or folder. Defaults to all-MiniLM-L6-v2.
        device: Device of torch for a model that is given by name.
    """

    def __init__(self, model: Named = None, device: str | None = None) -> None:
        super().__init__()
        self.embedding_model = vector_model(model, device)

    def embed(self, documents: list[str], verbose: bool = False) -> FloatArray:
        """Embed documents or words: (N, D)."""
        return document_vectors(self.embedding_model, documents)
