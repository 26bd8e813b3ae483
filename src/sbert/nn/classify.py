"""Scores a pair from the hidden state of its first token. Knows tensors only: no strings, no files."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sbert.errors import check_option
from sbert.nn.heads import ACTIVATIONS
from sbert.types import Scale


class Classifier(nn.Module):
    """Dropout, a dense layer, its activation, dropout again, and a projection to one number a label.

    Every BERT-like classification head is this one: BERT's has tanh and no first dropout, RoBERTa's both, ELECTRA's
    GELU, DistilBERT's ReLU.

    >>> Classifier(32, 3, activation="gelu", dropout=0.1, drop_first=True)(torch.zeros(2, 32)).shape
    torch.Size([2, 3])
    """

    def __init__(self, size: int, labels: int, *, activation: str, dropout: float, drop_first: bool) -> None:
        super().__init__()
        check_option("activation", activation, ACTIVATIONS)
        self.before = nn.Dropout(dropout if drop_first else 0.0)
        self.dense = nn.Linear(size, size)
        self.activation = ACTIVATIONS[activation]()
        self.after = nn.Dropout(dropout)
        self.projection = nn.Linear(size, labels)

    def forward(self, x: Tensor) -> Tensor:
        """(B, H) -> (B, L), not yet on any scale."""
        x = self.after(self.activation(self.dense(self.before(x))))
        # One column alone would be a product of matrix and vector, which rounds a row otherwise at another place.
        copies = 2 if self.projection.out_features == 1 else 1
        logits = F.linear(x, self.projection.weight.repeat(copies, 1), self.projection.bias.repeat(copies))
        return logits[:, : self.projection.out_features]

    def draw(self, deviation: float, seed: int) -> None:
        """New weights, the same in every process: normal with this deviation; biases 0."""
        generator = torch.Generator().manual_seed(seed)
        for layer in (self.dense, self.projection):
            nn.init.normal_(layer.weight, std=deviation, generator=generator)
            nn.init.zeros_(layer.bias)


def usual_scale(labels: int) -> Scale:
    """What makes scores of the logits of a head where nothing is said: a share of one for one label, else nothing."""
    return "sigmoid" if labels == 1 else "identity"
