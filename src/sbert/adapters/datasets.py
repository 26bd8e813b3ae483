"""Hugging Face datasets: a function for ``dataset.map(SbertMap(model), batched=True)``."""

from __future__ import annotations

from typing import Any, Literal

from sbert.adapters.embedding import Named, vector_model
from sbert.errors import BadInput, check_option


class SbertMap:
    """Adds a column of vectors to every batch.

    Args:
        model: A model of sbert, its name or folder. Defaults to all-MiniLM-L6-v2.
        column: The column of texts.
        into: The name of the new column.
        role: Whether the texts are "query", "document" or just "text"; it selects the model's prompt.
        device: Device of torch for a model that is given by name.
    """

    def __init__(
        self,
        model: Named = None,
        column: str = "text",
        into: str = "embedding",
        role: Literal["text", "query", "document"] = "text",
        device: str | None = None,
    ) -> None:
        check_option("role", role, ("text", "query", "document"))
        self.model, self.column, self.into, self.role = vector_model(model, device), column, into, role

    def __call__(self, batch: dict[str, list[Any]]) -> dict[str, Any]:
        """Return the new column of a batch."""
        if self.column not in batch:
            raise BadInput(f"there is no column {self.column}, but {', '.join(batch)}; name the column of texts")
        encode: Any = {
            "text": self.model.encode,
            "query": self.model.encode_query,
            "document": self.model.encode_document,
        }
        return {self.into: list(encode[self.role](batch[self.column]))}

    def features(self, dataset: Any) -> Any:
        """Return the features of the dataset with the new column, whose vectors have a fixed length.

        Pass them as ``dataset.map(..., features=...)``, so that Arrow stores vectors without their lengths.
        """
        from datasets import Features, List, Value

        size = self.model.embedding_dimension
        return Features({**dataset.features, self.into: List(Value("float32"), length=size)})
