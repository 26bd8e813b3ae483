"""A tokenizer and the transformer it was made for: what a model is built on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sbert import hub
from sbert.errors import BadInput, check_count
from sbert.nn.transformer import Transformer
from sbert.text import Tokenizer

_PACKED = "packed: tokens of many texts end to end, nothing padded"
_BY_LENGTH = (
    "equal lengths together: packed, this architecture gives other vectors than its own forward; "
    "slower, with the same guarantees"
)


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
            check_max_length(max_seq_length, transformer.facts.max_length)
            tokenizer = tokenizer.with_max_length(max_seq_length)
        return cls(tokenizer, transformer)


def check_max_length(tokens: int, positions: int | None) -> None:
    """Raise BadInput unless ``tokens`` is a count that does not exceed the network's number of positions."""
    check_count("max_seq_length", tokens)
    if positions is not None and tokens > positions:
        raise BadInput(f"max_seq_length is {tokens}, but this model has {positions} positions")


def describe_transformer(tokenizer: Tokenizer, transformer: Transformer, **own: Any) -> dict[str, Any]:
    """Collect the properties of a transformer and its vocabulary, with the model's ``own`` in their midst."""
    facts = transformer.facts
    return {
        "architecture": facts.architecture,
        "layers": facts.depth,
        "hidden_size": facts.hidden_size,
        "vocabulary": tokenizer.backend.get_vocab_size(),
        **own,
        "runs": _PACKED if transformer.packed else _BY_LENGTH,
    }
