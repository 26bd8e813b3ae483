"""Losses that follow a teacher's vectors or scores. Knows embeddings and labels; the teacher gets no gradient."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.errors import BadInput
from sbert.losses.inputs import above_zero, columns, given
from sbert.nn.similarity import pairwise


def embedding_mse(embeddings: Sequence[Tensor], labels: Tensor | None = None) -> Tensor:
    """``mean((u - teacher)^2)`` over all coordinates, rows and columns.

    Inputs: one or more columns; labels (B, D), the teacher's vectors. Every column has the same target: a sentence
    and its translations learn the vector the teacher gave the sentence.
    Use it to make a smaller model, or one of more languages, with the teacher's vector space.

    >>> embedding_mse([torch.tensor([[1.0, 2.0]])], torch.tensor([[1.0, 4.0]]))  # (0 + 4) / 2
    tensor(2.)
    """
    students = torch.stack(tuple(columns("embedding_mse", embeddings, 1, None)))  # (C, B, D)
    teacher = given("embedding_mse", labels)
    if teacher.shape != students.shape[1:]:
        got, wanted = tuple(teacher.shape), tuple(students.shape[1:])
        raise BadInput(f"embedding_mse got teacher vectors of shape {got}, but needs {wanted}, that of the embeddings")
    return (students - teacher.detach().to(students)).square().mean()


def margin_mse(embeddings: Sequence[Tensor], labels: Tensor | None = None) -> Tensor:
    """``mean((q·p - q·n - margin)^2)``, the margins being the teacher's.

    Inputs: columns query, positive and k >= 1 negatives; labels (B,) or (B, k) margins, or (B, k + 1) scores of the
    positive and the negatives, from which the margins are taken.
    Use it to learn ranking from a cross-encoder; only differences count, so the two scales need not agree.

    >>> q, p, n = torch.tensor([[1.0, 0.0]]), torch.tensor([[2.0, 0.0]]), torch.tensor([[0.5, 0.0]])
    >>> margin_mse([q, p, n], torch.tensor([1.0]))  # (1.5 - 1)^2
    tensor(0.2500)
    """
    scores = _scores(columns("margin_mse", embeddings, 3, None))  # (B, k + 1)
    teacher = given("margin_mse", labels).detach().to(scores)
    rows, negatives = len(scores), scores.shape[1] - 1
    if teacher.shape == scores.shape:
        teacher = _margins(teacher)
    if teacher.numel() != rows * negatives or len(teacher) != rows:
        wanted = f"margins of shape {(rows, negatives)} or scores of shape {tuple(scores.shape)}"
        raise BadInput(f"margin_mse got labels of shape {tuple(teacher.shape)}, but needs {wanted}")
    return F.mse_loss(_margins(scores), teacher.reshape(rows, negatives))


def kl(embeddings: Sequence[Tensor], labels: Tensor | None = None, *, temperature: float = 1.0) -> Tensor:
    """``T^2 * KL(softmax(teacher / T) || softmax(q·d / T))``, the mean over the queries.

    Inputs: columns query and k >= 2 candidates; labels (B, k), the teacher's score of each candidate.
    Use it to learn a teacher's whole ranking of several candidates; a higher temperature T weighs lower ranks more.

    >>> query, document = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    >>> teacher = torch.tensor([[3.0, 1.0]]).log()  # 3/4 and 1/4, where the student says 1/2 and 1/2
    >>> kl([query, document, document], teacher)  # 3/4 log(3/2) + 1/4 log(1/2)
    tensor(0.1308)
    """
    above_zero("temperature", temperature)
    scores = _scores(columns("kl", embeddings, 3, None))  # (B, k)
    teacher = given("kl", labels).detach().to(scores)
    if teacher.shape != scores.shape:
        raise BadInput(f"kl got teacher scores of shape {tuple(teacher.shape)}, but needs {tuple(scores.shape)}")
    student = F.log_softmax(scores / temperature, dim=1)
    target = F.softmax(teacher / temperature, dim=1)
    return F.kl_div(student, target, reduction="batchmean") * temperature**2


def _scores(embeddings: Sequence[Tensor]) -> Tensor:
    """Query and k candidates, each (B, D) -> (B, k) dot products."""
    query, *candidates = embeddings
    return torch.stack([pairwise(query, candidate, "dot") for candidate in candidates], dim=1)


def _margins(scores: Tensor) -> Tensor:
    """(B, k + 1) -> (B, k): the first score less each other one."""
    return scores[:, :1] - scores[:, 1:]
