"""A tokenizer and the transformer it was made for: what a model is built on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sbert import hub
from sbert.nn.transformer import Transformer
from sbert.text import Tokenizer


@dataclass(frozen=True, slots=True, eq=False)
class Backbone:
    """Token ids and the body that reads them; shared by every kind of model."""

    tokenizer: Tokenizer
    transformer: Transformer

    @classmethod
    def from_pretrained(cls, name: str | Path, max_seq_length: int | None = None) -> Backbone:
        """The body of any transformers encoder: a folder, an installed model package, or a hub name."""
        return cls(*hub.read_backbone(hub.resolve(name), max_seq_length))
