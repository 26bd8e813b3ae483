"""Attention over texts that lie end to end in one row. Knows tensors only.

Nothing is padded and nothing masked: texts of equal length form one plain ``(texts, heads, length, size)``
attention. A text's result then depends on the text alone, to the bit, whatever else is in the batch.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.types import Group


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
        key: (T, heads, size).
        value: (T, heads, size).
        groups: how the T tokens divide into texts.
        asking: how the queries do, where not every token has one.
        scale: of the dot products; one over the root of the size unless given.
        dropout: share of the attention weights to drop, in training.
        window: tokens further apart than this do not see each other.
    """
    pieces = []
    asked = (texts(query, groups if asking is None else asking), texts(key, groups), texts(value, groups))
    for parts in zip(*asked, strict=True):
        q, k, v = (part.transpose(1, 2) for part in parts)  # (n, heads, L, size) each
        mask = _band(k.shape[2], window, query.device)
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout, scale=scale)
        pieces.append(attended.transpose(1, 2).flatten(0, 1))
    return pieces[0] if len(pieces) == 1 else torch.cat(pieces)


def texts(rows: Tensor, groups: Sequence[Group]) -> list[Tensor]:
    """(T, ...) -> for each group (n, L, ...)."""
    # Split once: the gradient of many slices would be as many tensors of the whole size.
    pieces = rows.split([group.texts * group.length for group in groups])
    return [piece.unflatten(0, group) for piece, group in zip(pieces, groups, strict=True)]


def _band(length: int, window: int | None, device: torch.device) -> Tensor | None:
    """Which positions see each other in a layer with a local window; None where the window covers the text."""
    if window is None or length <= window:
        return None
    position = torch.arange(length, device=device)
    return (position[:, None] - position[None, :]).abs() < window
