"""Checks the inputs of losses. Works on shapes only."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch import Tensor

from sbert.errors import BadInput

_WORDS = {1: "one", 2: "two", 3: "three"}


def columns(loss: str, embeddings: Sequence[Tensor], least: int, most: int | None) -> Sequence[Tensor]:
    """Return the text columns if ``loss`` can read that many and all have the same shape (B, D)."""
    if len(embeddings) < least or (most is not None and len(embeddings) > most):
        raise BadInput(
            f"{loss} got {count(len(embeddings))}, but reads {count(least, most)}; pass one tensor for each"
        )
    shapes = [tuple(column.shape) for column in embeddings]
    if len(set(shapes)) > 1 or len(shapes[0]) != 2 or 0 in shapes[0]:
        listed = ", ".join(map(str, shapes))
        raise BadInput(
            f"{loss} got columns of shape {listed}, but all must have one shape (B, D) with B and D above 0"
        )
    return embeddings


def row_labels(loss: str, labels: Tensor | None, rows: int) -> Tensor:
    """Flatten labels, (B,) or (B, 1) -> (B,), so that nothing is broadcast by accident."""
    labels = given(loss, labels)
    if labels.numel() != rows:
        raise BadInput(f"{loss} got labels of shape {tuple(labels.shape)} for {rows} rows, but needs one label a row")
    return labels.reshape(-1)


def given(loss: str, labels: Tensor | None) -> Tensor:
    """Return the labels, or raise BadInput if there are none."""
    if labels is None:
        raise BadInput(f"{loss} got no labels, but learns from them; pass labels, or choose a loss that needs none")
    return labels


def above_zero(name: str, value: float) -> None:
    """Raise BadInput unless ``value``, a scale or a temperature, is finite and above 0."""
    if not 0 < value < math.inf:
        raise BadInput(f"{name} is {value}, but must be a finite number above 0")


def count(least: int, most: int | None = 0) -> str:
    """Describe a number of text columns in words; ``most=None`` means ``least`` or more.

    >>> count(2), count(1, None), count(12)
    ('two text columns', 'one or more text columns', '12 text columns')
    """
    more = " or more" if most is None else ""
    return f"{_WORDS.get(least, least)}{more} text column{'' if least == 1 and most is not None else 's'}"
