"""Attention over texts that lie end to end in one row. Knows tensors only.

Nothing is padded and nothing masked: texts of equal length form one plain ``(texts, heads, length, size)``
attention. A text's result then depends on the text alone, to the bit, whatever else is in the batch.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import AttentionInterface

from sbert.types import Group

PACKED = "sbert_packed"


def register() -> None:
    """Make ``attn_implementation=PACKED`` known to transformers."""
    AttentionInterface.register(PACKED, packed_attention)


def packed_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    groups: Sequence[Group] = (),
    **unused: object,
) -> tuple[Tensor, None]:
    """Attend within each text. ``query``, ``key``, ``value`` are (1, heads, T, size); returns (1, T, heads, size)."""
    pieces = []
    start = 0
    for group in groups:
        stop = start + group.texts * group.length
        mask = _band(group.length, sliding_window, query.device)
        q, k, v = (_texts(x, start, stop, group) for x in (query, key, value))
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout, scale=scaling)
        pieces.append(attended.transpose(1, 2).flatten(0, 1))  # (texts * length, heads, size)
        start = stop
    return (pieces[0] if len(pieces) == 1 else torch.cat(pieces)).unsqueeze(0), None


def _texts(x: Tensor, start: int, stop: int, group: Group) -> Tensor:
    """(1, heads, T, size) -> (texts, heads, length, size), without a copy."""
    _, heads, _, size = x.shape
    return x[0].transpose(0, 1)[start:stop].view(group.texts, group.length, heads, size).transpose(1, 2)


def _band(length: int, sliding_window: int | None, device: torch.device) -> Tensor | None:
    """Which positions see each other in a layer with a local window; None where the window covers the text."""
    if sliding_window is None or length <= sliding_window:
        return None
    position = torch.arange(length, device=device)
    return (position[:, None] - position[None, :]).abs() < sliding_window
