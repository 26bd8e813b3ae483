"""The cross-encoder: reads two texts together and gives a score or class probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
from torch import Tensor

from sbert import hub
from sbert.errors import BadInput, check_count, check_option, listed, shown
from sbert.models.backbone import Backbone, check_backbone
from sbert.models.model import TextModel
from sbert.models.postprocess import check_numbers
from sbert.nn import heads
from sbert.nn.classify import Classifier, usual_scale
from sbert.nn.pooling import pool
from sbert.porting import explained_class
from sbert.text import Tokenizer, Tokens, check_pairs
from sbert.types import Batch, FloatArray, OnTruncate, Output, Scale

SEED = 42
"""The random seed of the weights of a new head."""


@explained_class
class CrossEncoder(TextModel):
    """A transformer that reads a pair as one text, and a head on its first token, or on the mean of all tokens.

    Args:
        backbone: The tokenizer and the transformer. If the transformer has a pooler, the head uses or replaces it.
        labels: Names of the outputs; a single output is a score.
        head: The head. Defaults to a new one, of the form that the architecture defines.
        scale: The activation that turns the raw outputs (logits) into scores: "sigmoid", "identity",
            "softmax" or "tanh".
            Defaults to "sigmoid" for one output and to "identity" for several.
        seed: Random seed of the weights of a new head.

    >>> model = CrossEncoder(Backbone.from_pretrained("all-MiniLM-L6-v2"))  # with a new head, not trained yet
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
        check_backbone("CrossEncoder", backbone)
        _check_list(labels)
        if not labels or len(set(labels)) < len(labels):
            raise BadInput(f"the labels are {shown(list(labels))}, but must be one or more different names")
        self.labels = tuple(labels)
        self.tokenizer: Tokenizer = backbone.tokenizer
        self.transformer = backbone.transformer
        self.head = hub.new_head(self.transformer, len(labels), seed) if head is None else head
        if self.head.projection.out_features != len(labels):
            outputs = self.head.projection.out_features
            raise BadInput(
                f"the labels are {shown(list(labels))}, but the head has {outputs} outputs; name each of them"
            )
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
        """Load a cross-encoder, or put a new head on a plain encoder.

        Args:
            name: A folder, an installed model package, or a hub name: of a cross-encoder, of any transformers
                sequence classifier, or of a plain encoder, which gets a new head.
            num_labels: Number of outputs. Defaults to the model's own number, or to 1 for a new head.
            labels: Names of the outputs. Defaults to the model's own names.
            device: Where to run. Defaults to the first accelerator, or the CPU if there is none.
            max_seq_length: Number of tokens at which pairs are truncated. Defaults to the model's own number.
            seed: Random seed of the weights of a new head.
        """
        if num_labels is not None:
            check_count("num_labels", num_labels)
        if labels is not None:
            _check_list(labels)
        wanted = num_labels if labels is None else len(labels)
        parts = hub.read_cross(hub.resolve(name), wanted or 1, seed)
        names = parts.labels if labels is None else tuple(labels)
        if num_labels not in (None, len(names)):
            raise BadInput(
                f"num_labels is {num_labels}, but there are {len(names)} labels, {listed(names)}; leave it out"
            )
        model = cls(Backbone(parts.tokenizer, parts.transformer), names, head=parts.head, scale=parts.scale)
        return model.ready(device, max_seq_length)

    @property
    def _positions(self) -> int:
        return self.transformer.facts.max_length

    def items(self, columns: Sequence[Sequence[str]]) -> Sequence[Sequence[tuple[str, str]]]:
        """Pair the first column of texts with each other column."""
        first, *others = columns
        if not others:
            raise BadInput("got one text column, but a cross-encoder reads pairs; pass two or more")
        return [list(zip(first, other, strict=True)) for other in others]

    def tokenize(self, pairs: Sequence[tuple[str, str]]) -> Tokens:
        """Convert pairs of texts to token ids."""
        return self.tokenizer.pairs(pairs)

    def forward(self, batch: Batch) -> Tensor:
        """Score a batch of pairs: (T,) token ids -> (B, L) logits, in the order of the batch."""
        if self.head.reads_mean:
            return heads.apply([self.head], pool(self.transformer(batch), batch.groups, ("mean",)))
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
        """Score or classify pairs of texts: (N,) for one label, (N, L) for several.

        A score depends only on its pair: not on the other pairs, the batch size or the number of threads.

        Args:
            pairs: Any iterable of pairs of texts; a text may be empty.
            batch_tokens: Number of tokens in a batch; affects only speed and memory.
            output: ``score`` on the model's own scale (see :attr:`scale`), the raw ``logit``, or ``probability``:
                the sigmoid of one label, the softmax of several.
            show_progress_bar: Whether to show a progress bar.
            on_truncate: What to do about pairs that are longer than the maximum length, whose longer text is
                truncated first: ``warn`` in one line, ``raise`` or ``ignore``.
        """
        check_option("output", output, get_args(Output))
        rows = check_pairs(pairs)
        tokens = self.tokenize(rows)
        tokens.truncation.report(on_truncate)
        logits = self._run(tokens, (len(self.labels),), batch_tokens, show_progress_bar=show_progress_bar)
        check_numbers(logits, rows)
        scores = activate(logits, self.pair_scale(output))
        return scores[:, 0] if len(self.labels) == 1 else scores

    def predict_proba(self, pairs: Iterable[Sequence[str]]) -> FloatArray:
        """Return the probability of the single label, (N,), or of each of several labels, (N, L)."""
        return self.predict(pairs, output="probability")

    def score_pairs(self, pairs: Sequence[Sequence[str]], output: Output = "score") -> FloatArray:
        """Score pairs like :meth:`predict`, without a warning about truncation."""
        return self.predict(pairs, output=output, on_truncate="ignore")

    def pair_scale(self, output: Output = "score") -> Scale:
        """Name the activation that :meth:`predict` applies to the logits for this output."""
        if output == "score":
            return self.scale
        if output == "logit":
            return "identity"
        return "sigmoid" if len(self.labels) == 1 else "softmax"

    def _score_documents(
        self, query: str, documents: Sequence[str], show_progress_bar: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Return logits as sort keys: the sigmoid rounds the best scores to 1 and makes them equal."""
        if len(self.labels) > 1:
            raise BadInput(f"rank needs a model of one label, but this has {len(self.labels)}; use predict")
        pairs = [(query, text) for text in documents]
        logits = self.predict(pairs, output="logit", show_progress_bar=show_progress_bar)
        return logits, activate(logits[:, None], self.scale)[:, 0]

    def _properties(self) -> dict[str, Any]:
        return Backbone(self.tokenizer, self.transformer).describe(labels=list(self.labels), scale=self.scale)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write a folder that sbert and sentence-transformers can load, completely or not at all."""
        parts = hub.CrossParts(self.tokenizer, self.transformer, self.head, self.labels, self.scale)
        hub.write_cross(parts, Path(folder))


def _check_list(labels: Sequence[str]) -> None:
    if isinstance(labels, str):  # its letters would be taken for names
        raise BadInput(f"labels is the text {shown(labels)}, but must be a list of names; pass [{shown(labels)}]")


def activate(logits: FloatArray, scale: Scale) -> FloatArray:
    """(N, L) -> (N, L) float32. Computed in float64, so that a result does not depend on its position in the array."""
    exact = logits.astype(np.float64)
    if scale == "sigmoid":
        exact = np.exp(-np.logaddexp(0.0, -exact))
    elif scale == "tanh":
        exact = np.tanh(exact)
    elif scale == "softmax":
        exact = np.exp(exact - exact.max(axis=1, keepdims=True))
        exact = exact / exact.sum(axis=1, keepdims=True)
    return exact.astype(np.float32)
