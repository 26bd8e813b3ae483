"""MTEB: a model for its tasks, with a description of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mteb.models import ModelMeta
from mteb.models.abs_encoder import AbsEncoder

from sbert.adapters.embedding import Named, vector_model
from sbert.models.fingerprint import fingerprint
from sbert.types import FloatArray


class SbertEncoder(AbsEncoder):
    """A model of sbert for ``mteb.evaluate(model, tasks)``.

    Args:
        model: A model of sbert, its name or folder. Defaults to all-MiniLM-L6-v2.
        name: The name of the model in the results, such as "organisation/model".
        device: Device of torch for a model that is given by name.
    """

    def __init__(self, model: Named = None, name: str | None = None, device: str | None = None) -> None:
        self.model = vector_model(model, device)
        prompts: dict[str, str] = getattr(self.model, "prompts", {})
        self.model_prompts = dict(prompts)
        chosen = name or (str(model) if isinstance(model, str | Path) else "all-MiniLM-L6-v2")
        self.mteb_model_meta = self._describe(chosen if "/" in chosen else f"sbert/{chosen}", bool(prompts))

    def _describe(self, name: str, has_prompts: bool) -> ModelMeta:
        facts = self.model.describe()
        return ModelMeta(
            loader=None,
            name="/".join(Path(name).parts[-2:]),
            revision=fingerprint(self.model),
            release_date=None,
            languages=None,
            n_parameters=facts["parameters"],
            memory_usage_mb=facts["parameters"] * 4 / 2**20,
            max_tokens=self.model.max_seq_length,
            embed_dim=facts["dimension"],
            license=None,
            open_weights=True,
            public_training_code=None,
            public_training_data=None,
            framework=["PyTorch"],
            similarity_fn_name=self.model.similarity_fn_name,
            use_instructions=has_prompts,
            training_datasets=None,
        )

    def encode(
        self,
        inputs: Any,
        *,
        task_metadata: Any,
        hf_split: str,
        hf_subset: str,
        prompt_type: Any = None,
        **options: Any,
    ) -> FloatArray:
        """Embed the texts of a task, with the model's prompt for queries, documents or the task."""
        texts = [text for batch in inputs for text in batch["text"]]
        side = getattr(prompt_type, "value", prompt_type)
        name = self.get_prompt_name(task_metadata, prompt_type)
        if name in self.model_prompts:
            named: FloatArray = self.model.encode(texts, prompt_name=name)
            return named
        encode: Any = {"query": self.model.encode_query, "document": self.model.encode_document}.get(
            side, self.model.encode
        )
        vectors: FloatArray = encode(texts)
        return vectors

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Compare all vectors of the first with all of the second."""
        return self.model.similarity(embeddings1, embeddings2)

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Compare vector i of the first with vector i of the second."""
        return self.model.similarity_pairwise(embeddings1, embeddings2)
