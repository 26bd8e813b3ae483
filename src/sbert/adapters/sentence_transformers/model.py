"""The base class of ``SentenceTransformer`` and ``CrossEncoder``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from typing_extensions import Self

from sbert.adapters.sentence_transformers.same import move, same
from sbert.models.model import TextModel


class Model:
    """A model under the names of sentence-transformers.

    Attributes:
        native: The model of sbert, for features that sentence-transformers does not have.
    """

    native: TextModel

    @same(".save")
    def save(
        self,
        path: str,
        model_name: str | None = None,
        create_model_card: bool = True,
        train_datasets: list[str] | None = None,
        safe_serialization: bool = True,
    ) -> None:
        """Write a folder that sbert and sentence-transformers can load, with the current prompts."""
        self._update_native()
        self.native.save_pretrained(path)

    save_pretrained = save

    def _update_native(self) -> None:
        """Copy the settings of this object to the model of sbert."""

    @same(".evaluate")
    def evaluate(self, evaluator: Callable[[Any], Any], output_path: str | None = None) -> Any:
        """Measure the model with an evaluator of :mod:`sbert.evaluate`."""
        return evaluator(self.native)

    @same(".start_multi_process_pool")
    def start_multi_process_pool(self, target_devices: list[str] | None = None) -> dict[str, Any]:
        """Return an empty pool, which the methods with a parameter ``pool`` accept."""
        return {"input": None, "output": None, "processes": []}

    @staticmethod
    def stop_multi_process_pool(pool: Mapping[str, Any]) -> None:
        """Do nothing, because the pool has no processes."""

    @property
    def max_seq_length(self) -> int:
        """Number of tokens at which texts are truncated."""
        return self.native.max_seq_length

    @max_seq_length.setter
    def max_seq_length(self, tokens: int) -> None:
        self.native.max_seq_length = tokens

    def get_max_seq_length(self) -> int:
        """Return the number of tokens at which texts are truncated."""
        return self.max_seq_length

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of the library ``tokenizers``."""
        return getattr(self.native.tokenizer, "backend", self.native.tokenizer)

    @property
    def device(self) -> torch.device:
        """The device that holds the weights."""
        return self.native.device

    @property
    def dtype(self) -> torch.dtype:
        """The type of the weights, which is always float32."""
        return torch.float32

    def get_backend(self) -> str:
        """Return the name of the engine in sentence-transformers."""
        return "torch"

    def to(self, device: str | torch.device) -> Self:
        """Move the model to a device."""
        move(self.native, device)
        return self

    def eval(self) -> Self:
        """Disable dropout, which encoding and scoring always do."""
        self.native.eval()
        return self
