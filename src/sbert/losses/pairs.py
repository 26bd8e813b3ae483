"""Losses of pairs of texts with a similarity score. Works on embeddings and labels only."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.losses.inputs import above_zero, columns, row_labels
from sbert.nn.similarity import pairwise


def cosine_mse(embeddings: Sequence[Tensor], labels: Tensor | None = None) -> Tensor:
    """The paper's regression objective: ``mean((cos(u, v) - label)^2)``.

    Inputs: two columns u, v; labels (B,), scores scaled to 0..1.
    Use it for scores whose values matter, as in STS; :func:`cosent` uses only their order.

    >>> u, v = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> cosine_mse([u, v], torch.tensor([1.0, 0.5]))  # cosines 1 and 0: (0 + 0.25) / 2
    tensor(0.1250)
    """
    u, v = columns("cosine_mse", embeddings, 2, 2)
    scores = pairwise(u, v, "cosine")  # (B,)
    return F.mse_loss(scores, row_labels("cosine_mse", labels, len(u)).to(scores))


def cosent(embeddings: Sequence[Tensor], labels: Tensor | None = None, *, scale: float = 20.0) -> Tensor:
    """CoSENT: ``log(1 + sum(exp(scale * (cos_j - cos_i))))`` over all i, j with ``label_i > label_j``.

    Inputs: two columns; labels (B,), of which only the order counts.
    Use it for graded pairs, where it usually beats :func:`cosine_mse`. It compares the pairs of a batch with each
    other, so a batch of one pair, or with equal labels only, has a loss of 0.

    >>> u, v = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> cosent([u, v], torch.tensor([0.0, 1.0]), scale=1.0)  # cosines 1 and 0, in the wrong order: log(1 + e)
    tensor(1.3133)
    """
    u, v = columns("cosent", embeddings, 2, 2)
    return out_of_order(pairwise(u, v, "cosine"), row_labels("cosent", labels, len(u)), scale)


def angle(embeddings: Sequence[Tensor], labels: Tensor | None = None, *, scale: float = 20.0) -> Tensor:
    """AnglE: :func:`cosent` with ``|Re + Im|`` of the complex product ``u * conj(v)`` instead of the cosine.

    Inputs: two columns; labels (B,), of which only the order counts. The first half of a vector holds the real
    parts, the second half the imaginary parts; both vectors are normalized.
    Use it like :func:`cosent` for very near and very far pairs, where the small gradient of the cosine slows learning.

    >>> u, v = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.6, 0.8]])
    >>> angle([u, v], torch.tensor([1.0, 0.0]), scale=1.0)  # 1 and |0.6 - 0.8|: log(1 + exp(0.2 - 1))
    tensor(0.3711)
    """
    u, v = columns("angle", embeddings, 2, 2)
    return out_of_order(_angle_similarity(u, v), row_labels("angle", labels, len(u)), scale)


def out_of_order(scores: Tensor, labels: Tensor, scale: float) -> Tensor:
    """Smooth maximum of the amount by which a pair outscores a pair with a higher label: (B,), (B,) -> scalar."""
    above_zero("scale", scale)
    excess = scale * (scores[None, :] - scores[:, None])  # (B, B): score of pair j minus score of pair i
    excess = excess[labels[:, None] > labels[None, :]]
    return torch.cat([excess.new_zeros(1), excess]).logsumexp(dim=0)


def _angle_similarity(u: Tensor, v: Tensor) -> Tensor:
    odd = u.shape[1] % 2  # a zero is appended to an odd dimension, so that there are two halves
    u, v = (F.normalize(F.pad(x, (0, odd)), dim=1) for x in (u, v))
    u_real, u_imaginary = u.chunk(2, dim=1)
    v_real, v_imaginary = v.chunk(2, dim=1)
    real = (u * v).sum(dim=1)
    imaginary = (u_imaginary * v_real - u_real * v_imaginary).sum(dim=1)
    return (real + imaginary).abs()  # (B,)
