"""Defines the modules that may follow pooling, from (B, D) to (B, D'). Works on tensors only."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from sbert.errors import BadInput, check_option
from sbert.nn.stable import aligned_rows, linear, pad

ACTIVATIONS: dict[str, type[nn.Module]] = {
    "identity": nn.Identity,
    "tanh": nn.Tanh,
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "silu": nn.SiLU,
    "sigmoid": nn.Sigmoid,
    "elu": nn.ELU,
    "leaky_relu": nn.LeakyReLU,
}


class Dense(nn.Module):
    """A linear layer and its activation.

    >>> Dense(384, 128, activation="identity")(torch.zeros(2, 384)).shape
    torch.Size([2, 128])
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, activation: str = "tanh") -> None:
        super().__init__()
        check_option("activation", activation, ACTIVATIONS)
        self.activation = activation
        self.linear = nn.Linear(in_features, out_features, bias=bias)
        self.function = ACTIVATIONS[activation]()

    def forward(self, x: Tensor) -> Tensor:
        """(B, in) -> (B, out)."""
        result: Tensor = self.function(linear(x, self.linear.weight, self.linear.bias))
        return result


class LayerNorm(nn.Module):
    """Layer normalisation with a learned scale and shift."""

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(dimension)

    def forward(self, x: Tensor) -> Tensor:
        """(B, D) -> (B, D)."""
        result: Tensor = self.norm(x)
        return result


class Dropout(nn.Dropout):
    """Dropout after pooling, active in training only."""


class Normalize(nn.Module):
    """Scales every vector to unit length."""

    def forward(self, x: Tensor) -> Tensor:
        """(B, D) -> (B, D)."""
        return nn.functional.normalize(x, p=2, dim=-1)


def apply(heads: Iterable[nn.Module], x: Tensor) -> Tensor:
    """Apply ``heads`` one after another: (B, D) -> (B, D'). Without gradients, a vector depends on its row only."""
    rows = len(x)
    if not torch.is_grad_enabled():
        x = pad(x, aligned_rows(rows))
    for head in heads:
        x = head(x)
    return x[:rows]


def check_sizes(heads: Iterable[nn.Module], size: int) -> None:
    """Raise BadInput unless each head accepts the size of its input, which is ``size`` for the first.

    >>> check_sizes([Dense(384, 128), LayerNorm(384)], 384)
    Traceback (most recent call last):
    sbert.errors.BadInput: LayerNorm expects 384 dimensions, but its input has 128; change one of the two sizes
    """
    for head in heads:
        taken = input_size(head)
        if taken not in (None, size):
            name = type(head).__name__
            raise BadInput(f"{name} expects {taken} dimensions, but its input has {size}; change one of the two sizes")
        size = output_size([head], size)


def input_size(head: nn.Module) -> int | None:
    """Return the size of the vectors that a head expects, or None if it accepts any size."""
    if isinstance(head, Dense):
        return head.linear.in_features
    return head.norm.normalized_shape[0] if isinstance(head, LayerNorm) else None


def output_size(heads: Iterable[nn.Module], size: int) -> int:
    """Return the size of a vector of ``size`` dimensions after ``heads``."""
    for head in heads:
        if isinstance(head, Dense):
            size = head.linear.out_features
    return size
