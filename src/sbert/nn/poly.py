"""The poly-encoder's two steps, of Humeau et al. (2020). Knows tensors only: no strings, no files.

A query becomes M vectors, its codes; a document stays one vector. A vector looks for what suits it among the codes:
more than one dot product, and far less than reading both texts together. As in the paper there is no further layer,
no normalisation and no scale.

A code that is zero throughout stands for none: a text shorter than M tokens has no more first tokens than tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.nn.attention import texts
from sbert.types import Group

_ROWS = 16


def attend(hidden: Tensor, groups: Sequence[Group], codes: Tensor) -> Tensor:
    """(T, H), learned codes (M, H) -> (B, M, H): for each code the mean of a text's tokens, by their likeness to it.

    >>> hidden = torch.tensor([[0.0, 4.0], [0.0, 6.0], [7.0, 7.0]])  # a text of two tokens, a text of one
    >>> attend(hidden, [Group(1, 2), Group(1, 1)], codes=torch.tensor([[1.0, 0.0]]))
    tensor([[[0., 5.]],
    <BLANKLINE>
            [[7., 7.]]])
    """
    # With rows that are no multiple of this, the kernel's threads work at addresses at which sums round otherwise.
    asked = F.pad(codes, (0, 0, 0, -len(codes) % _ROWS))
    read = []
    for tokens in texts(hidden, groups):  # (n, L, H)
        keys = tokens.unsqueeze(1)  # one head, as wide as the model
        read.append(F.scaled_dot_product_attention(asked.expand(len(tokens), 1, -1, -1), keys, keys, scale=1.0))
    return torch.cat(read).squeeze(1)[:, : len(codes)]


def first_tokens(hidden: Tensor, groups: Sequence[Group], number: int) -> Tensor:
    """(T, H) -> (B, number, H): each text's first tokens as its codes; zero where there are no more.

    >>> first_tokens(torch.tensor([[1.0], [2.0], [3.0]]), [Group(1, 3)], 2)
    tensor([[[1.],
             [2.]]])
    """
    return torch.cat(
        [F.pad(tokens[:, :number], (0, 0, 0, max(0, number - tokens.shape[1]))) for tokens in texts(hidden, groups)]
    )


def score(codes: Tensor, vectors: Tensor) -> Tensor:
    """(..., M, H) of queries, (..., N, H) of documents -> (..., N).

    The document attends over the codes, and the result is its dot product with what it found. As that is a mean of
    codes, the dot product is the same mean of its products with the codes, which are there already.

    >>> codes = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> score(codes, torch.tensor([[0.0, 0.0], [9.0, 0.0]]))  # equal weights; nearly all weight on the first
    tensor([0.0000, 8.9989])
    """
    products = vectors @ codes.mT  # (..., N, M)
    absent = ~codes.any(dim=-1).unsqueeze(-2)  # (..., 1, M)
    weights = products.masked_fill(absent, -torch.inf).softmax(dim=-1)
    return (weights * products).sum(dim=-1)
