"""The loss that ranks the positive of a text above all other texts of the batch. Works on embeddings only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.errors import check_option
from sbert.losses.inputs import above_zero, columns
from sbert.nn.similarity import all_pairs


def info_nce(
    embeddings: Sequence[Tensor],
    labels: Tensor | None = None,
    *,
    scale: float = 20.0,
    similarity: Literal["cosine", "dot"] = "cosine",
    symmetric: bool = False,
) -> Tensor:
    """Multiple negatives ranking: cross-entropy of ``scale * s(a_i, c_j)`` over all candidates c; the target is c_i.

    Inputs: columns anchor, positive and any number of hard negatives; labels are not used. The candidates of an
    anchor are the positives and the hard negatives of the whole batch. ``symmetric`` takes the mean with the loss in
    the other direction, from positives to anchors. With "dot", a scale of 1 is usual.
    Use it for pairs that belong together (question and answer, paraphrases, entailment), with batches as large as
    possible and no text twice in a batch: the second occurrence would count as a negative.

    >>> pairs = torch.eye(2)
    >>> info_nce([pairs, pairs], scale=1.0)  # scores 1 for the partner, 0 for the other: log(1 + 1 / e)
    tensor(0.3133)
    """
    check_option("similarity", similarity, ("cosine", "dot"))
    above_zero("scale", scale)
    anchors, *candidates = columns("info_nce", embeddings, 2, None)
    scores = scale * all_pairs(anchors, torch.cat(candidates), similarity)  # (B, candidates * B)
    own = torch.arange(len(anchors), device=scores.device)
    loss = F.cross_entropy(scores, own)
    if symmetric:
        loss = (loss + F.cross_entropy(scores[:, : len(anchors)].T, own)) / 2
    return loss
