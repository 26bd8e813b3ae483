"""A tokenizer and the transformer it was made for: what a model is built on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sbert import hub
from sbert.errors import BadInput, check_count
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
        tokenizer, transformer = hub.read_backbone(hub.resolve(name))
        if max_seq_length is not None:
            tokenizer = cut_at(max_seq_length, tokenizer, transformer)
        return cls(tokenizer, transformer)


def cut_at(tokens: int, tokenizer: Tokenizer, transformer: Transformer) -> Tokenizer:
    """``tokenizer``, cutting at so many tokens, which the transformer must be able to read."""
    check_count("max_seq_length", tokens)
    positions = transformer.facts.max_length
    if tokens > positions:
        raise BadInput(f"max_seq_length is {tokens}, but this model has {positions} positions")
    return tokenizer.with_max_length(tokens)
