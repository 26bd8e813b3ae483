"""The distances that triplet and contrastive losses use. Works on tensors only.

The gradient of the distance of two equal vectors is 0, not NaN.
"""

from __future__ import annotations

from typing import Literal, get_args

from torch import Tensor

from sbert.errors import check_option
from sbert.nn.similarity import all_pairs, pairwise

Distance = Literal["euclidean", "manhattan", "cosine"]
"""The cosine distance is 1 - cos."""


def of_rows(a: Tensor, b: Tensor, distance: Distance) -> Tensor:
    """Distance of row i of ``a`` and row i of ``b``: (B, D), (B, D) -> (B,)."""
    check_option("distance", distance, get_args(Distance))
    return _from_similarity(pairwise(a, b, distance), distance)


def of_all(vectors: Tensor, distance: Distance) -> Tensor:
    """Distances of all pairs of rows: (B, D) -> (B, B)."""
    check_option("distance", distance, get_args(Distance))
    return _from_similarity(all_pairs(vectors, vectors, distance), distance)


def _from_similarity(similarity: Tensor, distance: Distance) -> Tensor:
    return 1 - similarity if distance == "cosine" else -similarity
