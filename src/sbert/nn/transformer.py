"""The contract of a transformer: a packed batch in, hidden states out. Knows tensors only."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from sbert.nn.pooling import pool
from sbert.types import Batch, Group

# From this many rows on, a row of a matrix product no longer depends on how many other rows there are: smaller
# products take other kernels, which round otherwise. Measured from 12 rows on; 16 leaves a margin.
MIN_ROWS = 16


@dataclass(frozen=True, slots=True)
class Facts:
    """What others need to know of a transformer."""

    architecture: str
    hidden_size: int
    depth: int
    vocabulary_size: int
    max_length: int
    """Tokens of the longest text it can read."""
    first_position: int = 0
    """The id of a text's first position: RoBERTa and its kin start behind the padding's."""
    segments: int = 0
    pad_token_id: int | None = None


class Transformer(nn.Module):
    """Tokens of several texts, end to end, to the hidden states of the last layer."""

    facts: Facts
    packed: bool
    """Whether texts of all lengths go through together; otherwise only those of equal length."""

    def forward(self, batch: Batch) -> Tensor:
        """Hidden states of the last layer, (T, H), in the order of the batch."""
        return self.hidden(*self._inputs(batch))[: len(batch.input_ids)]

    def first(self, batch: Batch) -> Tensor:
        """Of those, each text's first token's alone, (B, H)."""
        return self.first_hidden(*self._inputs(batch))[: len(batch.lengths)]

    def _inputs(self, batch: Batch) -> tuple[Tensor, tuple[Group, ...], Tensor | None]:
        """What :meth:`hidden` takes: the batch, as often as it needs to come to MIN_ROWS tokens."""
        device = next(self.parameters()).device
        repeats = math.ceil(MIN_ROWS / max(len(batch.input_ids), 1))
        ids = torch.from_numpy(batch.input_ids).to(device)  # (T,)
        types = None
        if batch.token_types is not None and self.facts.segments > 1:
            types = torch.from_numpy(batch.token_types).to(device).repeat(repeats)
        return ids.repeat(repeats), batch.groups * repeats, types

    def hidden(self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None = None) -> Tensor:
        """(T,) token ids of texts of these lengths, and of pairs each token's segment -> (T, H)."""
        raise NotImplementedError

    def first_hidden(self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None = None) -> Tensor:
        """The same of each text's first token, (T,) -> (B, H)."""
        return pool(self.hidden(ids, groups, types), groups, ["cls"])

    def positions(self, groups: tuple[Group, ...], device: torch.device) -> Tensor:
        """(T,) the position of each token, counted anew in each text."""
        runs = [torch.arange(group.length, device=device).repeat(group.texts) for group in groups]
        return torch.cat(runs) + self.facts.first_position
