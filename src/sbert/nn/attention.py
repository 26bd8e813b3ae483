"""Attention over texts that lie end to end in one row. Knows tensors only.

Nothing is padded: texts of equal length form one plain ``(texts, heads, length, size)`` attention. Masked is only
what lies outside of a window, or behind a text that is read on. A text's result then depends on the text alone, to the
bit, whatever else is in the batch.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.types import Group

LANES = 16 if torch.backends.cpu.get_cpu_capability() == "AVX512" else 8
"""The CPU's kernel takes so many exponentials at once, and those left over one by one."""
SPARE = LANES - 1
"""With so many rows behind the last text, every text's keys can be read on to a multiple of LANES."""


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    groups: Sequence[Group],
    *,
    asking: Sequence[Group] | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
    window: int | None = None,
) -> Tensor:
    """Attend within each text, (T, heads, size) -> (T, heads, size).

    Args:
        query: what each token asks for; ``key`` and ``value`` are what the tokens of its text answer.
        key: (T, heads, size), or (T + SPARE, heads, size), which is faster on a CPU where no gradient is wanted: each
            text is then read on to a multiple of LANES, and what is not its own gets a weight of exactly zero.
        value: the same. All must be finite where texts are read on: zero times NaN is none.
        groups: how the T tokens divide into texts.
        asking: how the queries do, where not every token has one.
        scale: of the dot products; one over the root of the size unless given.
        dropout: share of the attention weights to drop, in training.
        window: tokens this far apart, or further, do not see each other; texts are then never read on.
    """
    tokens = sum(group.texts * group.length for group in groups)
    if window is not None:
        key, value = key[:tokens], value[:tokens]
    read = texts if len(key) == tokens else _on
    pieces = []
    asked = (texts(query, asking or groups), read(key, groups), read(value, groups))
    for group, *parts in zip(groups, *asked, strict=True):
        q, k, v = (part.transpose(1, 2) for part in parts)  # (n, heads, L, size) each
        mask = _own(group.length, k) if k.shape[2] > group.length else _band(group.length, window, k.device)
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout, scale=scale)
        pieces.append(attended.transpose(1, 2).flatten(0, 1))
    return pieces[0] if len(pieces) == 1 else torch.cat(pieces)


def texts(rows: Tensor, groups: Sequence[Group]) -> list[Tensor]:
    """(T, ...) -> for each group (n, L, ...)."""
    # Split once: the gradient of many slices would be as many tensors of the whole size.
    pieces = rows.split([group.texts * group.length for group in groups])
    return [piece.unflatten(0, group) for piece, group in zip(pieces, groups, strict=True)]


def _on(rows: Tensor, groups: Sequence[Group]) -> list[Tensor]:
    """(T + SPARE, ...) -> for each group (n, L rounded up, ...): a text, and behind it rows of the next one."""
    pieces = []
    start = 0
    for texts, length in groups:
        rounded = length + -length % LANES
        last = start + (texts - 1) * length
        pieces.append(rows[start : last + rounded].unfold(0, rounded, length).movedim(-1, 1))
        start = last + length
    return pieces


def _own(length: int, keys: Tensor) -> Tensor:
    """(1, L rounded up), to be added to the products: only a text's own keys count."""
    mask = keys.new_zeros(1, keys.shape[2])
    mask[:, length:] = -torch.inf
    return mask


def _band(length: int, window: int | None, device: torch.device) -> Tensor | None:
    """Which positions see each other in a layer with a local window; None where the window covers the text."""
    if window is None or length <= window:
        return None
    position = torch.arange(length, device=device)
    return (position[:, None] - position[None, :]).abs() < window
