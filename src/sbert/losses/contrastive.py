"""Losses of pairs of texts that are similar or not. Works on embeddings and labels only."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.losses import distances
from sbert.losses.distances import Distance
from sbert.losses.inputs import columns, row_labels


def contrastive(
    embeddings: Sequence[Tensor],
    labels: Tensor | None = None,
    *,
    margin: float = 0.5,
    distance: Distance = "cosine",
) -> Tensor:
    """Contrastive loss: ``mean(y * d^2 + (1 - y) * max(margin - d, 0)^2) / 2``.

    Inputs: two columns; labels y (B,), 1 for similar and 0 for dissimilar pairs.
    Use it for pairs with a label of 0 or 1, such as duplicate questions.

    >>> u, v = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    >>> contrastive([u, v], torch.tensor([1, 0]))  # distances 1 and 0: (1 + 0.25) / 2 / 2
    tensor(0.3125)
    """
    u, v = columns("contrastive", embeddings, 2, 2)
    gaps = distances.of_rows(u, v, distance)  # (B,)
    alike = row_labels("contrastive", labels, len(u)).to(gaps)
    return (alike * gaps.square() + (1 - alike) * F.relu(margin - gaps).square()).mean() / 2


def online_contrastive(
    embeddings: Sequence[Tensor],
    labels: Tensor | None = None,
    *,
    margin: float = 0.5,
    distance: Distance = "cosine",
) -> Tensor:
    """:func:`contrastive` loss of the hard pairs only: ``sum(d^2) + sum(max(margin - d, 0)^2)``.

    Inputs: two columns; labels (B,), 1 for similar and 0 for dissimilar pairs. A similar pair is hard if it is
    farther apart than the nearest dissimilar pair; a dissimilar pair is hard if it is nearer than the farthest similar
    pair. If a batch has only one kind of pair, those on the wrong side of its mean distance are hard. As in
    sentence-transformers, the loss is a sum, so it grows with the batch.
    Use it like :func:`contrastive`; with large batches it usually learns more.

    >>> u, v = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    >>> online_contrastive([u, v], torch.tensor([1, 0]))  # both are hard: 1 + 0.25
    tensor(1.2500)
    """
    u, v = columns("online_contrastive", embeddings, 2, 2)
    gaps = distances.of_rows(u, v, distance)  # (B,)
    labels = row_labels("online_contrastive", labels, len(u))
    alike, unlike = gaps[labels == 1], gaps[labels == 0]
    far = alike[alike > (unlike.min() if len(unlike) else alike.mean())]
    near = unlike[unlike < (alike.max() if len(alike) else unlike.mean())]
    return torch.cat([far, F.relu(margin - near)]).square().sum()
