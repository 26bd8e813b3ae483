"""Computes the gradients of one batch: tokenize, forward, loss, backward. Knows a model by four methods only.

All columns pass through the network at once, without padding, and a text that occurs twice in a column only once. If a
batch is too large for the memory, its vectors are computed first without a graph; the loss gives each vector its
gradient; then the parts of the batch are computed again, with the same dropout, to propagate those gradients to the
weights (gradient caching). This works for every loss, because a loss sees vectors only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from sbert.losses import Loss
from sbert.text import Tokens, batches, lay
from sbert.train.config import TrainPrecision
from sbert.train.distributed import Team
from sbert.types import Batch, IntArray

_HALF = {"bf16": torch.bfloat16, "fp16": torch.float16}
_NO_LIMIT = 1 << 62
Item = TypeVar("Item")


class Trainable(Protocol):
    """The methods that a model must have to be trained."""

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        ...

    def items(self, columns: Sequence[Sequence[str]]) -> Sequence[Sequence[Any]]:
        """Convert columns of texts to columns of model inputs: texts, or pairs of texts."""
        ...

    def tokenize(self, items: Sequence[Any], /) -> Tokens:
        """Convert model inputs to token ids."""
        ...

    def __call__(self, batch: Batch) -> Tensor:
        """Compute the vectors, codes or scores of a batch, (B, ...), from its token ids, (T,)."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one batch."""

    loss: float
    tokens: int
    """Number of tokens computed by all processes together."""
    padded: int
    """Number of tokens if every column were padded to its longest text."""
    truncated: int
    """Number of texts that were truncated to the maximum length of the model."""


@dataclass(frozen=True, slots=True)
class Step:
    """Adds the gradients of batches to the weights of a model."""

    model: Trainable
    team: Team
    precision: TrainPrecision
    mini_batch_tokens: int | None
    """Number of tokens whose graph is kept in memory at once; None keeps that of the whole batch."""
    scaler: torch.amp.GradScaler
    """Prevents the underflow of fp16 gradients; does nothing if it is disabled."""

    def __call__(
        self, loss: Loss, columns: Sequence[Sequence[str]], labels: Tensor | None, seed: Sequence[int], share: float
    ) -> Outcome:
        """Add ``share`` times the gradient of the loss of one batch.

        Args:
            loss: The loss of the vectors of all columns.
            columns: The texts of each column, B each.
            labels: (B,) or (B, k).
            seed: Random seed of this batch.
            share: One over the number of batches in a step.
        """
        items, positions = _unique_items(self.model.items(columns))
        tokens = self.model.tokenize(items)
        shares = self.team.shares(tokens.lengths)
        parts = list(batches(_take(tokens, shares[self.team.rank]), self.mini_batch_tokens or _NO_LIMIT))

        def embed(part: int) -> Tensor:
            with self._seeded([*seed, self.team.rank, part]), self._autocast():
                return self.model(parts[part][1]).float()

        def compute_loss(vectors: Tensor) -> Tensor:
            gathered = self.team.gather(vectors, shares)  # (N, D)
            with self._seeded(seed):
                return loss([gathered[position] for position in positions], labels)

        value = self._backward(embed, compute_loss, [rows for rows, _ in parts], share)
        padded = sum(len(position) * int(tokens.lengths[position.numpy()].max()) for position in positions)
        return Outcome(value, int(tokens.lengths.sum()), padded, tokens.truncation.truncated)

    def _backward(
        self,
        embed: Callable[[int], Tensor],
        compute_loss: Callable[[Tensor], Tensor],
        rows: list[IntArray],
        share: float,
    ) -> float:
        if len(rows) == 1:
            value = compute_loss(_in_row_order(embed(0), rows))
            self.scaler.scale(value * share).backward()
            return value.item()
        with torch.no_grad():
            vectors = torch.cat([embed(part) for part in range(len(rows))])
        vectors.requires_grad_()
        value = compute_loss(_in_row_order(vectors, rows))
        self.scaler.scale(value * share).backward()
        assert vectors.grad is not None
        for part, gradient in enumerate(vectors.grad.split([len(part) for part in rows])):
            embed(part).backward(gradient)
        return value.item()

    def _autocast(self) -> torch.autocast:
        half = _HALF.get(self.precision)
        return torch.autocast(self.model.device.type, dtype=half or torch.bfloat16, enabled=half is not None)

    @contextmanager
    def _seeded(self, seed: Sequence[int]) -> Iterator[None]:
        """Within this context, all random numbers of torch follow from ``seed``; afterwards its state is as before."""
        device = self.model.device
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]))
            yield


def _unique_items(columns: Sequence[Sequence[Item]]) -> tuple[list[Item], list[Tensor]]:
    """The different inputs of each column, and for each column the position of every row's input among them.

    Equal texts in two columns of a row are kept apart: with dropout their vectors differ, and some losses rely on this
    difference.

    >>> texts, positions = _unique_items([["비", "눈", "비"], ["비", "해", "달"]])
    >>> texts, [position.tolist() for position in positions]
    (['비', '눈', '비', '해', '달'], [[0, 1, 0], [2, 3, 4]])
    """
    items: list[Item] = []
    positions: list[Tensor] = []
    for column in columns:
        numbers = {item: number for number, item in enumerate(dict.fromkeys(column), len(items))}
        positions.append(torch.tensor([numbers[item] for item in column]))
        items += numbers
    return items, positions


def _take(tokens: Tokens, rows: IntArray) -> Tokens:
    """The given rows of ``tokens``."""
    ends = np.cumsum(tokens.lengths)
    lengths = tokens.lengths[rows]
    ids = lay(tokens.ids, ends[rows], lengths)
    types = None if tokens.types is None else lay(tokens.types, ends[rows], lengths)
    roles = None if tokens.roles is None else tuple(tokens.roles[row] for row in rows)
    return Tokens(ids, lengths, rows, tokens.truncation, tokens.prompt_length, types, roles)


def _in_row_order(vectors: Tensor, rows: list[IntArray]) -> Tensor:
    """Undo the sorting of batches by length."""
    return vectors[torch.from_numpy(np.argsort(np.concatenate(rows))).to(vectors.device)]
