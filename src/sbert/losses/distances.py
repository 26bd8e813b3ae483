"""How far apart vectors are: the measures that triplets and contrastive pairs share. Knows tensors only.

Where two vectors are equal, the gradient of their distance is 0, not NaN.
"""

from __future__ import annotations

from typing import Literal, get_args

from torch import Tensor

from sbert.errors import check_option
from sbert.nn.similarity import all_pairs, pairwise

Distance = Literal["euclidean", "manhattan", "cosine"]
"""The cosine distance is 1 - cos."""


def of_rows(a: Tensor, b: Tensor, distance: Distance) -> Tensor:
    """(B, D), (B, D) -> (B,): row i of ``a`` from row i of ``b``."""
    check_option("distance", distance, get_args(Distance))
    return _from_similarity(pairwise(a, b, distance), distance)


def of_all(vectors: Tensor, distance: Distance) -> Tensor:
    """(B, D) -> (B, B): every row from every row."""
    check_option("distance", distance, get_args(Distance))
    return _from_similarity(all_pairs(vectors, vectors, distance), distance)


def _from_similarity(similarity: Tensor, distance: Distance) -> Tensor:
    return 1 - similarity if distance == "cosine" else -similarity
