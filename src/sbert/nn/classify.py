"""Classifies a pair by the hidden state of its first token. Works on tensors only."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sbert.errors import check_option
from sbert.nn.heads import ACTIVATIONS
from sbert.nn.stable import linear
from sbert.types import Scale


class Classifier(nn.Module):
    """Dropout, a dense layer, an activation, dropout, and a projection to one logit per label.

    This covers the classification heads of all BERT-like models: BERT uses tanh and no first dropout, RoBERTa uses
    tanh and both dropouts, ELECTRA and DeBERTa use GELU, DistilBERT uses ReLU, and ModernBERT uses GELU and a layer
    normalisation before the last dropout.

    Args:
        size: H, the size of a hidden state.
        labels: L, the number of labels.
        activation: A name in :data:`~sbert.nn.heads.ACTIVATIONS`.
        dropout: Share of the values to drop, in training.
        drop_first: Whether to apply dropout before the dense layer as well.
        bias: Whether the dense layer has a bias.
        norm: The layer normalisation after the activation, if there is one.
        reads_mean: Whether the head reads the mean of all hidden states instead of that of the first token.

    >>> Classifier(32, 3, activation="gelu", dropout=0.1, drop_first=True)(torch.zeros(2, 32)).shape
    torch.Size([2, 3])
    """

    def __init__(
        self,
        size: int,
        labels: int,
        *,
        activation: str,
        dropout: float,
        drop_first: bool,
        bias: bool = True,
        norm: nn.LayerNorm | None = None,
        reads_mean: bool = False,
    ) -> None:
        super().__init__()
        check_option("activation", activation, ACTIVATIONS)
        self.before = nn.Dropout(dropout if drop_first else 0.0)
        self.dense = nn.Linear(size, size, bias=bias)
        self.activation = ACTIVATIONS[activation]()
        self.norm = norm
        self.reads_mean = reads_mean
        self.after = nn.Dropout(dropout)
        self.projection = nn.Linear(size, labels)

    def forward(self, x: Tensor) -> Tensor:
        """Compute logits: (B, H) -> (B, L)."""
        x = self.activation(self.dense(self.before(x)))
        x = self.after(x if self.norm is None else self.norm(x))
        return linear(x, self.projection.weight, self.projection.bias)

    def draw(self, deviation: float, seed: int) -> None:
        """Draw new weights from a normal distribution with this standard deviation, and set the biases to zero."""
        generator = torch.Generator().manual_seed(seed)
        for layer in (self.dense, self.projection):
            nn.init.normal_(layer.weight, std=deviation, generator=generator)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


def usual_scale(labels: int) -> Scale:
    """Return the scale of a head that does not name one: a sigmoid for one label, the logits for several."""
    return "sigmoid" if labels == 1 else "identity"
