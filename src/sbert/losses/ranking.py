"""Losses that rank the positive of a text above all other texts of the batch. Works on embeddings only."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.errors import check_option
from sbert.losses.inputs import Inputs, Labels, above_zero, columns, poly_columns
from sbert.nn.poly import score
from sbert.nn.similarity import all_pairs


def info_nce(
    embeddings: Inputs,
    labels: Labels = None,
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


def poly_nce(embeddings: Inputs, labels: Labels = None) -> Tensor:
    """Cross-entropy of each query's scores over all documents of the batch; the target is its own document.

    Inputs: columns query (B, M, H), matching document (B, H), and any number of hard negatives (B, H); labels are not
    used. As in the paper, the scores are dot products without a scale.
    Use it to train a poly-encoder to choose an answer, with batches as large as possible and no text twice in a batch.

    >>> codes = torch.tensor([[[9.0, 0.0]], [[0.0, 9.0]]])  # two queries of one code each
    >>> poly_nce([codes, codes[:, 0] / 81])  # scores 1 for the own document, 0 for the other: log(1 + 1 / e)
    tensor(0.3133)
    """
    queries, *documents = poly_columns("poly_nce", embeddings)
    candidates = torch.cat(documents)  # (columns * B, H)
    return F.cross_entropy(score(queries, candidates), torch.arange(len(queries), device=queries.device))
