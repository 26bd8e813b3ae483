"""Four similarities against scipy and sentence-transformers."""

from __future__ import annotations

from typing import get_args

import pytest
import torch
from scipy.spatial.distance import cdist
from sentence_transformers import util

from sbert.errors import BadInput
from sbert.nn.similarity import all_pairs, pairwise
from sbert.types import Similarity

SCIPY = {"cosine": "cosine", "euclidean": "euclidean", "manhattan": "cityblock"}
THEIRS = {
    "cosine": util.cos_sim,
    "dot": util.dot_score,
    "euclidean": util.euclidean_sim,
    "manhattan": util.manhattan_sim,
}


@pytest.fixture
def vectors() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(40, 12), torch.randn(30, 12)


@pytest.mark.parametrize("measure", get_args(Similarity))
def test_all_pairs(vectors: tuple[torch.Tensor, torch.Tensor], measure: Similarity) -> None:
    a, b = vectors
    got = all_pairs(a, b, measure)
    assert torch.allclose(got, THEIRS[measure](a, b), atol=1e-5)
    if measure in SCIPY:
        distance = torch.tensor(cdist(a.double().numpy(), b.double().numpy(), SCIPY[measure])).float()
        assert torch.allclose(got, (1 - distance) if measure == "cosine" else -distance, atol=1e-6)


@pytest.mark.parametrize("measure", get_args(Similarity))
def test_pairwise_is_the_diagonal(vectors: tuple[torch.Tensor, torch.Tensor], measure: Similarity) -> None:
    a, b = vectors
    assert torch.allclose(pairwise(a[:30], b, measure), all_pairs(a[:30], b, measure).diagonal(), atol=1e-6)


def test_near_vectors_keep_their_digits() -> None:
    a = torch.ones(30, 384)
    b = a.clone()
    b[:, 0] += 1e-4
    assert torch.allclose(all_pairs(a, b, "euclidean"), torch.tensor(-1e-4), rtol=1e-3)


def test_single_vectors() -> None:
    assert all_pairs(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 2.0]), "euclidean").tolist() == [
        [pytest.approx(-(5**0.5))]
    ]


def test_sizes_must_fit() -> None:
    with pytest.raises(BadInput, match="3 and 4 dimensions"):
        all_pairs(torch.zeros(2, 3), torch.zeros(2, 4))
    with pytest.raises(BadInput, match="2 and 3 vectors"):
        pairwise(torch.zeros(2, 3), torch.zeros(3, 3))
