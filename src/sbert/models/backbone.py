"""Pairs a tokenizer with the transformer it belongs to: the part that bi-, cross- and poly-encoders are built on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sbert import hub
from sbert.errors import BadInput, check_count, shown
from sbert.nn.transformer import Transformer
from sbert.text import Tokenizer
from sbert.types import UnicodeForm

_PACKED = "packed: tokens of many texts end to end, nothing padded"
_BY_LENGTH = (
    "equal lengths together: packed, this architecture gives other vectors than its own forward; "
    "slower, with the same guarantees"
)


@dataclass(frozen=True, slots=True, eq=False)
class Backbone:
    """A tokenizer and the transformer that reads its token ids."""

    tokenizer: Tokenizer
    transformer: Transformer

    @classmethod
    def from_pretrained(
        cls, name: str | Path, max_seq_length: int | None = None, unicode_form: UnicodeForm | None = None
    ) -> Backbone:
        """Load the backbone of any transformers encoder.

        Args:
            name: A folder, an installed model package, or a hub name.
            max_seq_length: Number of tokens at which texts are truncated. Defaults to the model's own number.
            unicode_form: Normalization form to which texts are brought first, "NFC" or "NFKC". Defaults to what the
                model's tokenizer does itself.
        """
        tokenizer, transformer = hub.read_backbone(hub.resolve(name))
        if max_seq_length is not None:
            check_max_length(max_seq_length, transformer.facts.max_length)
            tokenizer = tokenizer.with_max_length(max_seq_length)
        if unicode_form is not None:
            tokenizer = tokenizer.with_unicode_form(unicode_form)
        return cls(tokenizer, transformer)

    def describe(self, **own: Any) -> dict[str, Any]:
        """Collect the properties of the tokenizer and the transformer.

        Args:
            own: Properties of the whole model to add.
        """
        facts = self.transformer.facts
        return {
            "architecture": facts.architecture,
            "layers": facts.depth,
            "hidden_size": facts.hidden_size,
            "vocabulary": self.tokenizer.backend.get_vocab_size(),
            **own,
            "runs": _PACKED if self.transformer.packed else _BY_LENGTH,
        }


def check_max_length(tokens: int, positions: int | None) -> None:
    """Raise BadInput unless ``tokens`` is a count that does not exceed the network's number of positions."""
    check_count("max_seq_length", tokens)
    if positions is not None and tokens > positions:
        raise BadInput(f"max_seq_length is {tokens}, but this model has {positions} positions")


def check_backbone(model: str, backbone: object) -> None:
    """Raise BadInput unless ``backbone`` is a :class:`Backbone`.

    If it is a model's name, the error says how to load it.
    """
    if isinstance(backbone, str | Path):
        raise BadInput(f"{model} got {shown(str(backbone))}; load a model by its name with {model}.from_pretrained")
    if not isinstance(backbone, Backbone):
        kind = type(backbone).__name__
        raise BadInput(f"{model} got a {kind}, but is built on a Backbone; load a model with {model}.from_pretrained")
