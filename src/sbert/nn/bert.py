"""Implements BERT, RoBERTa, XLM-R, CamemBERT, ELECTRA and ALBERT without padding. Works on tensors only.

:mod:`sbert.nn.foreign` can run these models as well, but importing transformers takes longer than everything else from
a cold start to the first vector. This module avoids the import for the most common models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sbert.nn import products
from sbert.nn.attention import attend
from sbert.nn.pooling import pool
from sbert.nn.products import multiplied_by_onednn
from sbert.nn.stable import SPARE_ROWS, aligned_rows, pad
from sbert.nn.transformer import Facts, Transformer
from sbert.types import Group

Function = Callable[[Tensor], Tensor]
ACTIVATIONS: dict[str, tuple[Function, Function]] = {
    "gelu": (F.gelu, torch.ops.aten.gelu_),
    "gelu_new": (partial(F.gelu, approximate="tanh"), partial(torch.ops.aten.gelu_, approximate="tanh")),
    "relu": (F.relu, torch.ops.aten.relu_),
    "silu": (F.silu, torch.ops.aten.silu_),
}
"""Each activation, and its variant that overwrites its input."""


@dataclass(frozen=True, slots=True)
class BertSizes:
    """The sizes of a BERT-like model."""

    facts: Facts
    embedding_size: int
    """If it differs from the hidden size, a projection follows the embeddings. ALBERT always has one."""
    heads: int
    intermediate_size: int
    activation: str
    norm_epsilon: float
    hidden_dropout: float
    attention_dropout: float
    pooler: bool
    """Whether the checkpoint has a pooler. It is not used here, but other libraries expect it in saved models."""
    shared_layer: bool = False
    """Whether one layer is applied repeatedly, as in ALBERT, instead of a stack of different layers."""


class Bert(Transformer):
    """Embeddings and a stack of layers, or one layer that is applied several times.

    Args:
        sizes: All sizes of the model.
        settings: The configuration of the checkpoint, kept for saving only.
    """

    packed = True

    def __init__(self, sizes: BertSizes, settings: Mapping[str, Any]) -> None:
        super().__init__()
        self.settings = dict(settings)
        self.facts = facts = sizes.facts
        self.words = nn.Embedding(facts.vocabulary_size, sizes.embedding_size)
        self.places = nn.Embedding(facts.max_length + facts.first_position, sizes.embedding_size)
        self.segments = nn.Embedding(facts.segments, sizes.embedding_size)
        self.norm = nn.LayerNorm(sizes.embedding_size, sizes.norm_epsilon)
        self.dropout = nn.Dropout(sizes.hidden_dropout)
        projected = sizes.shared_layer or sizes.embedding_size != facts.hidden_size
        self.projection = nn.Linear(sizes.embedding_size, facts.hidden_size) if projected else None
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(1 if sizes.shared_layer else facts.depth))
        self.activation = sizes.activation
        self.widest = max(3 * facts.hidden_size, sizes.intermediate_size)
        self.pooler = nn.Linear(facts.hidden_size, facts.hidden_size) if sizes.pooler else None

    def hidden(self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None = None) -> Tensor:
        """Compute the hidden states of all tokens: (T,) -> (T, H)."""
        return self._forward(ids, groups, types, Layer.__call__)

    def first_hidden(self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None = None) -> Tensor:
        """Compute the hidden state of the first token of each text: (T,) -> (B, H).

        The last layer is computed for these tokens only.
        """
        if not self._unmodified:
            return super().first_hidden(ids, groups, types)
        return self._forward(ids, groups, types, Layer.first)

    def _forward(
        self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None, last_forward: Callable[..., Tensor]
    ) -> Tensor:
        """Apply all layers, the last one with ``last_forward``, in a workspace if possible."""
        *layers, last = [*self.layers] * (self.facts.depth // len(self.layers))

        def compute(ids: Tensor, workspace: Workspace | None) -> Tensor:
            x = self._embeddings(ids, groups, types)
            x = x if workspace is None else workspace.padded(x)
            for layer in layers:
                x = layer(x, groups, workspace)
            return last_forward(last, x, groups, workspace)[: len(ids)]

        weight = self.words.weight
        possible = (
            # Inference mode is required, because training passes with and without gradients must give equal bits.
            torch.is_inference_mode_enabled()
            and not self.training
            and not torch.is_autocast_enabled("cpu")
            and weight.device.type == "cpu"
            and self._unmodified
        )
        if not possible:
            return compute(ids, None)
        workspace = Workspace(weight, len(ids), self.widest)
        x = compute(ids, workspace)
        # Over-reading keys spreads NaN and infinity to other texts.
        if _is_finite(x):
            return x
        plain = compute(ids, None)
        affected, owners = _not_finite(plain, groups)
        if affected.all():
            return plain
        substitute = ids[~affected[owners]][0]
        x = compute(torch.where(affected[owners], substitute, ids), workspace)
        rows = affected if len(plain) == len(affected) else affected[owners]
        return torch.where(rows[:, None], plain, x) if _is_finite(x) else plain

    @property
    def _unmodified(self) -> bool:
        """Whether every layer can take the fast path."""
        return all(layer.unmodified for layer in cast(list[Layer], self.layers))

    def _embeddings(self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None) -> Tensor:
        segments = self.segments.weight[0] if types is None else self.segments(types)
        x: Tensor = self.words(ids) + segments + self.places(self.positions(groups, ids.device))
        x = self.dropout(self.norm(x))
        return x if self.projection is None else self.projection(x)


def _is_finite(x: Tensor) -> bool:
    """Return whether all values are finite. Their sum is finite only if they are, and takes a tenth of the time."""
    return bool(x.sum().isfinite() or x.isfinite().all())


def _not_finite(rows: Tensor, groups: tuple[Group, ...]) -> tuple[Tensor, Tensor]:
    """Return which texts have values that are not finite, (B,), and the text of each token, (T,).

    ``rows`` has the hidden states of all tokens, or of the first token of each text.
    """
    lengths = torch.tensor([group.length for group in groups for _ in range(group.texts)])
    owners = torch.arange(len(lengths)).repeat_interleave(lengths)
    affected = torch.zeros(len(lengths), dtype=torch.bool)
    affected[(owners if len(rows) == len(owners) else torch.arange(len(lengths)))[~rows.isfinite().all(dim=1)]] = True
    return affected, owners


class Workspace:
    """Memory and padding for computing a batch without gradients.

    With MKL, a workspace holds one wide result at a time. Allocating memory for each result would take more time,
    because the operating system provides it page by page and fills it with zeros. oneDNN allocates its own results.

    Args:
        like: A tensor with the dtype and the device of the results.
        tokens: Number of tokens of the batch.
        widest: Width of the widest result.
    """

    def __init__(self, like: Tensor, tokens: int, widest: int) -> None:
        self.tokens, self.by_onednn = tokens, multiplied_by_onednn(like)
        self._memory = like.new_empty(0 if self.by_onednn else (aligned_rows(tokens) + SPARE_ROWS) * widest)

    def padded(self, x: Tensor) -> Tensor:
        """Append the padding rows that all layers compute."""
        return pad(x, products.rounded_rows(len(x) + SPARE_ROWS)) if self.by_onednn else x

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor, spare: int = 0) -> Tensor:
        """Apply a linear map: (N, H) -> (at least N + spare, width), where further rows are finite.

        The result is valid until the next call.
        """
        if self.by_onednn:
            return products.linear(x, weight, bias)
        rows, width = len(x), len(weight)
        result = self._memory[: (rows + spare) * width].view(-1, width)
        result[rows:] = 0
        torch.addmm(bias, x, weight.T, out=result[:rows])
        return result


class Layer(nn.Module):
    """Self-attention and a feed-forward network, each with a residual connection and a layer norm after it.

    With a workspace, a layer overwrites its input.
    """

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        size, wide = sizes.facts.hidden_size, sizes.intermediate_size
        self.heads, self.size = sizes.heads, size // sizes.heads
        self.qkv = nn.Linear(size, 3 * size)
        self.attention_out = nn.Linear(size, size)
        self.attention_norm = nn.LayerNorm(size, sizes.norm_epsilon)
        self.widen = nn.Linear(size, wide)
        self.activation = sizes.activation  # A name, because the in-place functions of torch cannot be pickled.
        self.narrow = nn.Linear(wide, size)
        self.output_norm = nn.LayerNorm(size, sizes.norm_epsilon)
        self.dropout = nn.Dropout(sizes.hidden_dropout)
        self.output_dropout = nn.Dropout(0.0 if sizes.shared_layer else sizes.hidden_dropout)  # ALBERT has none here
        self.attention_dropout = sizes.attention_dropout

    @property
    def unmodified(self) -> bool:
        """Whether no linear layer has been replaced, as by an adapter, and no hook is registered."""
        linear = (self.qkv, self.attention_out, self.widen, self.narrow)
        hooked = any(part._forward_hooks or part._forward_pre_hooks for part in self.modules())
        return not hooked and all(type(part) is nn.Linear for part in linear)

    def forward(self, x: Tensor, groups: tuple[Group, ...], workspace: Workspace | None = None) -> Tensor:
        """Compute the next hidden states: (T, H) -> (T, H)."""
        heads = self._heads(self.qkv(x)) if workspace is None else self._project(x, workspace, slice(None))
        query, key, value = heads
        tokens = len(x) if workspace is None else workspace.tokens
        dropout = self.attention_dropout if self.training else 0.0
        return self._rest(x, attend(query[:tokens], key, value, groups, dropout=dropout), workspace)

    def first(self, x: Tensor, groups: tuple[Group, ...], workspace: Workspace | None = None) -> Tensor:
        """Compute the next hidden state of the first token of each text only: (T, H) -> (B, H)."""
        size = x.shape[1]
        firsts = pool(x if workspace is None else x[: workspace.tokens], groups, ["cls"])
        texts, rows = len(firsts), aligned_rows(len(firsts))
        firsts = pad(firsts, rows)
        (query,) = self._project(firsts, None, slice(size))
        key, value = self._project(x, workspace, slice(size, None))
        dropout = self.attention_dropout if self.training else 0.0
        alone = tuple(Group(group.texts, 1) for group in groups)
        attended = attend(query[:texts], key, value, groups, query_groups=alone, dropout=dropout)
        return self._rest(firsts, attended, workspace)[:texts]

    def _project(self, x: Tensor, workspace: Workspace | None, which: slice) -> tuple[Tensor, ...]:
        """Compute the selected queries, keys and values: (N, H) -> (N or N + SPARE_ROWS, heads, size) each."""
        weight, bias = self.qkv.weight[which], self.qkv.bias[which]
        return self._heads(
            F.linear(x, weight, bias) if workspace is None else workspace.linear(x, weight, bias, SPARE_ROWS)
        )

    def _heads(self, projected: Tensor) -> tuple[Tensor, ...]:
        """Divide into heads: (N, k * H) -> k tensors (N, heads, size)."""
        return projected.view(len(projected), -1, self.heads, self.size).unbind(dim=1)

    def _rest(self, x: Tensor, attended: Tensor, workspace: Workspace | None) -> Tensor:
        """Apply everything after attention: (N, H), (N or fewer, heads, size) -> (N, H)."""
        attended = attended if len(attended) == len(x) else pad(attended, len(x))
        x = self.attention_norm(_plus(x, self.attention_out, attended.flatten(1), self.dropout, workspace))
        activation, activation_ = ACTIVATIONS[self.activation]
        if workspace is None:
            wide = activation(self.widen(x))
        else:
            wide = activation_(workspace.linear(x, self.widen.weight, self.widen.bias))
        x = self.output_norm(_plus(x, self.narrow, wide, self.output_dropout, workspace))
        return x


def _plus(x: Tensor, layer: nn.Linear, y: Tensor, dropout: nn.Dropout, workspace: Workspace | None) -> Tensor:
    """Compute ``x + dropout(layer(y))``, with a workspace by one matrix product that adds to ``x`` in place."""
    if workspace is None:
        x = x + dropout(layer(y))
        return x
    if workspace.by_onednn:
        return products.add_linear(x, y, layer.weight, layer.bias)
    return x.add_(layer.bias).addmm_(y, layer.weight.T)
