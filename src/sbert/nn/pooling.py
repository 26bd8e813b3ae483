"""Pools hidden states into one vector per text. Works on tensors only."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from sbert.errors import BadInput, check_option
from sbert.types import Group, Pooling

# Several poolings are concatenated in this order unless a model folder names another.
POOLINGS: tuple[Pooling, ...] = ("cls", "max", "mean", "mean_sqrt_len", "weightedmean", "lasttoken")


def as_poolings(pooling: Pooling | Sequence[Pooling]) -> tuple[Pooling, ...]:
    """Return one or several poolings as a tuple, after checking that each exists.

    >>> as_poolings("mean")
    ('mean',)
    """
    modes: tuple[Pooling, ...] = (pooling,) if isinstance(pooling, str) else tuple(pooling)
    if not modes:
        raise BadInput(f"pooling is empty, but a text needs a vector; name one or several of {', '.join(POOLINGS)}")
    for mode in modes:
        check_option("pooling", mode, POOLINGS)
    return modes


def pool(hidden: Tensor, groups: Sequence[Group], modes: Sequence[Pooling], skip: int = 0) -> Tensor:
    """Pool each text, without its first ``skip`` tokens: (T, H) -> (B, len(modes) * H).

    >>> hidden = torch.tensor([[1.0], [3.0], [8.0]])  # a text of two tokens, a text of one
    >>> pool(hidden, [Group(1, 2), Group(1, 1)], ["mean", "max"])
    tensor([[2., 3.],
            [8., 8.]])
    """
    pooled = []
    start = 0
    for group in groups:
        stop = start + group.texts * group.length
        texts = hidden[start:stop].view(group.texts, group.length, -1)
        first = min(skip, group.length - 1)  # A prompt that fills the maximum length still leaves its last token.
        pooled.append(torch.cat([_POOL[mode](texts, first) for mode in modes], dim=-1))
        start = stop
    return torch.cat(pooled)


def _mean(texts: Tensor, first: int) -> Tensor:
    return texts[:, first:].sum(dim=1) / (texts.shape[1] - first)


def _mean_sqrt_len(texts: Tensor, first: int) -> Tensor:
    return texts[:, first:].sum(dim=1) / math.sqrt(texts.shape[1] - first)


def _weighted_mean(texts: Tensor, first: int) -> Tensor:
    """Average the tokens with weights 1, 2, 3, ..., so that later tokens count more."""
    weights = torch.arange(first + 1, texts.shape[1] + 1, device=texts.device, dtype=texts.dtype)
    return (texts[:, first:] * weights[:, None]).sum(dim=1) / weights.sum()


def _max(texts: Tensor, first: int) -> Tensor:
    return texts[:, first:].amax(dim=1)


def _cls(texts: Tensor, first: int) -> Tensor:
    return texts[:, first]


def _last(texts: Tensor, first: int) -> Tensor:
    return texts[:, -1]


_POOL: dict[Pooling, Callable[[Tensor, int], Tensor]] = {
    "mean": _mean,
    "max": _max,
    "cls": _cls,
    "mean_sqrt_len": _mean_sqrt_len,
    "weightedmean": _weighted_mean,
    "lasttoken": _last,
}
