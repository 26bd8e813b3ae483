"""Losses that copy the vectors or scores of a teacher, which gets no gradient. Works on embeddings and labels."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.errors import BadInput
from sbert.losses.inputs import above_zero, columns, given
from sbert.nn.similarity import pairwise


def embedding_mse(embeddings: Sequence[Tensor], labels: Tensor | None = None) -> Tensor:
    """``mean((u - teacher)^2)`` over all dimensions, rows and columns.

    Inputs: one or more columns; labels (B, D), the teacher's vectors. All columns have the same target: a sentence
    and its translations learn the teacher's vector of the sentence.
    Use it to train a smaller model, or a model for more languages, in the vector space of the teacher.

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
    """``mean((q·p - q·n - margin)^2)``, with the margins of a teacher.

    Inputs: columns query, positive and k >= 1 negatives; labels (B,) or (B, k) margins, or (B, k + 1) scores of the
    positive and the negatives, from which the margins are computed.
    Use it to learn ranking from a cross-encoder. Only differences count, so the two scales may differ.

    >>> q, p, n = torch.tensor([[1.0, 0.0]]), torch.tensor([[2.0, 0.0]]), torch.tensor([[0.5, 0.0]])
    >>> margin_mse([q, p, n], torch.tensor([1.0]))  # (1.5 - 1)^2
    tensor(0.2500)
    """
    return margin_error("margin_mse", _scores(columns("margin_mse", embeddings, 3, None)), labels)


def kl(embeddings: Sequence[Tensor], labels: Tensor | None = None, *, temperature: float = 1.0) -> Tensor:
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
    teacher = given("kl", labels).detach().to(scores)
    if teacher.shape != scores.shape:
        raise BadInput(f"kl got teacher scores of shape {tuple(teacher.shape)}, but needs {tuple(scores.shape)}")
    student = F.log_softmax(scores / temperature, dim=1)
    target = F.softmax(teacher / temperature, dim=1)
    return F.kl_div(student, target, reduction="batchmean") * temperature**2


def _scores(embeddings: Sequence[Tensor]) -> Tensor:
    """Dot products of a query with k candidates: k + 1 tensors (B, D) -> (B, k)."""
    query, *candidates = embeddings
    return torch.stack([pairwise(query, candidate, "dot") for candidate in candidates], dim=1)


def margin_error(loss: str, scores: Tensor, labels: Tensor | None) -> Tensor:
    """Squared error of the margins of (B, k + 1) scores; labels are (B,) or (B, k) margins, or (B, k + 1) scores."""
    teacher = given(loss, labels).detach().to(scores)
    if teacher.shape == scores.shape:
        teacher = _margins(teacher)
    margins = _margins(scores)
    if len(teacher) != len(scores) or teacher.numel() != margins.numel():
        wanted = f"margins of shape {tuple(margins.shape)} or scores of shape {tuple(scores.shape)}"
        raise BadInput(f"{loss} got labels of shape {tuple(teacher.shape)}, but needs {wanted}")
    return F.mse_loss(margins, teacher.reshape(margins.shape))


def _margins(scores: Tensor) -> Tensor:
    """Subtract each other score from the first: (B, k + 1) -> (B, k)."""
    return scores[:, :1] - scores[:, 1:]
