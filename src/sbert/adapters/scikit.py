"""A transformer for scikit-learn: texts in, vectors out, in pipelines, grid searches and data frames."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from sbert.adapters.embedding import Named, vector_model
from sbert.errors import check_option
from sbert.models.postprocess import finish
from sbert.models.vectors import VectorModel
from sbert.types import FloatArray

Role = Literal["text", "query", "document"]


class SentenceEncoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Embeds texts. It needs no fitting, and clones share the model.

    Args:
        model: A model of sbert, its name or folder; loaded when it is first used. Defaults to all-MiniLM-L6-v2.
        role: Whether the texts are "query", "document" or just "text"; it selects the model's prompt.
        normalize_embeddings: Whether to scale every vector to unit length.
        truncate_dim: Number of leading dimensions to keep. Defaults to all.
        device: Device of torch for a model that is given by name.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.linear_model import LogisticRegression
    >>> classifier = make_pipeline(SentenceEncoder(), LogisticRegression())
    >>> texts = ["great movie", "정말 재미있다", "boring film", "지루하다"]
    >>> classifier.fit(texts, [1, 1, 0, 0]).predict(["a great film"]).tolist()
    [1]
    """

    def __init__(
        self,
        model: Named = None,
        *,
        role: Role = "text",
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
        device: str | None = None,
    ) -> None:
        self.model = model
        self.role = role
        self.normalize_embeddings = normalize_embeddings
        self.truncate_dim = truncate_dim
        self.device = device

    def fit(self, X: Iterable[str], y: object = None) -> SentenceEncoder:
        """Check the options and load the model; nothing is learned."""
        check_option("role", self.role, ("text", "query", "document"))
        self._loaded()
        return self

    def transform(self, X: Iterable[str]) -> FloatArray:
        """Embed texts: a list, an array or a column of a table -> (N, D)."""
        model = self.fit(X)._loaded()
        encode: Any = {"text": model.encode, "query": model.encode_query, "document": model.encode_document}[self.role]
        vectors = finish(encode(X), self.truncate_dim, self.normalize_embeddings, "float32", None)
        self._n_features_out = vectors.shape[1]
        return vectors

    def _loaded(self) -> VectorModel:
        """Return the model, which is kept as long as its name and its device do not change."""
        wanted = (self.model, self.device)
        kept: tuple[Any, VectorModel] | None = self.__dict__.get("_kept")
        if kept is None or kept[0] != wanted:
            kept = (wanted, vector_model(self.model, self.device))
            self._kept = kept
            self._n_features_out = self.truncate_dim or kept[1].embedding_dimension
        return kept[1]

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if isinstance(self.model, str | Path | None):
            state.pop("_kept", None)  # loaded again on first use
        return state

    def __sklearn_clone__(self) -> SentenceEncoder:
        return type(self)(**self.get_params(deep=False))

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.string = tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags
