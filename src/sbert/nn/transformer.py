"""Defines the interface of a transformer, from a batch without padding to hidden states. Works on tensors only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from sbert.nn.pooling import pool
from sbert.nn.stable import WHOLE_ROWS, aligned_rows, pad, repeats
from sbert.types import Batch, Group


@dataclass(frozen=True, slots=True)
class Facts:
    """The properties of a transformer that other modules need."""

    architecture: str
    hidden_size: int
    depth: int
    vocabulary_size: int
    max_length: int
    """Number of tokens of the longest text it can process."""
    first_position: int = 0
    """The id of the first position of a text. RoBERTa and its relatives begin after the id of the padding."""
    segments: int = 0
    pad_token_id: int | None = None


class Transformer(nn.Module):
    """Maps the tokens of several texts, laid end to end, to the hidden states of the last layer."""

    facts: Facts
    packed: bool
    """Whether texts of different lengths are processed together. Otherwise only texts of equal length are."""

    def forward(self, batch: Batch) -> Tensor:
        """Compute the hidden states of the last layer, (T, H), in the order of the batch."""
        return self.hidden(*self._inputs(batch))[: len(batch.input_ids)]

    def first(self, batch: Batch) -> Tensor:
        """Compute the last hidden state of the first token of each text, (B, H)."""
        return self.first_hidden(*self._inputs(batch))[: len(batch.lengths)]

    def _inputs(self, batch: Batch) -> tuple[Tensor, tuple[Group, ...], Tensor | None]:
        """Return the arguments of :meth:`hidden`: the batch, repeated until it has enough tokens to be stable.

        Texts of one token follow if the rows of a layer do not fill whole vectors.
        """
        device = next(self.parameters()).device
        copies = repeats(len(batch.input_ids))
        ids = torch.from_numpy(batch.input_ids).to(device)  # (T,)
        types = None
        if batch.token_types is not None and self.facts.segments > 1:
            types = torch.from_numpy(batch.token_types).to(device).repeat(copies)
        ids, groups = ids.repeat(copies), batch.groups * copies
        if self.packed and self.has_odd_widths and (spare := aligned_rows(len(ids)) - len(ids)):
            ids, groups = pad(ids, len(ids) + spare), (*groups, Group(spare, 1))
            types = None if types is None else pad(types, len(ids))
        return ids, groups, types

    @cached_property
    def has_odd_widths(self) -> bool:
        """Whether the result of some layer has rows that do not fill whole vectors."""
        return any(layer.out_features % WHOLE_ROWS for layer in self.modules() if isinstance(layer, nn.Linear))

    def hidden(self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None = None) -> Tensor:
        """Compute the hidden states of all tokens: (T,) -> (T, H).

        Args:
            ids: Token ids of all texts, end to end.
            groups: How the tokens divide into texts.
            types: The segment of each token, for pairs of texts.
        """
        raise NotImplementedError

    def first_hidden(self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None = None) -> Tensor:
        """Compute the hidden state of the first token of each text: (T,) -> (B, H)."""
        return pool(self.hidden(ids, groups, types), groups, ["cls"])

    def positions(self, groups: tuple[Group, ...], device: torch.device) -> Tensor:
        """Return the position of each token within its text, (T,)."""
        runs = [torch.arange(group.length, device=device).repeat(group.texts) for group in groups]
        return torch.cat(runs) + self.facts.first_position
