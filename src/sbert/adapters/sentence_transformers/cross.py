"""``CrossEncoder``, with a :class:`sbert.CrossEncoder` inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sbert import hub
from sbert.adapters.sentence_transformers.model import Model
from sbert.adapters.sentence_transformers.same import move, same
from sbert.errors import BadInput, check_count
from sbert.hub.find import Access
from sbert.models import cross
from sbert.porting import unknown_name
from sbert.types import FloatArray, Output

Activation = Callable[[Tensor], Tensor]


class CrossEncoder(Model):
    """A model that reads pairs of texts, under the names of sentence-transformers.

    Attributes:
        native: The model of sbert, for features that sentence-transformers does not have.
        activation_fn: The function that turns logits into scores; None for the model's own.
    """

    @same("CrossEncoder")
    def __init__(
        self,
        model_name_or_path: str | None = None,
        *,
        modules: None = None,
        device: str | None = None,
        prompts: dict[str, str] | None = None,
        default_prompt_name: str | None = None,
        cache_folder: str | None = None,
        trust_remote_code: bool = False,
        revision: str | None = None,
        local_files_only: bool = False,
        token: bool | str | None = None,
        model_kwargs: dict[str, Any] | None = None,
        processor_kwargs: dict[str, Any] | None = None,
        config_kwargs: dict[str, Any] | None = None,
        model_card_data: None = None,
        backend: str = "torch",
        num_labels: int | None = None,
        max_length: int | None = None,
        activation_fn: Activation | None = None,
        keep_in_fp32_modules: list[str] | None = None,
    ) -> None:
        if model_name_or_path is None:
            raise BadInput("CrossEncoder got no name; give the name or the folder of a model")
        folder = hub.resolve(model_name_or_path, revision, access=Access(token, cache_folder, local_files_only))
        self.native: cross.CrossEncoder = cross.CrossEncoder.from_pretrained(
            folder, num_labels=num_labels, device=device, max_seq_length=max_length
        )
        self.activation_fn = activation_fn

    def __getattr__(self, name: str) -> Any:
        raise unknown_name("CrossEncoder", name, "CrossEncoder.members", "SentenceTransformer.members", "CrossEncoder")

    @same("CrossEncoder.predict")
    def predict(
        self,
        inputs: Sequence[Any],
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        activation_fn: Activation | None = None,
        apply_softmax: bool | None = False,
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: str | list[str | torch.device] | None = None,
        pool: Mapping[str, Any] | None = None,
        chunk_size: int | None = None,
    ) -> Any:
        """Score pairs of texts, as ``CrossEncoder.predict`` does; a single pair gives a single score."""
        check_count("batch_size", batch_size)
        move(self.native, device)
        single = len(inputs) == 2 and all(isinstance(text, str) for text in inputs)
        rows = [tuple(inputs)] if single else [tuple(pair) for pair in inputs]
        scores = self._scores(rows, activation_fn, bool(apply_softmax), bool(show_progress_bar))
        chosen = scores[0] if single else scores
        if convert_to_tensor:
            return torch.as_tensor(chosen).to(self.device)
        return chosen if convert_to_numpy or single else list(torch.from_numpy(scores).to(self.device))

    def _scores(
        self, rows: list[tuple[Any, ...]], activation_fn: Activation | None, softmax: bool, show: bool
    ) -> FloatArray:
        """Return the scores of pairs, (N,) or (N, L), after the activation function and a softmax."""
        function = activation_fn or self.activation_fn
        output: Output = "score" if function is None else "logit"
        scores = self.native.predict(rows, output=output, show_progress_bar=show)
        if function is not None:
            scores = np.asarray(function(torch.from_numpy(scores)))
        return np.asarray(torch.softmax(torch.from_numpy(scores), 1)) if softmax and scores.ndim > 1 else scores

    @same("CrossEncoder.rank")
    def rank(
        self,
        query: str,
        documents: Sequence[str],
        top_k: int | None = None,
        return_documents: bool = False,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        activation_fn: Activation | None = None,
        device: str | list[str | torch.device] | None = None,
        pool: Mapping[str, Any] | None = None,
        chunk_size: int | None = None,
    ) -> list[dict[str, Any]]:
        """Sort documents by their score with a query, best first, as dictionaries."""
        if self.num_labels > 1:
            raise BadInput(f"rank needs a model of one label, but this has {self.num_labels}; use predict")
        move(self.native, device)
        texts = list(documents)
        scores = self._scores([(query, text) for text in texts], activation_fn, False, bool(show_progress_bar))
        places = np.argsort(-scores, kind="stable")[:top_k].tolist()
        ranks: list[dict[str, Any]] = [{"corpus_id": place, "score": scores[place]} for place in places]
        return [rank | {"text": texts[rank["corpus_id"]]} for rank in ranks] if return_documents else ranks

    @property
    def num_labels(self) -> int:
        """Number of outputs."""
        return len(self.native.labels)

    max_length = Model.max_seq_length
