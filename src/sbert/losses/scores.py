"""Losses of a cross-encoder, which gives scores instead of embeddings. Works on scores and labels only.

The inputs are logits: one tensor (B, L) for each pair of a row, where L is the number of labels of the model. Two text
columns make one pair per row; a query and k documents make k pairs, whose logits are one list of k scores per row.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.errors import BadInput
from sbert.losses.distill import margin_error
from sbert.losses.inputs import given, row_labels
from sbert.losses.pairs import out_of_order


def mse(scores: Sequence[Tensor], labels: Tensor | None = None) -> Tensor:
    """``mean((sigmoid(logit) - label)^2)``: make the score equal to the label.

    Inputs: one pair, one label of the model; labels (B,), scores scaled to 0..1.
    Use it for graded pairs, such as STS.

    >>> mse([torch.zeros(2, 1)], torch.tensor([1.0, 0.5]))  # sigmoid(0) = 1/2: (1/4 + 0) / 2
    tensor(0.1250)
    """
    logits = _single("mse", scores)
    return F.mse_loss(logits.sigmoid(), row_labels("mse", labels, len(logits)).to(logits))


def bce(scores: Sequence[Tensor], labels: Tensor | None = None) -> Tensor:
    """``-mean(label log(sigmoid(logit)) + (1 - label) log(1 - sigmoid(logit)))``.

    Inputs: one pair, one label of the model; labels (B,), from 0 to 1.
    Use it for pairs with a label of 0 or 1: duplicates, relevance.

    >>> bce([torch.zeros(1, 1)], torch.tensor([1.0]))  # -log(1/2)
    tensor(0.6931)
    """
    logits = _single("bce", scores)
    return F.binary_cross_entropy_with_logits(logits, row_labels("bce", labels, len(logits)).to(logits))


def cosent_scores(scores: Sequence[Tensor], labels: Tensor | None = None, *, scale: float = 1.0) -> Tensor:
    """CoSENT of scores: ``log(1 + sum(exp(scale * (s_j - s_i))))`` over all rows i, j with ``label_i > label_j``.

    Inputs: one pair, one label of the model; labels (B,), of which only the order counts.
    Use it for graded pairs if the scores have no fixed scale, such as the dot products of a poly-encoder.

    >>> cosent_scores([torch.tensor([[7.0], [6.0]])], torch.tensor([0.0, 1.0]))  # in the wrong order: log(1 + e)
    tensor(1.3133)
    """
    logits = _single("cosent_scores", scores)
    return out_of_order(logits, row_labels("cosent_scores", labels, len(logits)), scale)


def cross_entropy(scores: Sequence[Tensor], labels: Tensor | None = None) -> Tensor:
    """``-mean(log(softmax(logits)[label]))``.

    Inputs: one pair, two or more labels of the model; labels (B,) int64, their ids.
    Use it for pairs with classes, such as NLI.

    >>> cross_entropy([torch.zeros(1, 3)], torch.tensor([2]))  # three classes, equally likely: log(3)
    tensor(1.0986)
    """
    logits = _pair("cross_entropy", scores)
    classes = row_labels("cross_entropy", labels, len(logits))
    known = logits.shape[1]
    if known < 2 or classes.max() >= known or classes.min() < 0:
        asked = int(classes.max()) + 1
        raise BadInput(f"cross_entropy got {known} scores a pair and labels up to {asked - 1}, but needs one for each")
    return F.cross_entropy(logits, classes)


def margin_mse_scores(scores: Sequence[Tensor], labels: Tensor | None = None) -> Tensor:
    """``mean((s_positive - s_negative - margin)^2)``, with the margins of a teacher.

    Inputs: a query with its positive and k >= 1 negatives; labels (B,) or (B, k) margins, or (B, k + 1) scores of
    the positive and the negatives, from which the margins are computed.
    Use it to learn ranking from a larger cross-encoder. Only differences count.

    >>> margin_mse_scores([torch.tensor([[2.0]]), torch.tensor([[0.5]])], torch.tensor([1.0]))  # (1.5 - 1)^2
    tensor(0.2500)
    """
    return margin_error("margin_mse_scores", _listed("margin_mse_scores", scores), labels)


def rank_net(scores: Sequence[Tensor], labels: Tensor | None = None) -> Tensor:
    """Mean of ``log(1 + exp(s_j - s_i))`` over all documents i, j of one query with ``label_i > label_j``.

    Inputs: a query with k >= 2 documents; labels (B, k), of which only the order counts.
    Use it if it is known which of two documents is better, but not by how much.

    >>> rank_net([torch.tensor([[0.0]]), torch.tensor([[0.0]])], torch.tensor([[1.0, 0.0]]))  # log(2)
    tensor(0.6931)
    """
    listed, relevance = _with_relevance("rank_net", scores, labels)
    return _misordered(listed, relevance, 1.0)


def list_net(scores: Sequence[Tensor], labels: Tensor | None = None) -> Tensor:
    """Cross-entropy of ``softmax(scores)`` against ``softmax(labels)``, the mean over the queries.

    Inputs: a query with k >= 2 documents; labels (B, k), their relevance.
    Use it for graded lists in which the top ranks matter most.

    >>> list_net([torch.tensor([[0.0]]), torch.tensor([[0.0]])], torch.tensor([[1.0, 0.0]]))  # log(2)
    tensor(0.6931)
    """
    listed, relevance = _with_relevance("list_net", scores, labels)
    return F.cross_entropy(listed, relevance.softmax(dim=1))


def lambda_rank(scores: Sequence[Tensor], labels: Tensor | None = None) -> Tensor:
    """:func:`rank_net` with each pair weighted by the change in nDCG if its two documents were swapped.

    Inputs: a query with k >= 2 documents; labels (B, k), their relevance, 0 or above.
    Use it if the top of the list matters most; a good default for re-ranking.

    >>> lambda_rank([torch.tensor([[0.0]]), torch.tensor([[0.0]])], torch.tensor([[1.0, 0.0]]))  # 0.3691 log(2)
    tensor(0.2558)
    """
    listed, relevance = _with_relevance("lambda_rank", scores, labels)
    order = listed.detach().argsort(dim=1, descending=True, stable=True)
    discounts = 1 / torch.arange(2, listed.shape[1] + 2, device=listed.device).to(listed).log2()  # (k,), by rank
    given_rank = torch.zeros_like(listed).scatter(1, order, discounts.expand_as(listed))  # (B, k), by document
    gains = 2 ** relevance.clamp(min=0) - 1
    best = (gains.sort(dim=1, descending=True).values * discounts).sum(dim=1, keepdim=True).clamp(min=1e-10)
    gains = gains / best
    weights = (given_rank[:, :, None] - given_rank[:, None, :]).abs() * (gains[:, :, None] - gains[:, None, :]).abs()
    return _misordered(listed, relevance, weights)


def _misordered(listed: Tensor, relevance: Tensor, weights: Tensor | float) -> Tensor:
    """Average a smooth error over the pairs of documents with different labels; 0 if there are none."""
    better = relevance[:, :, None] > relevance[:, None, :]  # (B, k, k)
    losses = weights * F.softplus(listed[:, None, :] - listed[:, :, None])
    return losses[better].sum() / better.sum().clamp(min=1)


def _pair(loss: str, scores: Sequence[Tensor]) -> Tensor:
    """Return the logits of the only pair of each row, (B, L)."""
    if len(scores) != 1 or scores[0].ndim != 2:
        raise BadInput(
            f"{loss} got {len(scores)} pairs a row, but reads one; train a cross-encoder with two text columns"
        )
    return scores[0]


def _single(loss: str, scores: Sequence[Tensor]) -> Tensor:
    """Return the scores of the only pair of each row by a model with one label, (B,)."""
    logits = _pair(loss, scores)
    if logits.shape[1] != 1:
        raise BadInput(f"{loss} got {logits.shape[1]} scores a pair, but reads one; choose cross_entropy")
    return logits[:, 0]


def _listed(loss: str, scores: Sequence[Tensor]) -> Tensor:
    """Return the scores of a query with k >= 2 documents by a model with one label, (B, k)."""
    if len(scores) < 2 or any(column.shape != (len(scores[0]), 1) for column in scores):
        shapes = ", ".join(str(tuple(column.shape)) for column in scores)
        raise BadInput(
            f"{loss} got scores of shape {shapes}, but reads two or more columns (B, 1); train a cross-encoder of one "
            "label with a query and two or more documents a row"
        )
    return torch.cat(tuple(scores), dim=1)


def _with_relevance(loss: str, scores: Sequence[Tensor], labels: Tensor | None) -> tuple[Tensor, Tensor]:
    listed = _listed(loss, scores)
    relevance = given(loss, labels).detach().to(listed)
    if relevance.shape != listed.shape:
        raise BadInput(f"{loss} got labels of shape {tuple(relevance.shape)}, but needs {tuple(listed.shape)}")
    return listed, relevance
