"""LlamaIndex: an embedding model and a re-ranker of nodes."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding, Embedding
from llama_index.core.bridge.pydantic import ConfigDict, PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from sbert.adapters.embedding import Named, as_lists, document_vectors, query_vectors, vector_model
from sbert.errors import BadInput
from sbert.models.model import TextModel
from sbert.models.vectors import VectorModel


class SbertEmbedding(BaseEmbedding):
    """Embeddings with the model's prompts for queries and documents.

    Args:
        model: A model of sbert, its name or folder. Defaults to all-MiniLM-L6-v2.
        device: Device of torch for a model that is given by name.
        options: The options of ``BaseEmbedding``, such as ``embed_batch_size``.
    """

    _model: VectorModel = PrivateAttr()

    def __init__(self, model: Named = None, device: str | None = None, **options: Any) -> None:
        name = model if isinstance(model, str) else "sbert"
        super().__init__(**{"model_name": name, "embed_batch_size": 512, **options})
        self._model = vector_model(model, device)

    def __reduce__(self) -> tuple[Any, ...]:
        # By default, the host would copy only the fields and load the default model.
        options = {name: getattr(self, name) for name in ("model_name", "embed_batch_size", "num_workers")}
        return _rebuilt, (self._model, options)

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which the host serializes the class."""
        return "SbertEmbedding"

    def _get_query_embedding(self, query: str) -> Embedding:
        return as_lists(query_vectors(self._model, [query]))[0]

    async def _aget_query_embedding(self, query: str) -> Embedding:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> Embedding:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        return as_lists(document_vectors(self._model, texts))

    async def _aget_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        return self._get_text_embeddings(texts)


def _rebuilt(model: VectorModel, options: dict[str, Any]) -> SbertEmbedding:
    return SbertEmbedding(model, **options)


class SbertRerank(BaseNodePostprocessor):
    """Sorts nodes by their score with the query, best first."""

    model: TextModel
    """A cross-encoder of sbert; a poly-encoder or a bi-encoder is also possible."""
    top_n: int | None = 3
    """Number of nodes to keep; None keeps all of them, sorted."""
    model_config = ConfigDict(arbitrary_types_allowed=True, protected_namespaces=())

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which the host serializes the class."""
        return "SbertRerank"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise BadInput("SbertRerank got no query, but sorts nodes by one; pass query_str or query_bundle")
        texts = [node.node.get_content(metadata_mode=MetadataMode.EMBED) for node in nodes]
        hits = self.model.rank(query_bundle.query_str, texts, self.top_n)
        return [NodeWithScore(node=nodes[int(hit.id)].node, score=hit.score) for hit in hits]
