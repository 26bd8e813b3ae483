"""Losses that copy the vectors or scores of a teacher, which gets no gradient. Works on tensors only."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.errors import BadInput
from sbert.losses.inputs import Inputs, Labels, above_zero, columns, given, targets
from sbert.losses.scores import listwise
from sbert.nn.similarity import pairwise


def embedding_mse(embeddings: Inputs, labels: Labels = None) -> Tensor:
    """``mean((u - teacher)^2)`` over all dimensions, rows and columns.

    Inputs: one or more columns; labels (B, D), the teacher's vectors. All columns have the same target: a sentence
    and its translations learn the teacher's vector of the sentence.
    Use it to train a smaller model, or a model for more languages, in the vector space of the teacher.

    >>> embedding_mse([torch.tensor([[1.0, 2.0]])], torch.tensor([[1.0, 4.0]]))  # (0 + 4) / 2
    tensor(2.)
    """
    students = columns("embedding_mse", embeddings, 1, None)
    teacher = targets("embedding_mse", labels, students[0], "teacher vectors")
    return (torch.stack(tuple(students)) - teacher).square().mean()  # of (C, B, D)


def margin_mse(embeddings: Inputs, labels: Labels = None) -> Tensor:
    """``mean((q·p - q·n - margin)^2)``, with the margins of a teacher.

    Inputs: columns query, positive and k >= 1 negatives; labels (B,) or (B, k) margins, or (B, k + 1) scores of the
    positive and the negatives, from which the margins are computed.
    Use it to learn ranking from a cross-encoder. Only differences count, so the two scales may differ.

    >>> q, p, n = torch.tensor([[1.0, 0.0]]), torch.tensor([[2.0, 0.0]]), torch.tensor([[0.5, 0.0]])
    >>> margin_mse([q, p, n], torch.tensor([1.0]))  # (1.5 - 1)^2
    tensor(0.2500)
    """
    return _margin_error("margin_mse", _scores(columns("margin_mse", embeddings, 3, None)), labels)


def margin_mse_scores(scores: Inputs, labels: Labels = None) -> Tensor:
    """:func:`margin_mse` of the scores of a cross-encoder: ``mean((s_positive - s_negative - margin)^2)``.

    Inputs: a query with its positive and k >= 1 negatives; labels as for :func:`margin_mse`.
    Use it to learn ranking from a larger cross-encoder.

    >>> margin_mse_scores([torch.tensor([[2.0]]), torch.tensor([[0.5]])], torch.tensor([1.0]))  # (1.5 - 1)^2
    tensor(0.2500)
    """
    return _margin_error("margin_mse_scores", listwise("margin_mse_scores", scores), labels)


def kl(embeddings: Inputs, labels: Labels = None, *, temperature: float = 1.0) -> Tensor:
    """``T^2 * KL(softmax(teacher / T) || softmax(q·d / T))``, the mean over the queries.

    Inputs: columns query and k >= 2 candidates; labels (B, k), the teacher's score of each candidate.
    Use it to learn a teacher's ranking of several candidates; a higher temperature T gives lower ranks more weight.

    >>> query, document = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    >>> teacher = torch.tensor([[3.0, 1.0]]).log()  # 3/4 and 1/4; the student has 1/2 and 1/2
    >>> kl([query, document, document], teacher)  # 3/4 log(3/2) + 1/4 log(1/2)
    tensor(0.1308)
    """
    above_zero("temperature", temperature)
    scores = _scores(columns("kl", embeddings, 3, None))  # (B, k)
    teacher = targets("kl", labels, scores, "teacher scores")
    student = F.log_softmax(scores / temperature, dim=1)
    target = F.softmax(teacher / temperature, dim=1)
    return F.kl_div(student, target, reduction="batchmean") * temperature**2


def _scores(embeddings: Inputs) -> Tensor:
    """Dot products of a query with k candidates: k + 1 tensors (B, D) -> (B, k)."""
    query, *candidates = embeddings
    return torch.stack([pairwise(query, candidate, "dot") for candidate in candidates], dim=1)


def _margin_error(loss: str, scores: Tensor, labels: Labels) -> Tensor:
    """Squared error of the margins of (B, k + 1) scores; labels are (B,) or (B, k) margins, or (B, k + 1) scores."""
    teacher = given(loss, labels).detach().to(scores)
    margins = scores[:, :1] - scores[:, 1:]  # (B, k)
    if teacher.shape == scores.shape:
        teacher = teacher[:, :1] - teacher[:, 1:]
    if len(teacher) != len(scores) or teacher.numel() != margins.numel():
        wanted = f"margins of shape {tuple(margins.shape)} or scores of shape {tuple(scores.shape)}"
        raise BadInput(f"{loss} got labels of shape {tuple(teacher.shape)}, but needs {wanted}")
    return F.mse_loss(margins, teacher.reshape(margins.shape))
