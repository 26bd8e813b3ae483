"""Compares vectors. Higher is always more similar. Works on tensors only."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.errors import BadInput, check_option
from sbert.types import Similarity


def all_pairs(a: Tensor, b: Tensor, similarity: Similarity = "cosine") -> Tensor:
    """Compare all rows of ``a`` with all rows of ``b``: (N, D), (M, D) -> (N, M). Distances are negated.

    >>> all_pairs(torch.eye(2), torch.tensor([[3.0, 4.0]]))
    tensor([[0.6000],
            [0.8000]])
    """
    check_option("similarity", similarity, get_args(Similarity))
    a, b = torch.atleast_2d(a), torch.atleast_2d(b)
    _check_sizes(a, b)
    return _ALL_PAIRS[similarity](a, b)


def pairwise(a: Tensor, b: Tensor, similarity: Similarity = "cosine") -> Tensor:
    """Compare row i of ``a`` with row i of ``b``: (N, D), (N, D) -> (N,). Distances are negated."""
    check_option("similarity", similarity, get_args(Similarity))
    a, b = torch.atleast_2d(a), torch.atleast_2d(b)
    _check_sizes(a, b)
    if len(a) != len(b):
        raise BadInput(f"pairwise similarity got {len(a)} and {len(b)} vectors, but needs equally many")
    return _PAIRWISE[similarity](a, b)


def _check_sizes(a: Tensor, b: Tensor) -> None:
    if a.shape[-1] != b.shape[-1]:
        raise BadInput(
            f"the vectors have {a.shape[-1]} and {b.shape[-1]} dimensions, but must have equally many; "
            "embed both sides with the same model and truncate_dim"
        )


def _distances(a: Tensor, b: Tensor, p: float) -> Tensor:
    # The shortcut by matrix multiplication for p=2 loses half of the digits of small distances.
    return torch.cdist(a, b, p=p, compute_mode="donot_use_mm_for_euclid_dist")


_ALL_PAIRS: dict[Similarity, Callable[[Tensor, Tensor], Tensor]] = {
    "cosine": lambda a, b: F.normalize(a, dim=-1) @ F.normalize(b, dim=-1).T,
    "dot": lambda a, b: a @ b.T,
    "euclidean": lambda a, b: -_distances(a, b, 2.0),
    "manhattan": lambda a, b: -_distances(a, b, 1.0),
}
_PAIRWISE: dict[Similarity, Callable[[Tensor, Tensor], Tensor]] = {
    "cosine": lambda a, b: (F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).sum(dim=-1),
    "dot": lambda a, b: (a * b).sum(dim=-1),
    "euclidean": lambda a, b: -torch.linalg.vector_norm(a - b, dim=-1),
    "manhattan": lambda a, b: -(a - b).abs().sum(dim=-1),
}
