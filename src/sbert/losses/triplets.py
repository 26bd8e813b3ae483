"""Losses that pull an anchor to its positive and push it from a negative, given or found in the batch.

Knows embeddings and labels, no model.
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

    Inputs: three columns anchor, positive, negative; labels are not read. The margin is the paper's; that of
    sentence-transformers is 5.
    Use it where each anchor has a negative worth learning from; :func:`~sbert.losses.ranking.info_nce` learns from
    the whole batch instead, and usually more.

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
    """Each text with its farthest positive and its nearest negative: ``mean(max(d(a, p) - d(a, n) + margin, 0))``.

    Inputs: one column of texts; labels (B,), classes: texts of one class are positives of each other. Batches need
    several texts of several classes. ``margin=None`` is the soft margin, ``log(1 + exp(d(a, p) - d(a, n)))``.
    A text with no positive or no negative in the batch is left out (sentence-transformers counts it with a made-up
    distance); if that leaves none, the loss is 0.
    Use it for clean classes; one wrong label is always among the hardest.

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
    """Every pair of one class with the nearest negative beyond the positive, or the farthest if none is beyond.

    Inputs, margin and what is left out: as :func:`batch_hard`.
    Use it where :func:`batch_hard` collapses: negatives nearer than the positive are met last.

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
    """Every triplet of the batch; the mean over those that are still violated.

    Inputs, margin and what is left out: as :func:`batch_hard`. With the soft margin every triplet counts.
    Use it where labels are noisy or classes small: no single text decides.

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
    """A batch compared with itself; each (B, B), rows are anchors."""

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
    """(P,) anchors and (P, 1) distances to their positives: all pairs of one class whose anchor has a negative."""
    anchors, positives = (batch.positives & batch.negatives.any(dim=1, keepdim=True)).nonzero(as_tuple=True)
    return anchors, batch.distances[anchors, positives][:, None]


def _violations(gaps: Tensor, margin: float | None) -> Tensor:
    return F.softplus(gaps) if margin is None else F.relu(gaps + margin)


def _mean(values: Tensor) -> Tensor:
    """The mean, and 0 of nothing, where the usual mean is NaN."""
    return values.sum() / max(len(values), 1)
