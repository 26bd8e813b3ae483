"""BERT's encoder, which RoBERTa, XLM-R, CamemBERT and ELECTRA share, over a packed batch. Knows tensors only.

Any transformers model can be packed (see :mod:`sbert.nn.foreign`), but importing that library takes longer than
everything else from a cold start to the first vector. These hundred lines spare it for the models most people use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from torch import Tensor, nn
from torch.nn import functional as F

from sbert.nn.attention import attend
from sbert.nn.pooling import pool
from sbert.nn.transformer import MIN_ROWS, Facts, Transformer
from sbert.types import Group

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"gelu": F.gelu, "relu": F.relu, "silu": F.silu}


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
        self.pooler = nn.Linear(facts.hidden_size, facts.hidden_size) if sizes.pooler else None

    def hidden(self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None = None) -> Tensor:
        """(T,) token ids of texts of these lengths, and of pairs each token's segment -> (T, H)."""
        x = self._embeddings(ids, groups, types)
        for layer in self.layers:
            x = layer(x, groups)
        return x

    def first_hidden(self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None = None) -> Tensor:
        """The same of each text's first token, (T,) -> (B, H): the last layer has no others to compute."""
        x = self._embeddings(ids, groups, types)
        for layer in self.layers[:-1]:
            x = layer(x, groups)
        return cast(Layer, self.layers[-1]).first(x, groups)

    def _embeddings(self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None) -> Tensor:
        segments = self.segments.weight[0] if types is None else self.segments(types)
        x: Tensor = self.words(ids) + segments + self.places(self.positions(groups, ids.device))
        x = self.dropout(self.norm(x))
        return x if self.projection is None else self.projection(x)


class Layer(nn.Module):
    """Self-attention, then a feed-forward network; each adds to its input and is normalised after."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        size, wide = sizes.facts.hidden_size, sizes.intermediate_size
        self.heads = sizes.heads
        self.qkv = nn.Linear(size, 3 * size)
        self.attention_out = nn.Linear(size, size)
        self.attention_norm = nn.LayerNorm(size, sizes.norm_epsilon)
        self.widen = nn.Linear(size, wide)
        self.activation = ACTIVATIONS[sizes.activation]
        self.narrow = nn.Linear(wide, size)
        self.output_norm = nn.LayerNorm(size, sizes.norm_epsilon)
        self.dropout = nn.Dropout(sizes.hidden_dropout)
        self.attention_dropout = sizes.attention_dropout

    def forward(self, x: Tensor, groups: tuple[Group, ...]) -> Tensor:
        """(T, H) -> (T, H)."""
        query, key, value = self.qkv(x).view(len(x), 3, self.heads, -1).unbind(dim=1)  # (T, heads, size) each
        dropout = self.attention_dropout if self.training else 0.0
        return self._rest(x, attend(query, key, value, groups, dropout=dropout))

    def first(self, x: Tensor, groups: tuple[Group, ...]) -> Tensor:
        """(T, H) -> (B, H), of each text's first token; the others are only attended to."""
        size = x.shape[1]
        firsts = pool(x, groups, ["cls"])
        texts = len(firsts)
        firsts = F.pad(firsts, (0, 0, 0, max(0, MIN_ROWS - texts)))
        query = F.linear(firsts, self.qkv.weight[:size], self.qkv.bias[:size]).unflatten(1, (self.heads, -1))
        others = F.linear(x, self.qkv.weight[size:], self.qkv.bias[size:])
        key, value = others.view(len(x), 2, self.heads, -1).unbind(dim=1)  # (T, heads, size) each
        dropout = self.attention_dropout if self.training else 0.0
        alone = tuple(Group(group.texts, 1) for group in groups)
        attended = attend(query[:texts], key, value, groups, asking=alone, dropout=dropout)
        return self._rest(firsts, F.pad(attended, (0, 0, 0, 0, 0, len(firsts) - texts)))[:texts]

    def _rest(self, x: Tensor, attended: Tensor) -> Tensor:
        """What follows attention: (N, H), (N, heads, size) -> (N, H)."""
        x = self.attention_norm(x + self.dropout(self.attention_out(attended.flatten(1))))
        x = self.output_norm(x + self.dropout(self.narrow(self.activation(self.widen(x)))))
        return x
