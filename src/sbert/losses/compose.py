"""Makes new losses of losses. Works with any loss."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sbert.errors import BadInput, shown
from sbert.losses.inputs import Inputs, Labels, Loss, poly_columns
from sbert.nn.poly import score


def matryoshka(loss: Loss, dims: Sequence[int], weights: Sequence[float] | None = None) -> Loss:
    """Matryoshka loss: the weighted sum of ``loss`` on the first d dimensions, normalized, for each d of ``dims``.

    Inputs: those of ``loss``.
    Use it for vectors that are to be truncated to fewer dimensions later; include the full size. A loss with weights,
    such as the softmax classifier, has a fixed embedding size and cannot be wrapped.

    Args:
        loss: A loss without weights.
        dims: Numbers of leading dimensions, none above the embedding size.
        weights: One weight for each of ``dims``. Defaults to 1 for each.

    >>> from sbert.losses import cosine_mse
    >>> u, v = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]])
    >>> matryoshka(cosine_mse, dims=[2, 1])([u, v], torch.tensor([1.0]))  # (1 - sqrt(1/2))^2 + (1 - 1)^2
    tensor(0.0858)
    """
    if isinstance(loss, nn.Module) and next(loss.parameters(), None) is not None:
        name = type(loss).__name__
        raise BadInput(f"matryoshka got {name}, whose weights fit one size only; wrap a loss without weights")
    if not dims or not all(isinstance(dim, int) and dim > 0 for dim in dims):
        raise BadInput(f"the matryoshka dims are {shown(list(dims))}, but must be one or more whole numbers above 0")
    weights = [1.0] * len(dims) if weights is None else weights
    if len(weights) != len(dims):
        raise BadInput(f"matryoshka got {len(weights)} weights for {len(dims)} dims, but needs one for each")
    return partial(_at_each_size, loss=loss, dims=tuple(dims), weights=tuple(weights))


def _at_each_size(
    embeddings: Inputs, labels: Labels = None, *, loss: Loss, dims: Sequence[int], weights: Sequence[float]
) -> Tensor:
    losses = []
    for dim, weight in zip(dims, weights, strict=True):
        size = min((column.shape[1] for column in embeddings), default=dim)
        if dim > size:
            raise BadInput(f"the matryoshka dims hold {dim}, but the embeddings have {size} dimensions; drop it")
        losses.append(weight * loss([F.normalize(column[:, :dim], dim=1) for column in embeddings], labels))
    return torch.stack(losses).sum()


def poly_scores(loss: Loss) -> Loss:
    """Turn a loss of scores, such as ``mse`` or ``rank_net``, into one for a poly-encoder's queries and documents.

    >>> from sbert.losses import bce
    >>> codes = torch.tensor([[[1.0, 1.0]]])
    >>> poly_scores(bce)([codes, torch.zeros(1, 2)], torch.tensor([1.0]))  # a score of 0: -log(1/2)
    tensor(0.6931)
    """
    return partial(_of_scores, loss=loss)


def _of_scores(embeddings: Inputs, labels: Labels = None, *, loss: Loss) -> Tensor:
    queries, *documents = poly_columns("poly_scores", embeddings)
    return loss([score(queries, column[:, None]) for column in documents], labels)  # (B, 1) for each column


def weighted_sum(parts: Sequence[tuple[float, Loss]]) -> WeightedSum:
    """Add several losses of the same columns and labels: ``sum(weight * loss)``.

    Inputs: columns and labels that suit every loss.

    >>> from sbert.losses import triplet
    >>> a, p, n = torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]]), torch.tensor([[0.0, 4.5]])
    >>> weighted_sum([(2.0, triplet), (0.5, partial(triplet, margin=0.0))])([a, p, n])  # 2 * 1.5 + 0.5 * 0.5
    tensor(3.2500)
    """
    return WeightedSum(parts)


class WeightedSum(nn.Module):
    """The result of :func:`weighted_sum`: a module, so that losses with weights are trained and saved with it."""

    def __init__(self, parts: Sequence[tuple[float, Loss]]) -> None:
        super().__init__()
        if not parts:
            raise BadInput("weighted_sum got no losses, but needs one or more pairs (weight, loss)")
        self.parts = tuple(parts)
        self.trained = nn.ModuleList([loss for _, loss in parts if isinstance(loss, nn.Module)])

    def forward(self, embeddings: Inputs, labels: Labels = None) -> Tensor:
        """Compute the weighted sum for columns and labels."""
        return torch.stack([weight * loss(embeddings, labels) for weight, loss in self.parts]).sum()
