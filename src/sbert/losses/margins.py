"""Losses of the distances of similar and dissimilar texts, or of triplets, given or found in the batch.

Works on embeddings and labels only. The gradient of the distance of two equal vectors is 0, not NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.errors import check_option
from sbert.losses.inputs import Distance, Inputs, Labels, columns, labelled_pair, row_labels
from sbert.nn.similarity import all_pairs, pairwise


def contrastive(
    embeddings: Inputs, labels: Labels = None, *, margin: float = 0.5, distance: Distance = "cosine"
) -> Tensor:
    """Contrastive loss: ``mean(y * d^2 + (1 - y) * max(margin - d, 0)^2) / 2``.

    Inputs: two columns; labels y (B,), 1 for similar and 0 for dissimilar pairs.
    Use it for pairs with a label of 0 or 1, such as duplicate questions.

    >>> u, v = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    >>> contrastive([u, v], torch.tensor([1, 0]))  # distances 1 and 0: (1 + 0.25) / 2 / 2
    tensor(0.3125)
    """
    u, v, alike = labelled_pair("contrastive", embeddings, labels)
    gaps = _distances(u, v, distance)  # (B,)
    alike = alike.to(gaps)
    return (alike * gaps.square() + (1 - alike) * F.relu(margin - gaps).square()).mean() / 2


def online_contrastive(
    embeddings: Inputs, labels: Labels = None, *, margin: float = 0.5, distance: Distance = "cosine"
) -> Tensor:
    """:func:`contrastive` loss of the hard pairs only: ``sum(d^2) + sum(max(margin - d, 0)^2)``.

    Inputs: those of :func:`contrastive`. A similar pair is hard if it is farther apart than the nearest dissimilar
    pair; a dissimilar pair is hard if it is nearer than the farthest similar pair. If a batch has only one kind of
    pair, those on the wrong side of its mean distance are hard. As in sentence-transformers, the loss is a sum, so it
    grows with the batch.
    Use it like :func:`contrastive`; with large batches it usually learns more.

    >>> u, v = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    >>> online_contrastive([u, v], torch.tensor([1, 0]))  # both are hard: 1 + 0.25
    tensor(1.2500)
    """
    u, v, labels = labelled_pair("online_contrastive", embeddings, labels)
    gaps = _distances(u, v, distance)  # (B,)
    alike, unlike = gaps[labels == 1], gaps[labels == 0]
    far = alike[alike > (unlike.min() if len(unlike) else alike.mean())]
    near = unlike[unlike < (alike.max() if len(alike) else unlike.mean())]
    return torch.cat([far, F.relu(margin - near)]).square().sum()


def triplet(
    embeddings: Inputs, labels: Labels = None, *, margin: float = 1.0, distance: Distance = "euclidean"
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
    return _violations(_distances(anchor, positive, distance) - _distances(anchor, negative, distance), margin).mean()


def batch_hard(
    embeddings: Inputs, labels: Labels = None, *, margin: float | None = 5.0, distance: Distance = "euclidean"
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
    gaps, positives, negatives = _compared("batch_hard", embeddings, labels, distance)
    mined = positives.any(dim=1) & negatives.any(dim=1)  # (B,)
    farthest = gaps.where(positives, -torch.inf).amax(dim=1)
    nearest = gaps.where(negatives, torch.inf).amin(dim=1)
    return _mean(_violations(farthest[mined] - nearest[mined], margin))


def batch_semi_hard(
    embeddings: Inputs, labels: Labels = None, *, margin: float | None = 5.0, distance: Distance = "euclidean"
) -> Tensor:
    """Triplet loss of each pair of one class and the nearest negative that is farther away than the positive.

    If no negative is farther away, the farthest negative is used. Inputs, margin and texts that are left out: see
    :func:`batch_hard`.
    Use it if :func:`batch_hard` collapses.

    >>> texts = torch.tensor([[0.0], [1.0], [3.0], [7.0]])
    >>> batch_semi_hard([texts], torch.tensor([0, 0, 1, 1]))  # (1-3+5 + 1-2+5 + 4-3+5 + 4-6+5) / 4
    tensor(4.)
    """
    to_positive, gaps, negatives = _pairs("batch_semi_hard", embeddings, labels, distance)
    beyond = gaps.where(negatives & (gaps > to_positive), torch.inf).amin(dim=1)
    farthest = gaps.where(negatives, -torch.inf).amax(dim=1)
    to_negative = beyond.where(beyond.isfinite(), farthest)
    return _mean(_violations(to_positive[:, 0] - to_negative, margin))


def batch_all(
    embeddings: Inputs, labels: Labels = None, *, margin: float | None = 5.0, distance: Distance = "euclidean"
) -> Tensor:
    """Mean loss of all triplets of the batch that violate the margin.

    Inputs, margin and texts that are left out: see :func:`batch_hard`. With the soft margin every triplet counts.
    Use it for noisy labels or small classes: no single text dominates.

    >>> texts = torch.tensor([[0.0], [1.0], [3.0], [7.0]])
    >>> batch_all([texts], torch.tensor([0, 0, 1, 1]))  # (3 + 4 + 6 + 7 + 2 + 3) / 6, and two that are 0
    tensor(4.1667)
    """
    to_positive, gaps, negatives = _pairs("batch_all", embeddings, labels, distance)
    violations = _violations((to_positive - gaps)[negatives], margin)  # (triplets,)
    return _mean(violations[violations > 0])


def _distances(a: Tensor, b: Tensor, distance: Distance, compare: Callable[..., Tensor] = pairwise) -> Tensor:
    """Distances of row i of ``a`` and row i of ``b``, (B,), or with ``compare=all_pairs`` of all rows, (B, B)."""
    check_option("distance", distance, get_args(Distance))
    similarity = compare(a, b, distance)
    return 1 - similarity if distance == "cosine" else -similarity


def _compared(loss: str, embeddings: Inputs, labels: Labels, distance: Distance) -> tuple[Tensor, Tensor, Tensor]:
    """Compare all texts of a batch: distances, which are positives, which are negatives; (B, B), rows are anchors."""
    (texts,) = columns(loss, embeddings, 1, 1)
    classes = row_labels(loss, labels, len(texts))
    same = classes[:, None] == classes[None, :]
    itself = torch.eye(len(texts), dtype=torch.bool, device=same.device)
    return _distances(texts, texts, distance, all_pairs), same & ~itself, ~same


def _pairs(loss: str, embeddings: Inputs, labels: Labels, distance: Distance) -> tuple[Tensor, Tensor, Tensor]:
    """Find the P pairs of an anchor and a positive whose anchor also has a negative.

    Returns the distances to the positive (P, 1) and to all texts (P, B), and which of these are negatives (P, B).
    """
    gaps, positives, negatives = _compared(loss, embeddings, labels, distance)
    anchors, partners = (positives & negatives.any(dim=1, keepdim=True)).nonzero(as_tuple=True)
    return gaps[anchors, partners][:, None], gaps[anchors], negatives[anchors]


def _violations(gaps: Tensor, margin: float | None) -> Tensor:
    return F.softplus(gaps) if margin is None else F.relu(gaps + margin)


def _mean(values: Tensor) -> Tensor:
    """Return the mean, or 0 if there are no values."""
    return values.sum() / max(len(values), 1)
