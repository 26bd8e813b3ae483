"""The bare encoder that Sentence-BERT is trained from: what the paper calls such a one, and new models on it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from sbert import hub
from sbert.models.backbone import Backbone
from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder
from sbert.models.inference import best_device
from sbert.nn.transformer import Facts
from sbert.paper import sources
from sbert.types import Pooling

SEED = 42
_LONGEST = 128
"""Tokens of a text in training, as in the recipes."""
_LARGE = 1024
"""The width of BERT-large and RoBERTa-large."""


class Bare:
    """A backbone by its name. It is looked for when first needed: rows that are not made of it do without."""

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def fingerprint(self) -> str:
        """Other weights are another backbone, whatever its name."""
        return sources.fingerprint_of(hub.resolve(self.name))

    @cached_property
    def facts(self) -> Facts:
        """Its architecture and size."""
        return Backbone.from_pretrained(self.name).transformer.facts

    @property
    def family(self) -> str:
        """What the paper calls a model of such a backbone."""
        return "SRoBERTa" if "roberta" in self.facts.architecture.lower() else "SBERT"

    def named(self, row: str) -> str:
        """What a row of BERT is called with this backbone, such as RoBERTa-STSb or SRoBERTa-STSb."""
        return row.replace("BERT", "RoBERTa") if self.family == "SRoBERTa" else row

    @property
    def size(self) -> str:
        """Which of the paper's two sizes it is compared with."""
        return "large" if self.facts.hidden_size >= _LARGE else "base"

    @property
    def rate(self) -> float:
        """The paper's 2e-5 for BERT-base; narrower encoders learn nothing with so little."""
        return 2e-5 * max(1.0, 768 / self.facts.hidden_size)

    @property
    def note(self) -> str:
        """For every row that is made of it."""
        return f"backbone {Path(self.name).name}"

    @property
    def trained_note(self) -> str:
        """For every row that is trained from it."""
        return f"{self.note}, learning rate {self.rate:.1e}"

    def bi(self, pooling: Pooling) -> BiEncoder:
        """With a pooling, untrained."""
        model = BiEncoder(Backbone.from_pretrained(self.name), pooling).to(best_device())
        model.max_seq_length = min(_LONGEST, model.max_seq_length)
        return model

    def cross(self, labels: Sequence[str] = ("score",), start: Path | None = None) -> CrossEncoder:
        """A new cross-encoder on it, or on what training made of it."""
        if start is None:
            backbone = Backbone.from_pretrained(self.name)
        else:
            trained = CrossEncoder.from_pretrained(start)
            backbone = Backbone(trained.tokenizer, trained.transformer)
        model = CrossEncoder(backbone, labels, seed=SEED, scale="identity")
        model.max_seq_length = min(_LONGEST, model.max_seq_length)
        return model
