"""The cross-encoder: two texts together in, a score or a class out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
from torch import Tensor

from sbert import hub
from sbert.errors import BadInput, check_count, check_option
from sbert.models.backbone import Backbone, describe_transformer
from sbert.models.inference import run
from sbert.models.model import TextModel
from sbert.models.postprocess import best, check_numbers
from sbert.nn import heads
from sbert.nn.classify import Classifier, usual_scale
from sbert.text import Tokenizer, Tokens, check_pairs, check_texts
from sbert.types import Batch, FloatArray, Hit, OnTruncate, Output, Scale

SEED = 42
"""Of a new head's weights."""


class CrossEncoder(TextModel):
    """A transformer that reads a pair as one text, and a head on its first token.

    Args:
        backbone: tokenizer and transformer; a pooler there may be is taken into the head, or dropped.
        labels: the names of the outputs; a single one is a score.
        head: the head; a new one, of the architecture's own form, unless given.
        scale: what makes scores of the raw outputs (logits): "sigmoid", "identity" or "softmax". A single output's
            is "sigmoid" unless given, of several "identity".
        seed: of a new head's weights.

    >>> model = CrossEncoder(Backbone.from_pretrained("all-MiniLM-L6-v2"))  # a new head, still to be trained
    >>> model.predict([("A man is eating.", "Someone has a meal."), ("비가 온다.", "")]).shape
    (2,)
    """

    def __init__(
        self,
        backbone: Backbone,
        labels: Sequence[str] = ("LABEL_0",),
        *,
        head: Classifier | None = None,
        scale: Scale | None = None,
        seed: int = SEED,
    ) -> None:
        super().__init__()
        _check_list(labels)
        if not labels or len(set(labels)) < len(labels):
            raise BadInput(f"the labels are {list(labels)}, but must be one or more different names")
        self.labels = tuple(labels)
        self.tokenizer: Tokenizer = backbone.tokenizer
        self.transformer = backbone.transformer
        self.head = hub.new_head(self.transformer, len(labels), seed) if head is None else head
        if self.head.projection.out_features != len(labels):
            outputs = self.head.projection.out_features
            raise BadInput(f"the labels are {list(labels)}, but the head has {outputs} outputs; name each of them")
        self.scale: Scale = scale or usual_scale(len(labels))
        check_option("scale", self.scale, get_args(Scale))
        self.eval()

    @classmethod
    def from_pretrained(
        cls,
        name: str | Path,
        *,
        num_labels: int | None = None,
        labels: Sequence[str] | None = None,
        device: str | torch.device | None = None,
        max_seq_length: int | None = None,
        seed: int = SEED,
    ) -> CrossEncoder:
        """Load a cross-encoder, or put a new head on a bare encoder.

        Args:
            name: a folder, an installed model package, or a hub name: of a cross-encoder, of any transformers
                sequence classifier, or of a plain encoder, which gets a new head.
            num_labels: how many outputs; of a new head 1 unless given.
            labels: names of the outputs, in place of the model's own.
            device: where to run; the first accelerator if there is one, else the CPU.
            max_seq_length: cut pairs at so many tokens instead of the model's own number.
            seed: of a new head's weights.
        """
        if num_labels is not None:
            check_count("num_labels", num_labels)
        if labels is not None:
            _check_list(labels)
        asked = num_labels if labels is None else len(labels)
        parts = hub.read_cross(hub.resolve(name), asked or 1, seed)
        names = parts.labels if labels is None else tuple(labels)
        if num_labels not in (None, len(names)):
            listed = ", ".join(names)
            raise BadInput(f"num_labels is {num_labels}, but there are {len(names)} labels, {listed}; leave it out")
        backbone = Backbone(parts.tokenizer, parts.transformer)
        model = cls(backbone, names, head=parts.head, scale=parts.scale)
        return model.ready(device, max_seq_length)

    @property
    def _positions(self) -> int:
        return self.transformer.facts.max_length

    def items(self, columns: Sequence[Sequence[str]]) -> Sequence[Sequence[tuple[str, str]]]:
        """What is scored of a row's texts in training: the first with each other one."""
        first, *others = columns
        if not others:
            raise BadInput("got one text column, but a cross-encoder reads pairs; pass two or more")
        return [list(zip(first, other, strict=True)) for other in others]

    def tokenize(self, pairs: Sequence[tuple[str, str]]) -> Tokens:
        """The first of the three steps: pairs -> token ids."""
        return self.tokenizer.pairs(pairs)

    def forward(self, batch: Batch) -> Tensor:
        """The second step: (T,) token ids -> (B, L) logits, in the order of the batch."""
        return heads.apply([self.head], self.transformer.first(batch))

    def predict(
        self,
        pairs: Iterable[Sequence[str]],
        *,
        batch_tokens: int = 2048,
        output: Output = "score",
        show_progress_bar: bool = False,
        on_truncate: OnTruncate = "warn",
    ) -> FloatArray:
        """What the model says of pairs: (N,) of one label, (N, L) of several.

        A score depends on its pair alone: neither on the other pairs nor on batch sizes or threads.

        Args:
            pairs: any iterable of two texts each; either may be empty.
            batch_tokens: tokens in one pass; changes speed and memory only.
            output: ``score``, on the model's own scale (see :attr:`scale`), ``logit``, on none, or ``probability``:
                of one label by sigmoid, of several by softmax.
            show_progress_bar: show tokens done and time left.
            on_truncate: what to do about pairs longer than the model reads, of which the longer text loses its end
                first: ``warn`` in one line, ``raise`` or ``ignore``.
        """
        check_option("output", output, get_args(Output))
        rows = check_pairs(pairs)
        tokens = self.tokenize(rows)
        tokens.truncation.report(on_truncate)
        logits = np.empty((len(tokens.lengths), len(self.labels)), np.float32)
        for places, _, result in run(self, self.forward, tokens, batch_tokens, show_progress_bar=show_progress_bar):
            logits[places] = result.float().cpu().numpy()
        check_numbers(logits, rows)
        finished = _on_scale(logits, self.pair_scale(output))
        return finished[:, 0] if len(self.labels) == 1 else finished

    def predict_proba(self, pairs: Iterable[Sequence[str]]) -> FloatArray:
        """The probability of the one label, (N,), or of each of several, (N, L)."""
        return self.predict(pairs, output="probability")

    def score_pairs(self, pairs: Sequence[Sequence[str]], output: Output = "score") -> FloatArray:
        """Score pairs like :meth:`predict`, without a warning about truncation."""
        return self.predict(pairs, output=output, on_truncate="ignore")

    def rank(
        self, query: str, documents: Iterable[str], top_k: int | None = None, *, show_progress_bar: bool = False
    ) -> list[Hit]:
        """Sort documents by their score with a query, best first; the earlier document wins a tie.

        Args:
            query: The text to read every document with.
            documents: The texts to sort. The id of a hit is the position of its document here.
            top_k: Maximum number of hits. Defaults to all documents.
            show_progress_bar: Whether to show a progress bar.
        """
        if len(self.labels) > 1:
            raise BadInput(f"rank needs a model of one label, but this has {len(self.labels)}; use predict")
        texts = check_texts(documents)
        # By logits: the sigmoid rounds the best to 1 and makes them equal.
        pairs = [(query, text) for text in texts]
        logits = self.predict(pairs, output="logit", show_progress_bar=show_progress_bar)
        return best(logits, _on_scale(logits[:, None], self.scale)[:, 0], texts, top_k)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write a folder that loads here and, as it is, in sentence-transformers; whole or not at all."""
        parts = hub.CrossParts(self.tokenizer, self.transformer, self.head, self.labels, self.scale)
        hub.write_cross(parts, Path(folder))

    def pair_scale(self, output: Output = "score") -> Scale:
        """Name the activation that :meth:`predict` applies to the logits for this output."""
        if output == "score":
            return self.scale
        if output == "logit":
            return "identity"
        return "sigmoid" if len(self.labels) == 1 else "softmax"

    def _properties(self) -> dict[str, Any]:
        return describe_transformer(self.tokenizer, self.transformer, labels=list(self.labels), scale=self.scale)


def _check_list(labels: Sequence[str]) -> None:
    if isinstance(labels, str):  # whose letters would pass for names
        raise BadInput(f"labels is the text {labels!r}, but must be a list of names; pass [{labels!r}]")


def _on_scale(logits: FloatArray, scale: Scale) -> FloatArray:
    """(N, L) -> (N, L) float32. In float64, and by functions whose result does not depend on a number's place."""
    exact = logits.astype(np.float64)
    if scale == "sigmoid":
        exact = np.exp(-np.logaddexp(0.0, -exact))
    elif scale == "softmax":
        exact = np.exp(exact - exact.max(axis=1, keepdims=True))
        exact = exact / exact.sum(axis=1, keepdims=True)
    return exact.astype(np.float32)
