"""Computes the gradients of one batch: tokenize, forward, loss, backward. Uses four methods of a model.

All columns that one network reads pass through it at once, without padding, and a text that occurs twice in a column
only once. If a batch is too large for the memory, its vectors are computed first without a graph; the loss gives each
vector its gradient; then the parts of the batch are computed again, with the same dropout, to propagate those
gradients to the weights (gradient caching). This works for every loss, because a loss sees vectors only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from sbert.losses import Loss
from sbert.models.model import TextModel
from sbert.text import Tokens, batches
from sbert.train.config import TrainPrecision
from sbert.train.distributed import Team
from sbert.types import Batch, IntArray

_HALF = {"bf16": torch.bfloat16, "fp16": torch.float16}
_NO_LIMIT = 1 << 53
Item = TypeVar("Item")
Reader = Callable[[Batch], Tensor]
"""Computes the vectors, codes or scores of a batch, (B, ...), from its token ids, (T,)."""
_Part = tuple[Reader, Batch]


class Outcome(NamedTuple):
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

    model: TextModel
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
        items = self.model.items(columns)
        sides = [
            self._side(read, [items[number] for number in numbers])
            for read, numbers in groupby(range(len(items)), self.model.reader)
        ]

        def compute_loss(results: Sequence[Tensor]) -> Tensor:
            remaining = iter(results)
            vectors: list[Tensor] = []
            for side in sides:
                # A share begins with its longest rows, and so do batches: the parts are in the order of the share.
                own = torch.cat(list(islice(remaining, len(side.parts))))
                gathered = self.team.gather(own, side.shares)  # (N, ...)
                vectors += [gathered[position] for position in side.positions]
            with self._seeded(seed):
                return loss(vectors, labels)

        value = self._backward([part for side in sides for part in side.parts], compute_loss, len(sides), seed, share)
        padded = [
            len(position) * int(side.tokens.lengths[position.numpy()].max())
            for side in sides
            for position in side.positions
        ]
        tokens = sum(int(side.tokens.lengths.sum()) for side in sides)
        truncated = sum(side.tokens.truncation.truncated for side in sides)
        return Outcome(value, tokens, sum(padded), truncated)

    def _side(self, read: Reader, columns: Sequence[Sequence[Any]]) -> _Side:
        items, positions = _unique_items(columns)
        tokens = self.model.tokenize(items)
        shares = self.team.shares(tokens.lengths)
        parts = batches(tokens, self.mini_batch_tokens or _NO_LIMIT, among=shares[self.team.rank])
        return _Side(tokens, positions, shares, [(read, batch) for _, batch in parts])

    def _backward(
        self,
        parts: Sequence[_Part],
        compute_loss: Callable[[Sequence[Tensor]], Tensor],
        sides: int,
        seed: Sequence[int],
        share: float,
    ) -> float:
        seeds = [[*seed, self.team.rank, number] for number in range(len(parts))]
        if len(parts) == sides:
            value = compute_loss(self._read(parts, seeds[0]))
            self.scaler.scale(value * share).backward()
            return value.item()
        with torch.no_grad():
            results = [self._read([part], seeds[number])[0] for number, part in enumerate(parts)]
        value = compute_loss([result.requires_grad_() for result in results])
        self.scaler.scale(value * share).backward()
        for number, part in enumerate(parts):
            self._read([part], seeds[number])[0].backward(results[number].grad)
        return value.item()

    def _read(self, parts: Sequence[_Part], seed: Sequence[int]) -> list[Tensor]:
        half = _HALF.get(self.precision)
        autocast = torch.autocast(self.model.device.type, dtype=half or torch.bfloat16, enabled=half is not None)
        with self._seeded(seed), autocast:
            return [read(batch).float() for read, batch in parts]

    @contextmanager
    def _seeded(self, seed: Sequence[int]) -> Iterator[None]:
        """Within this context, all random numbers of torch follow from ``seed``; afterwards its state is as before."""
        device = self.model.device
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]))
            yield


class _Side(NamedTuple):
    """The columns of a batch that one network reads."""

    tokens: Tokens
    positions: list[Tensor]
    """For each column, the row of ``tokens`` that holds the input of every row."""
    shares: list[IntArray]
    """For each process, the rows of ``tokens`` that it computes."""
    parts: list[_Part]
    """The rows of this process in one or several batches."""


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
