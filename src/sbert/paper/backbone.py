"""The encoder that Sentence-BERT is trained from: what the paper calls it, and new models on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from sbert import hub
from sbert.disk.digest import files_digest
from sbert.models.backbone import Backbone
from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder
from sbert.nn.transformer import Facts
from sbert.types import Pooling

SEED = 42
_MAX_LENGTH = 128
"""Number of tokens at which texts are truncated in training, as in the recipes."""
_LARGE = 1024
"""Hidden size of BERT-large and RoBERTa-large."""
_SIZES = {(768, 12), (_LARGE, 24)}
"""Hidden sizes and numbers of layers of the paper's backbones."""


class PaperBackbone:
    """A backbone by its name. It is loaded when first needed, so that rows without it do not depend on it."""

    def __init__(self, name: str, device: str) -> None:
        self.name, self.device = name, device

    @cached_property
    def digest(self) -> str:
        """Digest of the backbone's files."""
        return folder_digest(hub.resolve(self.name))

    @cached_property
    def facts(self) -> Facts:
        """Architecture and sizes."""
        return Backbone.from_pretrained(self.name).transformer.facts

    @property
    def family(self) -> str:
        """The paper's name for a model on such a backbone."""
        return "SRoBERTa" if "roberta" in self.facts.architecture.lower() else "SBERT"

    def named(self, row: str) -> str:
        """Return the name of one of BERT's rows for this backbone, such as SRoBERTa-STSb for SBERT-STSb."""
        return row.replace("BERT", "RoBERTa") if self.family == "SRoBERTa" else row

    @property
    def size(self) -> str:
        """Which of the paper's two sizes it is compared with."""
        return "large" if self.facts.hidden_size >= _LARGE else "base"

    @property
    def comparable(self) -> bool:
        """Whether it is as large as one of the paper's, so that a difference to the paper's numbers has a meaning."""
        return (self.facts.hidden_size, self.facts.depth) in _SIZES

    @property
    def learning_rate(self) -> float:
        """The paper's 2e-5 for a hidden size of 768; narrower encoders learn too little with it and get more."""
        return 2e-5 * max(1.0, 768 / self.facts.hidden_size)

    @property
    def note(self) -> str:
        """Note for every row that is made of the backbone."""
        return f"backbone {Path(self.name).name}{'' if self.comparable else ', not of a size of the paper'}"

    @property
    def trained_note(self) -> str:
        """Note for every row that is trained from the backbone."""
        return f"{self.note}, learning rate {self.learning_rate:.1e}"

    def bi_encoder(self, pooling: Pooling = "mean") -> BiEncoder:
        """Return an untrained bi-encoder."""
        return BiEncoder(self._backbone(), pooling).ready(self.device)

    def cross_encoder(self, labels: Sequence[str] = ("score",), start: Path | None = None) -> CrossEncoder:
        """Return a cross-encoder with a new head, on the backbone or on the trained cross-encoder in ``start``."""
        backbone = self._backbone()
        if start is not None:
            trained = CrossEncoder.from_pretrained(start, device=self.device)
            backbone = Backbone(trained.tokenizer, trained.transformer)
        return CrossEncoder(backbone, labels, seed=SEED, scale="identity")

    def _backbone(self) -> Backbone:
        whole = Backbone.from_pretrained(self.name)
        return replace(whole, tokenizer=whole.tokenizer.with_max_length(min(_MAX_LENGTH, whole.tokenizer.max_length)))


def folder_digest(source: Path) -> str:
    """Return the digest of a file, or of all files of a folder."""
    return files_digest([source] if source.is_file() else filter(Path.is_file, source.rglob("*")))
