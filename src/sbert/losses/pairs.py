"""Losses of two texts with a class or a score: the paper's classification and regression, and their relatives.

Works on embeddings and labels only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sbert.errors import BadInput, check_option, shown
from sbert.losses.inputs import Inputs, Labels, above_zero, columns, labelled_pair, row_labels
from sbert.nn.similarity import pairwise

Part = Literal["u", "v", "|u-v|", "u*v"]

_PARTS: dict[Part, Callable[[Tensor, Tensor], Tensor]] = {
    "u": lambda u, v: u,
    "v": lambda u, v: v,
    "|u-v|": lambda u, v: (u - v).abs(),
    "u*v": lambda u, v: u * v,
}


class SoftmaxClassifier(nn.Module):
    """``cross_entropy(W (u, v, |u-v|) + b)``: a linear layer classifies the relation of two texts.

    Inputs: two columns u, v; labels (B,) int64, positions in ``labels``.
    Use it for pairs with classes, such as NLI: contradiction, entailment, neutral. The layer, the only one among the
    losses, is needed in training only; the trained vectors are compared by cosine.

    Args:
        dim: The embedding size D.
        labels: The names of the classes in the order of their ids.
        concat: The inputs of the layer, in this order: any of "u", "v", "|u-v|" and "u*v".

    >>> softmax = SoftmaxClassifier(2, ["contradiction", "entailment", "neutral"])
    >>> _ = nn.init.zeros_(softmax.linear.weight), nn.init.zeros_(softmax.linear.bias)
    >>> u = v = torch.tensor([[1.0, 0.0]])
    >>> softmax([u, v], torch.tensor([1])).detach()  # three classes, equally likely: log(3)
    tensor(1.0986)
    """

    def __init__(self, dim: int, labels: Sequence[str], concat: Sequence[Part] = ("u", "v", "|u-v|")) -> None:
        super().__init__()
        if len(set(labels)) < 2 or len(set(labels)) < len(labels):
            raise BadInput(
                f"the labels are {shown(list(labels))}, but must be two or more different names, one for each class"
            )
        for part in concat:
            check_option("concat", part, _PARTS)
        if not concat or len(set(concat)) < len(concat):
            raise BadInput(
                f"concat is {shown(list(concat))}, but must name at least one of {', '.join(_PARTS)}, none twice"
            )
        self.labels, self.concat = tuple(labels), tuple(concat)
        self.linear = nn.Linear(len(self.concat) * dim, len(self.labels))

    def logits(self, embeddings: Inputs) -> Tensor:
        """Compute the logits of two columns: (B, D), (B, D) -> (B, classes)."""
        u, v = columns("softmax", embeddings, 2, 2)
        result: Tensor = self.linear(torch.cat([_PARTS[part](u, v) for part in self.concat], dim=1))
        return result

    def forward(self, embeddings: Inputs, labels: Labels = None) -> Tensor:
        """Compute the loss of two columns (B, D) and their classes (B,)."""
        logits = self.logits(embeddings)
        return F.cross_entropy(logits, row_labels("softmax", labels, len(logits)))


def cosine_mse(embeddings: Inputs, labels: Labels = None) -> Tensor:
    """The paper's regression objective: ``mean((cos(u, v) - label)^2)``.

    Inputs: two columns u, v; labels (B,), scores scaled to 0..1.
    Use it for scores whose values matter, as in STS; :func:`cosent` uses only their order.

    >>> u, v = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> cosine_mse([u, v], torch.tensor([1.0, 0.5]))  # cosines 1 and 0: (0 + 0.25) / 2
    tensor(0.1250)
    """
    u, v, scores = labelled_pair("cosine_mse", embeddings, labels)
    cosines = pairwise(u, v, "cosine")  # (B,)
    return F.mse_loss(cosines, scores.to(cosines))


def cosent(embeddings: Inputs, labels: Labels = None, *, scale: float = 20.0) -> Tensor:
    """CoSENT: ``log(1 + sum(exp(scale * (cos_j - cos_i))))`` over all i, j with ``label_i > label_j``.

    Inputs: two columns; labels (B,), of which only the order counts.
    Use it for graded pairs, where it usually beats :func:`cosine_mse`. It compares the pairs of a batch with each
    other, so a batch of one pair, or with equal labels only, has a loss of 0.

    >>> u, v = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> cosent([u, v], torch.tensor([0.0, 1.0]), scale=1.0)  # cosines 1 and 0, in the wrong order: log(1 + e)
    tensor(1.3133)
    """
    u, v, scores = labelled_pair("cosent", embeddings, labels)
    return out_of_order(pairwise(u, v, "cosine"), scores, scale)


def angle(embeddings: Inputs, labels: Labels = None, *, scale: float = 20.0) -> Tensor:
    """AnglE: :func:`cosent` with ``|Re + Im|`` of the complex product ``u * conj(v)`` instead of the cosine.

    Inputs: two columns; labels (B,), of which only the order counts. The first half of a vector holds the real
    parts, the second half the imaginary parts; both vectors are normalized.
    Use it like :func:`cosent` for very near and very far pairs, where the small gradient of the cosine slows learning.

    >>> u, v = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.6, 0.8]])
    >>> angle([u, v], torch.tensor([1.0, 0.0]), scale=1.0)  # 1 and |0.6 - 0.8|: log(1 + exp(0.2 - 1))
    tensor(0.3711)
    """
    u, v, scores = labelled_pair("angle", embeddings, labels)
    odd = u.shape[1] % 2  # a zero is appended to an odd dimension, so that there are two halves
    u, v = (F.normalize(F.pad(x, (0, odd)), dim=1) for x in (u, v))
    u_real, u_imaginary = u.chunk(2, dim=1)
    v_real, v_imaginary = v.chunk(2, dim=1)
    real = (u * v).sum(dim=1)
    imaginary = (u_imaginary * v_real - u_real * v_imaginary).sum(dim=1)
    return out_of_order((real + imaginary).abs(), scores, scale)


def out_of_order(scores: Tensor, labels: Tensor, scale: float) -> Tensor:
    """Smooth maximum of the amount by which a pair outscores a pair with a higher label: (B,), (B,) -> scalar."""
    above_zero("scale", scale)
    excess = scale * (scores[None, :] - scores[:, None])  # (B, B): score of pair j minus score of pair i
    excess = excess[labels[:, None] > labels[None, :]]
    return torch.cat([excess.new_zeros(1), excess]).logsumexp(dim=0)
