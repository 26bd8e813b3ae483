"""BERT's encoder, which RoBERTa, XLM-R, CamemBERT and ELECTRA share, over a packed batch. Knows tensors only.

Any transformers model can be packed (see :mod:`sbert.nn.foreign`), but importing that library takes longer than
everything else from a cold start to the first vector. This file spares it for the models most people use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sbert.nn.attention import SPARE, attend
from sbert.nn.pooling import pool
from sbert.nn.transformer import MIN_ROWS, Facts, Transformer
from sbert.types import Group

Function = Callable[[Tensor], Tensor]
ACTIVATIONS: dict[str, tuple[Function, Function]] = {
    "gelu": (F.gelu, torch.ops.aten.gelu_),
    "relu": (F.relu, torch.ops.aten.relu_),
    "silu": (F.silu, torch.ops.aten.silu_),
}
"""Each by itself, and in place."""


@dataclass(frozen=True, slots=True)
class BertSizes:
    """The numbers that make one BERT differ from another."""

    facts: Facts
    embedding_size: int
    """ELECTRA's embeddings may be narrower than its layers; a projection lies between."""
    heads: int
    intermediate_size: int
    activation: str
    norm_epsilon: float
    hidden_dropout: float
    attention_dropout: float
    pooler: bool
    """Whether to carry the checkpoint's pooler along: unused here, expected by other libraries."""


class Bert(Transformer):
    """Embeddings and a stack of layers.

    Args:
        sizes: how large everything is.
        settings: what a checkpoint says of itself; carried along for saving, never looked at.
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
        projected = sizes.embedding_size != facts.hidden_size
        self.projection = nn.Linear(sizes.embedding_size, facts.hidden_size) if projected else None
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(facts.depth))
        self.widest = max(3 * facts.hidden_size, sizes.intermediate_size)
        self.pooler = nn.Linear(facts.hidden_size, facts.hidden_size) if sizes.pooler else None

    def hidden(self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None = None) -> Tensor:
        """(T,) token ids of texts of these lengths, and of pairs each token's segment -> (T, H)."""
        return self._read(ids, groups, types, Layer.__call__)

    def first_hidden(self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None = None) -> Tensor:
        """The same of each text's first token, (T,) -> (B, H): the last layer has no others to compute."""
        if not self._plain:
            return super().first_hidden(ids, groups, types)
        return self._read(ids, groups, types, Layer.first)

    def _read(
        self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None, end: Callable[..., Tensor]
    ) -> Tensor:
        """Through all layers, of the last one ``end``: in a room, where there can be one."""
        *layers, last = self.layers

        def read(room: Room | None) -> Tensor:
            x = self._embeddings(ids, groups, types)
            for layer in layers:
                x = layer(x, groups, room)
            return end(last, x, groups, room)

        weight = self.words.weight
        possible = (
            # Not merely without gradients: a pass of training that goes without must round like the one with them.
            torch.is_inference_mode_enabled()
            and not self.training
            and not torch.is_autocast_enabled("cpu")
            and weight.device.type == "cpu"
            and self._plain
        )
        if not possible:
            return read(None)
        x = read(Room(weight.new_empty((len(ids) + SPARE) * self.widest)))
        # NaN and infinity do not stay in their text where others are read on into it. One in the sum tells of one in
        # any place, in a tenth of the time of asking every place.
        return x if x.sum().isfinite() else read(None)

    @property
    def _plain(self) -> bool:
        """Whether all layers are."""
        return all(layer.plain for layer in cast(list[Layer], self.layers))

    def _embeddings(self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None) -> Tensor:
        segments = self.segments.weight[0] if types is None else self.segments(types)
        x: Tensor = self.words(ids) + segments + self.places(self.positions(groups, ids.device))
        x = self.dropout(self.norm(x))
        return x if self.projection is None else self.projection(x)


class Room:
    """Memory for one wide result at a time, for the layers of a batch one after another.

    Fresh memory for each costs time: the system hands it out page by page, and filled with zeros.
    """

    def __init__(self, memory: Tensor) -> None:
        self._memory = memory

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor, spare: int = 0) -> Tensor:
        """(N, H) -> (N + spare, width): the linear map of ``x``, and behind it rows of zeros; until the next call."""
        rows, width = len(x), len(weight)
        result = self._memory[: (rows + spare) * width].view(-1, width)
        result[rows:] = 0
        torch.addmm(bias, x, weight.T, out=result[:rows])
        return result


class Layer(nn.Module):
    """Self-attention, then a feed-forward network; each adds to its input and is normalised after.

    In a room it works in place: its input is overwritten.
    """

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        size, wide = sizes.facts.hidden_size, sizes.intermediate_size
        self.heads, self.size = sizes.heads, size // sizes.heads
        self.qkv = nn.Linear(size, 3 * size)
        self.attention_out = nn.Linear(size, size)
        self.attention_norm = nn.LayerNorm(size, sizes.norm_epsilon)
        self.widen = nn.Linear(size, wide)
        self.activation = sizes.activation  # by name: torch's own functions in place cannot be pickled
        self.narrow = nn.Linear(wide, size)
        self.output_norm = nn.LayerNorm(size, sizes.norm_epsilon)
        self.dropout = nn.Dropout(sizes.hidden_dropout)
        self.attention_dropout = sizes.attention_dropout

    @property
    def plain(self) -> bool:
        """Whether its linear layers are nothing but their weights, and nobody listens to what it computes."""
        linear = (self.qkv, self.attention_out, self.widen, self.narrow)
        heard = any(part._forward_hooks or part._forward_pre_hooks for part in self.modules())
        return not heard and all(type(part) is nn.Linear for part in linear)

    def forward(self, x: Tensor, groups: tuple[Group, ...], room: Room | None = None) -> Tensor:
        """(T, H) -> (T, H)."""
        query, key, value = self._heads(self.qkv(x)) if room is None else self._project(x, room, slice(None))
        dropout = self.attention_dropout if self.training else 0.0
        return self._rest(x, attend(query[: len(x)], key, value, groups, dropout=dropout), room)

    def first(self, x: Tensor, groups: tuple[Group, ...], room: Room | None = None) -> Tensor:
        """(T, H) -> (B, H), of each text's first token; the others are only attended to."""
        size = x.shape[1]
        firsts = pool(x, groups, ["cls"])
        texts = len(firsts)
        firsts = F.pad(firsts, (0, 0, 0, max(0, MIN_ROWS - texts)))
        (query,) = self._project(firsts, None, slice(size))
        key, value = self._project(x, room, slice(size, None))
        dropout = self.attention_dropout if self.training else 0.0
        alone = tuple(Group(group.texts, 1) for group in groups)
        attended = attend(query[:texts], key, value, groups, asking=alone, dropout=dropout)
        return self._rest(firsts, F.pad(attended, (0, 0, 0, 0, 0, len(firsts) - texts)), room)[:texts]

    def _project(self, x: Tensor, room: Room | None, which: slice) -> tuple[Tensor, ...]:
        """Queries, keys and values of ``x``, or only some of them: (N, H) -> (N or N + SPARE, heads, size) each."""
        weight, bias = self.qkv.weight[which], self.qkv.bias[which]
        return self._heads(F.linear(x, weight, bias) if room is None else room.linear(x, weight, bias, SPARE))

    def _heads(self, projected: Tensor) -> tuple[Tensor, ...]:
        """(N, k * H) -> k times (N, heads, size)."""
        return projected.view(len(projected), -1, self.heads, self.size).unbind(dim=1)

    def _rest(self, x: Tensor, attended: Tensor, room: Room | None) -> Tensor:
        """What follows attention: (N, H), (N, heads, size) -> (N, H)."""
        x = self.attention_norm(self._plus(x, self.attention_out, attended.flatten(1), room))
        activation, activation_ = ACTIVATIONS[self.activation]
        if room is None:
            wide = activation(self.widen(x))
        else:
            wide = activation_(room.linear(x, self.widen.weight, self.widen.bias))
        x = self.output_norm(self._plus(x, self.narrow, wide, room))
        return x

    def _plus(self, x: Tensor, layer: nn.Linear, y: Tensor, room: Room | None) -> Tensor:
        """``x + layer(y)``: in a room one matrix product, which adds to what is there already."""
        if room is None:
            x = x + self.dropout(layer(y))
            return x
        return x.add_(layer.bias).addmm_(y, layer.weight.T)
