"""Losses of a cross-encoder, which gives scores instead of embeddings. Works on scores and labels only.

The inputs are logits: one tensor (B, L) for each pair of a row, where L is the number of labels of the model. Two text
columns make one pair per row; a query and k documents make k pairs, whose logits are one list of k scores per row.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.errors import BadInput
from sbert.losses.inputs import Inputs, Labels, row_labels, targets
from sbert.losses.pairs import out_of_order


def mse(scores: Inputs, labels: Labels = None) -> Tensor:
    """``mean((sigmoid(logit) - label)^2)``: make the score equal to the label.

    Inputs: one pair, one label of the model; labels (B,), scores scaled to 0..1.
    Use it for graded pairs, such as STS.

    >>> mse([torch.zeros(2, 1)], torch.tensor([1.0, 0.5]))  # sigmoid(0) = 1/2: (1/4 + 0) / 2
    tensor(0.1250)
    """
    logits, wanted = _single("mse", scores, labels)
    return F.mse_loss(logits.sigmoid(), wanted.to(logits))


def bce(scores: Inputs, labels: Labels = None) -> Tensor:
    """``-mean(label log(sigmoid(logit)) + (1 - label) log(1 - sigmoid(logit)))``.

    Inputs: one pair, one label of the model; labels (B,), from 0 to 1.
    Use it for pairs with a label of 0 or 1: duplicates, relevance.

    >>> bce([torch.zeros(1, 1)], torch.tensor([1.0]))  # -log(1/2)
    tensor(0.6931)
    """
    logits, wanted = _single("bce", scores, labels)
    return F.binary_cross_entropy_with_logits(logits, wanted.to(logits))


def cosent_scores(scores: Inputs, labels: Labels = None, *, scale: float = 1.0) -> Tensor:
    """CoSENT of scores: ``log(1 + sum(exp(scale * (s_j - s_i))))`` over all rows i, j with ``label_i > label_j``.

    Inputs: one pair, one label of the model; labels (B,), of which only the order counts.
    Use it for graded pairs if the scores have no fixed scale, such as the dot products of a poly-encoder.

    >>> cosent_scores([torch.tensor([[7.0], [6.0]])], torch.tensor([0.0, 1.0]))  # in the wrong order: log(1 + e)
    tensor(1.3133)
    """
    return out_of_order(*_single("cosent_scores", scores, labels), scale)


def cross_entropy(scores: Inputs, labels: Labels = None) -> Tensor:
    """``-mean(log(softmax(logits)[label]))``.

    Inputs: one pair, two or more labels of the model; labels (B,) int64, their ids.
    Use it for pairs with classes, such as NLI.

    >>> cross_entropy([torch.zeros(1, 3)], torch.tensor([2]))  # three classes, equally likely: log(3)
    tensor(1.0986)
    """
    logits = _pair("cross_entropy", scores)
    classes = row_labels("cross_entropy", labels, len(logits))
    known, largest = logits.shape[1], int(classes.max())
    if known < 2 or largest >= known or classes.min() < 0:
        raise BadInput(f"cross_entropy got {known} scores a pair and labels up to {largest}, but needs one for each")
    return F.cross_entropy(logits, classes)


def rank_net(scores: Inputs, labels: Labels = None) -> Tensor:
    """Mean of ``log(1 + exp(s_j - s_i))`` over all documents i, j of one query with ``label_i > label_j``.

    Inputs: a query with k >= 2 documents; labels (B, k), of which only the order counts.
    Use it if it is known which of two documents is better, but not by how much.

    >>> rank_net([torch.tensor([[0.0]]), torch.tensor([[0.0]])], torch.tensor([[1.0, 0.0]]))  # log(2)
    tensor(0.6931)
    """
    return _misordered(*_with_relevance("rank_net", scores, labels), 1.0)


def list_net(scores: Inputs, labels: Labels = None) -> Tensor:
    """Cross-entropy of ``softmax(scores)`` against ``softmax(labels)``, the mean over the queries.

    Inputs: a query with k >= 2 documents; labels (B, k), their relevance.
    Use it for graded lists in which the top ranks matter most.

    >>> list_net([torch.tensor([[0.0]]), torch.tensor([[0.0]])], torch.tensor([[1.0, 0.0]]))  # log(2)
    tensor(0.6931)
    """
    logits, relevance = _with_relevance("list_net", scores, labels)
    return F.cross_entropy(logits, relevance.softmax(dim=1))


def lambda_rank(scores: Inputs, labels: Labels = None) -> Tensor:
    """:func:`rank_net` with each pair weighted by the change in nDCG if its two documents were swapped.

    Inputs: a query with k >= 2 documents; labels (B, k), their relevance, 0 or above.
    Use it if the top of the list matters most; a good default for re-ranking.

    >>> lambda_rank([torch.tensor([[0.0]]), torch.tensor([[0.0]])], torch.tensor([[1.0, 0.0]]))  # 0.3691 log(2)
    tensor(0.2558)
    """
    logits, relevance = _with_relevance("lambda_rank", scores, labels)
    order = logits.detach().argsort(dim=1, descending=True, stable=True)
    discounts = 1 / torch.arange(2, logits.shape[1] + 2, device=logits.device).to(logits).log2()  # (k,), by rank
    given_rank = torch.zeros_like(logits).scatter(1, order, discounts.expand_as(logits))  # (B, k), by document
    gains = 2 ** relevance.clamp(min=0) - 1
    best = (gains.sort(dim=1, descending=True).values * discounts).sum(dim=1, keepdim=True).clamp(min=1e-10)
    gains = gains / best
    weights = (given_rank[:, :, None] - given_rank[:, None, :]).abs() * (gains[:, :, None] - gains[:, None, :]).abs()
    return _misordered(logits, relevance, weights)


def _misordered(logits: Tensor, relevance: Tensor, weights: Tensor | float) -> Tensor:
    """Average a smooth error over the pairs of documents with different labels; 0 if there are none."""
    better = relevance[:, :, None] > relevance[:, None, :]  # (B, k, k)
    losses = weights * F.softplus(logits[:, None, :] - logits[:, :, None])
    return losses[better].sum() / better.sum().clamp(min=1)


def _pair(loss: str, scores: Inputs) -> Tensor:
    """Return the logits of the only pair of each row, (B, L)."""
    if len(scores) != 1 or scores[0].ndim != 2:
        raise BadInput(
            f"{loss} got {len(scores)} pairs a row, but reads one; train a cross-encoder with two text columns"
        )
    return scores[0]


def _single(loss: str, scores: Inputs, labels: Labels) -> tuple[Tensor, Tensor]:
    """Return the scores of the only pair of each row by a model with one label, and the labels: (B,), (B,)."""
    logits = _pair(loss, scores)
    if logits.shape[1] != 1:
        raise BadInput(f"{loss} got {logits.shape[1]} scores a pair, but reads one; choose cross_entropy")
    return logits[:, 0], row_labels(loss, labels, len(logits))


def listwise(loss: str, scores: Inputs) -> Tensor:
    """Return the scores of a query with k >= 2 documents by a model with one label, (B, k)."""
    if len(scores) < 2 or any(column.shape != (len(scores[0]), 1) for column in scores):
        shapes = ", ".join(str(tuple(column.shape)) for column in scores)
        raise BadInput(
            f"{loss} got scores of shape {shapes}, but reads two or more columns (B, 1); train a cross-encoder of one "
            "label with a query and two or more documents a row"
        )
    return torch.cat(tuple(scores), dim=1)


def _with_relevance(loss: str, scores: Inputs, labels: Labels) -> tuple[Tensor, Tensor]:
    logits = listwise(loss, scores)
    return logits, targets(loss, labels, logits)
