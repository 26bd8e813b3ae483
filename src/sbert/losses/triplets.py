"""Losses that move an anchor closer to a positive than to a negative, given or found in the batch.

Works on embeddings and labels only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.losses import distances
from sbert.losses.distances import Distance
from sbert.losses.inputs import columns, row_labels


def triplet(
    embeddings: Sequence[Tensor],
    labels: Tensor | None = None,
    *,
    margin: float = 1.0,
    distance: Distance = "euclidean",
) -> Tensor:
    """The paper's triplet objective: ``mean(max(d(a, p) - d(a, n) + margin, 0))``.

    Inputs: three columns anchor, positive, negative; labels are not used. The default margin is that of the paper;
    in sentence-transformers it is 5.
    Use it if each anchor has an informative negative. :func:`~sbert.losses.ranking.info_nce` learns from the whole
    batch instead, and usually learns more.

    >>> a, p, n = torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]]), torch.tensor([[0.0, 4.5]])
    >>> triplet([a, p, n])  # 5 - 4.5 + 1
    tensor(1.5000)
    """
    anchor, positive, negative = columns("triplet", embeddings, 3, 3)
    gaps = distances.of_rows(anchor, positive, distance) - distances.of_rows(anchor, negative, distance)
    return F.relu(gaps + margin).mean()


def batch_hard(
    embeddings: Sequence[Tensor],
    labels: Tensor | None = None,
    *,
    margin: float | None = 5.0,
    distance: Distance = "euclidean",
) -> Tensor:
    """Triplet loss of each text, its farthest positive and its nearest negative in the batch.

    Inputs: one column of texts; labels (B,), class ids: texts of one class are positives of each other. A batch needs
    several texts of several classes. ``margin=None`` is the soft margin, ``log(1 + exp(d(a, p) - d(a, n)))``.
    A text without a positive or a negative in the batch is left out (sentence-transformers counts it with an
    arbitrary distance); if no text is left, the loss is 0.
    Use it for labels without errors: a wrong label is always among the hardest triplets.

    >>> texts = torch.tensor([[0.0], [1.0], [3.0], [7.0]])
    >>> batch_hard([texts], torch.tensor([0, 0, 1, 1]))  # (1-3+5 + 1-2+5 + 4-2+5 + 4-6+5) / 4
    tensor(4.2500)
    """
    batch = _compare("batch_hard", embeddings, labels, distance)
    mined = batch.positives.any(dim=1) & batch.negatives.any(dim=1)  # (B,)
    farthest = batch.distances.where(batch.positives, -torch.inf).amax(dim=1)
    nearest = batch.distances.where(batch.negatives, torch.inf).amin(dim=1)
    return _mean(_violations(farthest[mined] - nearest[mined], margin))


def batch_semi_hard(
    embeddings: Sequence[Tensor],
    labels: Tensor | None = None,
    *,
    margin: float | None = 5.0,
    distance: Distance = "euclidean",
) -> Tensor:
    """Triplet loss of each pair of one class and the nearest negative that is farther away than the positive.

    If no negative is farther away, the farthest negative is used. Inputs, margin and texts that are left out: see
    :func:`batch_hard`.
    Use it if :func:`batch_hard` collapses.

    >>> texts = torch.tensor([[0.0], [1.0], [3.0], [7.0]])
    >>> batch_semi_hard([texts], torch.tensor([0, 0, 1, 1]))  # (1-3+5 + 1-2+5 + 4-3+5 + 4-6+5) / 4
    tensor(4.)
    """
    batch = _compare("batch_semi_hard", embeddings, labels, distance)
    anchors, to_positive = _pairs(batch)
    others, negatives = batch.distances[anchors], batch.negatives[anchors]  # (P, B)
    beyond = others.where(negatives & (others > to_positive), torch.inf).amin(dim=1)
    farthest = others.where(negatives, -torch.inf).amax(dim=1)
    to_negative = beyond.where(beyond.isfinite(), farthest)
    return _mean(_violations(to_positive[:, 0] - to_negative, margin))


def batch_all(
    embeddings: Sequence[Tensor],
    labels: Tensor | None = None,
    *,
    margin: float | None = 5.0,
    distance: Distance = "euclidean",
) -> Tensor:
    """Mean loss of all triplets of the batch that violate the margin.

    Inputs, margin and texts that are left out: see :func:`batch_hard`. With the soft margin every triplet counts.
    Use it for noisy labels or small classes: no single text dominates.

    >>> texts = torch.tensor([[0.0], [1.0], [3.0], [7.0]])
    >>> batch_all([texts], torch.tensor([0, 0, 1, 1]))  # (3 + 4 + 6 + 7 + 2 + 3) / 6, and two that are 0
    tensor(4.1667)
    """
    batch = _compare("batch_all", embeddings, labels, distance)
    anchors, to_positive = _pairs(batch)
    gaps = (to_positive - batch.distances[anchors])[batch.negatives[anchors]]  # (triplets,)
    violations = _violations(gaps, margin)
    return _mean(violations[violations > 0])


class _Compared(NamedTuple):
    """All pairs of a batch, each field (B, B); rows are anchors."""

    distances: Tensor
    positives: Tensor
    negatives: Tensor


def _compare(loss: str, embeddings: Sequence[Tensor], labels: Tensor | None, distance: Distance) -> _Compared:
    (texts,) = columns(loss, embeddings, 1, 1)
    classes = row_labels(loss, labels, len(texts))
    same = classes[:, None] == classes[None, :]
    itself = torch.eye(len(texts), dtype=torch.bool, device=same.device)
    return _Compared(distances.of_all(texts, distance), same & ~itself, ~same)


def _pairs(batch: _Compared) -> tuple[Tensor, Tensor]:
    """Find all pairs of one class whose anchor has a negative: (P,) anchors, (P, 1) distances to their positives."""
    anchors, positives = (batch.positives & batch.negatives.any(dim=1, keepdim=True)).nonzero(as_tuple=True)
    return anchors, batch.distances[anchors, positives][:, None]


def _violations(gaps: Tensor, margin: float | None) -> Tensor:
    return F.softplus(gaps) if margin is None else F.relu(gaps + margin)


def _mean(values: Tensor) -> Tensor:
    """Return the mean, or 0 if there are no values."""
    return values.sum() / max(len(values), 1)
