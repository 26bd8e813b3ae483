"""Losses made of losses. Knows what a loss is, and none in particular."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sbert.errors import BadInput

Loss = Callable[[Sequence[Tensor], Tensor | None], Tensor]
"""One (B, D) tensor for each text column, and the labels if there are any -> scalar."""


def matryoshka(loss: Loss, dims: Sequence[int], weights: Sequence[float] | None = None) -> Loss:
    """``loss`` of the first d coordinates, brought to length one, for each d of ``dims``; the weighted sum of all.

    Inputs: those of ``loss``.
    Use it for vectors that may be cut to fewer dimensions later; put the full size first. A loss with weights of its
    own, such as the softmax classifier, reads one size only and cannot be wrapped.

    Args:
        loss: A loss without weights.
        dims: Numbers of leading coordinates, none above the embedding size.
        weights: One for each of ``dims``; 1 unless told.

    >>> from sbert.losses import cosine_mse
    >>> u, v = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]])
    >>> matryoshka(cosine_mse, dims=[2, 1])([u, v], torch.tensor([1.0]))  # (1 - sqrt(1/2))^2 + (1 - 1)^2
    tensor(0.0858)
    """
    if isinstance(loss, nn.Module) and next(loss.parameters(), None) is not None:
        name = type(loss).__name__
        raise BadInput(f"matryoshka got {name}, whose weights fit one size only; wrap a loss without weights")
    if not dims or not all(isinstance(dim, int) and dim > 0 for dim in dims):
        raise BadInput(f"the matryoshka dims are {list(dims)}, but must be one or more whole numbers above 0")
    weights = [1.0] * len(dims) if weights is None else weights
    if len(weights) != len(dims):
        raise BadInput(f"matryoshka got {len(weights)} weights for {len(dims)} dims, but needs one for each")
    return partial(_at_each_size, loss=loss, dims=tuple(dims), weights=tuple(weights))


def _at_each_size(
    embeddings: Sequence[Tensor],
    labels: Tensor | None = None,
    *,
    loss: Loss,
    dims: Sequence[int],
    weights: Sequence[float],
) -> Tensor:
    losses = [loss([_cut(column, dim) for column in embeddings], labels) for dim in dims]
    return torch.stack([weight * each for weight, each in zip(weights, losses, strict=True)]).sum()


def _cut(column: Tensor, dim: int) -> Tensor:
    if dim > column.shape[1]:
        raise BadInput(
            f"the matryoshka dims hold {dim}, but the embeddings have {column.shape[1]} dimensions; drop it"
        )
    return F.normalize(column[:, :dim], dim=1)


def weighted_sum(parts: Sequence[tuple[float, Loss]]) -> WeightedSum:
    """``sum(weight * loss)``: several aims for the same columns and labels.

    Inputs: columns and labels that every one of the losses reads.

    >>> from sbert.losses import triplet
    >>> a, p, n = torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]]), torch.tensor([[0.0, 4.5]])
    >>> weighted_sum([(2.0, triplet), (0.5, partial(triplet, margin=0.0))])([a, p, n])  # 2 * 1.5 + 0.5 * 0.5
    tensor(3.2500)
    """
    return WeightedSum(parts)


class WeightedSum(nn.Module):
    """What :func:`weighted_sum` makes: a module, so that losses with weights are trained and saved with it."""

    def __init__(self, parts: Sequence[tuple[float, Loss]]) -> None:
        super().__init__()
        if not parts:
            raise BadInput("weighted_sum got no losses, but needs one or more pairs (weight, loss)")
        self.parts = tuple(parts)
        self.trained = nn.ModuleList([loss for _, loss in parts if isinstance(loss, nn.Module)])

    def forward(self, embeddings: Sequence[Tensor], labels: Tensor | None = None) -> Tensor:
        """Columns and labels -> scalar."""
        return torch.stack([weight * loss(embeddings, labels) for weight, loss in self.parts]).sum()
