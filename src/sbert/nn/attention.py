"""Computes attention within each text of a batch without padding. Works on tensors only.

Texts of equal length form one plain ``(texts, heads, length, size)`` attention. A mask is needed for a local window
and for keys that are over-read (see :mod:`sbert.nn.stable`), never for padding.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.nn.stable import over_read, own_keys_mask
from sbert.types import Group


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    groups: Sequence[Group],
    *,
    query_groups: Sequence[Group] | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
    window: int | None = None,
) -> Tensor:
    """Attend within each text: (T, heads, size) -> (T, heads, size).

    Args:
        query: (T, heads, size).
        key: (T, heads, size), or (T + SPARE_ROWS, heads, size) to over-read keys, which is faster on a CPU and must
            not be used if gradients are needed.
        value: Same shape as ``key``.
        groups: How the T tokens divide into texts.
        query_groups: How the queries divide into texts. Defaults to ``groups``.
        scale: Factor of the dot products. Defaults to one over the square root of ``size``.
        dropout: Share of the attention weights to drop, in training.
        window: Distance from which tokens no longer attend to each other. If it is given, keys are not over-read.
    """
    tokens = sum(group.texts * group.length for group in groups)
    if window is not None:
        key, value = key[:tokens], value[:tokens]
    view = by_text if len(key) == tokens else over_read
    pieces = []
    views = (by_text(query, query_groups or groups), view(key, groups), view(value, groups))
    for group, *parts in zip(groups, *views, strict=True):
        q, k, v = (part.transpose(1, 2) for part in parts)  # (n, heads, L, size) each
        over = k.shape[2] > group.length
        mask = own_keys_mask(group.length, k) if over else _window_mask(group.length, window, k.device)
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout, scale=scale)
        pieces.append(attended.transpose(1, 2).flatten(0, 1))
    return pieces[0] if len(pieces) == 1 else torch.cat(pieces)


def by_text(rows: Tensor, groups: Sequence[Group]) -> list[Tensor]:
    """View rows text by text: (T, ...) -> (n, L, ...) per group."""
    # One split for all groups: the gradient of separate slices would be one tensor of the whole size per slice.
    pieces = rows.split([group.texts * group.length for group in groups])
    return [piece.unflatten(0, group) for piece, group in zip(pieces, groups, strict=True)]


def _window_mask(length: int, window: int | None, device: torch.device) -> Tensor | None:
    """Return which positions attend to each other, (L, L), or None if the window covers the text."""
    if window is None or length <= window:
        return None
    position = torch.arange(length, device=device)
    return (position[:, None] - position[None, :]).abs() < window
