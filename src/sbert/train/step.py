"""The gradients of one batch: tokenize, forward, loss, backward. Knows a model by these names only.

All columns go through the network in one packed pass, a text that stands twice in a column only once. Where a batch
is too large for memory, the vectors are computed first without their graph, the loss gives each vector its gradient,
and part after part is computed again, with the same dropout, to carry that gradient into the weights. This serves
every loss, since a loss sees vectors only.
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
    """What a model offers to be trained."""

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        ...

    def items(self, columns: Sequence[Sequence[str]]) -> Sequence[Sequence[Any]]:
        """Columns of texts -> columns of what goes through the network: texts, or pairs of them."""
        ...

    def tokenize(self, items: Sequence[Any], /) -> Tokens:
        """Items -> token ids."""
        ...

    def __call__(self, batch: Batch) -> Tensor:
        """(T,) token ids -> (B, ...): vectors, codes, or the scores of pairs, in the order of the batch."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one batch gave and cost."""

    loss: float
    tokens: int
    """Computed by all processes together."""
    padded: int
    """What would have been computed, were every column padded to its longest text."""
    truncated: int
    """Texts that were cut at the model's maximum length."""


@dataclass(frozen=True, slots=True)
class Step:
    """Adds the gradients of batches to a model's weights."""

    model: Trainable
    team: Team
    precision: TrainPrecision
    mini_batch_tokens: int | None
    """Tokens whose graph is held in memory at once; all of a batch unless given."""
    scaler: torch.amp.GradScaler
    """Keeps fp16 gradients from vanishing; does nothing unless enabled."""

    def __call__(
        self, loss: Loss, columns: Sequence[Sequence[str]], labels: Tensor | None, seed: Sequence[int], share: float
    ) -> Outcome:
        """Add ``share`` times the gradient of one batch's loss.

        Args:
            loss: of the vectors of all columns.
            columns: the texts of each column, B each.
            labels: (B,) or (B, k).
            seed: numbers that belong to this batch alone; all its randomness comes from them.
            share: one over the number of batches that make a step.
        """
        items, places = _each_once(self.model.items(columns))
        tokens = self.model.tokenize(items)
        shares = self.team.shares(tokens.lengths)
        parts = list(batches(_take(tokens, shares[self.team.rank]), self.mini_batch_tokens or _NO_LIMIT))

        def embed(part: int) -> Tensor:
            with self._randomness([*seed, self.team.rank, part]), self._autocast():
                return self.model(parts[part][1]).float()

        def loss_of(vectors: Tensor) -> Tensor:
            everybody = self.team.gather(vectors, shares)  # (N, D)
            with self._randomness(seed):
                return loss([everybody[place] for place in places], labels)

        value = self._backward(embed, loss_of, [rows for rows, _ in parts], share)
        padded = _padded(tokens.lengths, places)
        return Outcome(value, int(tokens.lengths.sum()), padded, tokens.truncation.truncated)

    def _backward(
        self, embed: Callable[[int], Tensor], loss_of: Callable[[Tensor], Tensor], rows: list[IntArray], share: float
    ) -> float:
        if len(rows) == 1:
            vectors = embed(0)
            value = loss_of(_in_order(vectors, rows))
            self.scaler.scale(value * share).backward()
            return value.item()
        with torch.no_grad():
            vectors = torch.cat([embed(part) for part in range(len(rows))])
        vectors.requires_grad_()
        value = loss_of(_in_order(vectors, rows))
        self.scaler.scale(value * share).backward()
        assert vectors.grad is not None
        for part, gradient in enumerate(vectors.grad.split([len(part) for part in rows])):
            embed(part).backward(gradient)
        return value.item()

    def _autocast(self) -> torch.autocast:
        half = _HALF.get(self.precision)
        return torch.autocast(self.model.device.type, dtype=half or torch.bfloat16, enabled=half is not None)

    @contextmanager
    def _randomness(self, seed: Sequence[int]) -> Iterator[None]:
        """Within, all of torch's randomness follows from ``seed``: nothing to save, and exact to replay."""
        device = self.model.device
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]))
            yield


def _each_once(columns: Sequence[Sequence[Item]]) -> tuple[list[Item], list[Tensor]]:
    """The texts or pairs of all columns, each once a column, and where each row of each column finds its own.

    Equal texts in two columns of one row stay two: with dropout their vectors differ, and there are losses that live
    on this difference.

    >>> texts, places = _each_once([["비", "눈", "비"], ["비", "해", "달"]])
    >>> texts, [place.tolist() for place in places]
    (['비', '눈', '비', '해', '달'], [[0, 1, 0], [2, 3, 4]])
    """
    items: list[Item] = []
    places: list[Tensor] = []
    for column in columns:
        numbers = {item: number for number, item in enumerate(dict.fromkeys(column), len(items))}
        places.append(torch.tensor([numbers[item] for item in column]))
        items += numbers
    return items, places


def _take(tokens: Tokens, rows: IntArray) -> Tokens:
    """The given rows of ``tokens``."""
    ends = np.cumsum(tokens.lengths)
    lengths = tokens.lengths[rows]
    ids = lay(tokens.ids, ends[rows], lengths)
    types = None if tokens.types is None else lay(tokens.types, ends[rows], lengths)
    roles = None if tokens.roles is None else tuple(tokens.roles[row] for row in rows)
    return Tokens(ids, lengths, rows, tokens.truncation, tokens.prompt_length, types, roles)


def _in_order(vectors: Tensor, rows: list[IntArray]) -> Tensor:
    """Batches are sorted by length; undo it."""
    return vectors[torch.from_numpy(np.argsort(np.concatenate(rows))).to(vectors.device)]


def _padded(lengths: IntArray, places: list[Tensor]) -> int:
    return sum(len(place) * int(lengths[place.numpy()].max()) for place in places)
