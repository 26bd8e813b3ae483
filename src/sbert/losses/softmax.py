"""The paper's classification objective, the only loss with weights. Works on embeddings and labels only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sbert.errors import BadInput, check_option, shown
from sbert.losses.inputs import columns, row_labels

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
    Use it for pairs with classes, such as NLI: contradiction, entailment, neutral. The layer is
    needed in training only; the trained vectors are compared by cosine.

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

    def logits(self, embeddings: Sequence[Tensor]) -> Tensor:
        """Compute the logits of two columns: (B, D), (B, D) -> (B, classes)."""
        u, v = columns("softmax", embeddings, 2, 2)
        result: Tensor = self.linear(torch.cat([_PARTS[part](u, v) for part in self.concat], dim=1))
        return result

    def forward(self, embeddings: Sequence[Tensor], labels: Tensor | None = None) -> Tensor:
        """Compute the loss of two columns (B, D) and their classes (B,)."""
        logits = self.logits(embeddings)
        return F.cross_entropy(logits, row_labels("softmax", labels, len(logits)))
