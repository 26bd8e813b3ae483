"""Losses of a poly-encoder, which gives a query several vectors and a document one. Works on tensors only.

The first column holds the codes of queries, (B, M, H); every other column holds vectors of documents, (B, H).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.errors import BadInput
from sbert.losses.compose import Loss
from sbert.nn.poly import score


def poly_nce(embeddings: Sequence[Tensor], labels: Tensor | None = None) -> Tensor:
    """Cross-entropy of each query's scores over all documents of the batch; the target is its own document.

    Inputs: columns query, matching document, and any number of hard negatives; labels are not used. As in the paper,
    the scores are dot products without a scale.
    Use it to train a poly-encoder to choose an answer, with batches as large as possible and no text twice in a batch.

    >>> codes = torch.tensor([[[9.0, 0.0]], [[0.0, 9.0]]])  # two queries of one code each
    >>> poly_nce([codes, codes[:, 0] / 81])  # scores 1 for the own document, 0 for the other: log(1 + 1 / e)
    tensor(0.3133)
    """
    queries, *documents = _columns("poly_nce", embeddings)
    candidates = torch.cat(documents)  # (columns * B, H)
    own = torch.arange(len(queries), device=queries.device)
    return F.cross_entropy(score(queries, candidates), own)


def poly_scores(loss: Loss) -> Loss:
    """Turn a loss of scores, such as ``mse`` or ``rank_net``, into one for a poly-encoder's queries and documents.

    >>> from sbert.losses import bce
    >>> codes = torch.tensor([[[1.0, 1.0]]])
    >>> poly_scores(bce)([codes, torch.zeros(1, 2)], torch.tensor([1.0]))  # a score of 0: -log(1/2)
    tensor(0.6931)
    """
    return partial(_of_scores, loss=loss)


def _of_scores(embeddings: Sequence[Tensor], labels: Tensor | None = None, *, loss: Loss) -> Tensor:
    queries, *documents = _columns("poly_scores", embeddings)
    return loss([score(queries, column[:, None]) for column in documents], labels)  # (B, 1) for each column


def _columns(loss: str, embeddings: Sequence[Tensor]) -> Sequence[Tensor]:
    """Check that the columns are the codes of queries and the vectors of one or more documents for each."""
    shapes = [tuple(column.shape) for column in embeddings]
    queries, documents = shapes[:1], set(shapes[1:])
    if not documents or len(queries[0]) != 3 or documents != {(queries[0][0], queries[0][2])}:
        listed = ", ".join(map(str, shapes)) or "none"
        raise BadInput(
            f"{loss} got columns of shape {listed}, but reads codes (B, M, H) and one or more columns of vectors "
            "(B, H); train a poly-encoder with a query and one or more documents a row"
        )
    return embeddings
