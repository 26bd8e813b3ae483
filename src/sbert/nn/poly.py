"""Computes the codes of a query and compares them with documents (Humeau et al., 2020). Works on tensors only.

A query is represented by M vectors, its codes, and a document by one vector, which attends to the codes. This costs
more than one dot product, but far less than processing both texts together. As in the paper, there is no further
layer, no normalisation and no scale. A zero vector marks a missing code: with the first tokens as codes, a text of
fewer than M tokens has fewer codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from itertools import product

import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.nn.attention import by_text
from sbert.nn.stable import aligned_rows, fill, pad
from sbert.nn.threads import on_cores, thread_count
from sbert.types import Group

_DOCUMENTS_AT_ONCE = 8192


def attend(hidden: Tensor, groups: Sequence[Group], codes: Tensor) -> Tensor:
    """Compute for each learned code the mean of a text's tokens, weighted by similarity: (T, H), (M, H) -> (B, M, H).

    >>> hidden = torch.tensor([[0.0, 4.0], [0.0, 6.0], [7.0, 7.0]])  # a text of two tokens, a text of one
    >>> attend(hidden, [Group(1, 2), Group(1, 1)], codes=torch.tensor([[1.0, 0.0]]))
    tensor([[[0., 5.]],
    <BLANKLINE>
            [[7., 7.]]])
    """
    queries = pad(codes, aligned_rows(len(codes)))
    found = []
    for tokens in by_text(hidden, groups):  # (n, L, H)
        keys = tokens.unsqueeze(1)  # (n, 1, L, H): one head, as wide as the model
        found.append(F.scaled_dot_product_attention(queries.expand(len(tokens), 1, -1, -1), keys, keys, scale=1.0))
    return torch.cat(found).squeeze(1)[:, : len(codes)]


def first_tokens(hidden: Tensor, groups: Sequence[Group], number: int) -> Tensor:
    """Return the first tokens of each text as its codes, padded with zeros: (T, H) -> (B, number, H).

    >>> first_tokens(torch.tensor([[1.0], [2.0], [3.0]]), [Group(1, 3)], 2)
    tensor([[[1.],
             [2.]]])
    """
    return torch.cat(
        [F.pad(tokens[:, :number], (0, 0, 0, max(0, number - tokens.shape[1]))) for tokens in by_text(hidden, groups)]
    )


def score(codes: Tensor, vectors: Tensor) -> Tensor:
    """Score documents for queries: (..., M, H), (..., N, H) -> (..., N).

    A document attends to the codes, and its score is its dot product with the result. As the result is a weighted
    mean of codes, the score is the weighted mean of the document's dot products with the codes.

    >>> codes = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> score(codes, torch.tensor([[0.0, 0.0], [9.0, 0.0]]))  # equal weights; nearly all weight on the first
    tensor([0.0000, 8.9989])
    """
    products = vectors @ codes.mT  # (..., N, M)
    absent = ~codes.any(dim=-1).unsqueeze(-2)  # (..., 1, M)
    weights = products.masked_fill(absent, -torch.inf).softmax(dim=-1)
    return (weights * products).sum(dim=-1)


def stable_scores(codes: Tensor, vectors: Tensor) -> Tensor:
    """Score every document for every query, each score independent of all others: (Q, M, H), (N, H) -> (Q, N)."""

    def compute(block: tuple[int, int]) -> Tensor:
        query, start = block
        some = vectors[start : start + _DOCUMENTS_AT_ONCE]
        return score(fill(codes[query], 2), fill(some))[: len(some)]

    scores = vectors.new_empty(len(codes), len(vectors))
    blocks = product(range(len(codes)), range(0, len(vectors), _DOCUMENTS_AT_ONCE))
    with closing(on_cores(thread_count(), compute, blocks)) as results:
        for (query, start), result in results:
            scores[query, start : start + len(result)] = result
    return scores
