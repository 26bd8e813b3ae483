"""The types of losses, and checks of their inputs. Works on shapes only."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

from torch import Tensor

from sbert.errors import BadInput

Inputs = Sequence[Tensor]
"""One tensor per text column, or for losses of scores one tensor per pair of texts."""
Labels = Tensor | None
Loss = Callable[[Inputs, Labels], Tensor]
"""Maps one (B, D) tensor per text column, and the labels or None, to a scalar."""
Distance = Literal["euclidean", "manhattan", "cosine"]
"""The cosine distance is 1 - cos."""

_WORDS = {1: "one", 2: "two", 3: "three"}


def columns(loss: str, embeddings: Inputs, least: int, most: int | None) -> Inputs:
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


def poly_columns(loss: str, embeddings: Inputs) -> Inputs:
    """Return the columns of a poly-encoder: codes of queries (B, M, H), and vectors (B, H) of documents."""
    shapes = [tuple(column.shape) for column in embeddings]
    queries, documents = shapes[:1], set(shapes[1:])
    if not documents or len(queries[0]) != 3 or documents != {(queries[0][0], queries[0][2])}:
        listed = ", ".join(map(str, shapes)) or "none"
        raise BadInput(
            f"{loss} got columns of shape {listed}, but reads codes (B, M, H) and one or more columns of vectors "
            "(B, H); train a poly-encoder with a query and one or more documents a row"
        )
    return embeddings


def labelled_pair(loss: str, embeddings: Inputs, labels: Labels) -> tuple[Tensor, Tensor, Tensor]:
    """Return two text columns (B, D) and one label for each row (B,)."""
    u, v = columns(loss, embeddings, 2, 2)
    return u, v, row_labels(loss, labels, len(u))


def row_labels(loss: str, labels: Labels, rows: int) -> Tensor:
    """Flatten labels, (B,) or (B, 1) -> (B,), so that nothing is broadcast by accident."""
    labels = given(loss, labels)
    if labels.numel() != rows:
        raise BadInput(f"{loss} got labels of shape {tuple(labels.shape)} for {rows} rows, but needs one label a row")
    return labels.reshape(-1)


def targets(loss: str, labels: Labels, outputs: Tensor, what: str = "labels") -> Tensor:
    """Return labels of the shape of ``outputs``, to which no gradient flows."""
    labels = given(loss, labels)
    if labels.shape != outputs.shape:
        got, needed = tuple(labels.shape), tuple(outputs.shape)
        raise BadInput(f"{loss} got {what} of shape {got}, but needs {needed}, that of the model's output")
    return labels.detach().to(outputs)


def given(loss: str, labels: Labels) -> Tensor:
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
