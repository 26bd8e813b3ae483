"""In-batch negatives: hand-computed values, sentence-transformers, and what must not change the loss."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given as hypothesis_given
from hypothesis import settings
from hypothesis import strategies as st
from sentence_transformers import util
from sentence_transformers.sentence_transformer import losses as theirs

from sbert.errors import BadInput, BadOption
from sbert.losses import info_nce

THEIRS = {"cosine": util.cos_sim, "dot": util.dot_score}


def test_by_hand():
    anchors = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    positives = torch.tensor([[3.0, 4.0], [0.0, 2.0]])  # cosines 0.6, 0 and 0.8, 1
    there = (math.log(1 + math.exp(2 * (0 - 0.6))) + math.log(1 + math.exp(2 * (0.8 - 1)))) / 2
    back = (math.log(1 + math.exp(2 * (0.8 - 0.6))) + math.log(1 + math.exp(2 * (0 - 1)))) / 2
    assert info_nce([anchors, positives], scale=2.0).item() == pytest.approx(there)
    assert info_nce([anchors, positives], scale=2.0, symmetric=True).item() == pytest.approx((there + back) / 2)


def test_hard_negatives_by_hand():
    anchor, positive, negative = torch.tensor([[1.0, 0.0]]), torch.tensor([[2.0, 0.0]]), torch.tensor([[0.5, 1.0]])
    value = info_nce([anchor, positive, negative], scale=1.0, similarity="dot")
    assert value.item() == pytest.approx(math.log(1 + math.exp(0.5 - 2)))


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("similarity", THEIRS)
@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("seed", range(2))
def test_as_sentence_transformers(seed, count, similarity, symmetric, columns, given, agree):
    directions = ("query_to_doc", "doc_to_query") if symmetric else ("query_to_doc",)
    reference = theirs.MultipleNegativesRankingLoss(
        given, scale=3.0, similarity_fct=THEIRS[similarity], directions=directions, partition_mode="per_direction"
    )
    agree(
        lambda e, y: info_nce(e, y, scale=3.0, similarity=similarity, symmetric=symmetric),
        reference,
        columns(count, seed),
        None,
    )


def test_the_default_scale_is_that_of_sentence_transformers(given):
    assert theirs.MultipleNegativesRankingLoss(given).scale == info_nce.__kwdefaults__["scale"]


@settings(max_examples=30)
@hypothesis_given(st.integers(1, 6), st.integers(0, 1000), st.floats(0.1, 10))
def test_what_leaves_it_unchanged(rows, seed, length):
    generator = torch.Generator().manual_seed(seed)
    a, b, c, d = (torch.randn(rows, 4, generator=generator, dtype=torch.float64) for _ in range(4))
    assert torch.allclose(info_nce([a, b], symmetric=True), info_nce([b, a], symmetric=True))
    assert torch.allclose(info_nce([a, b, c, d]), info_nce([a, b, d, c]))
    assert torch.allclose(info_nce([a, b]), info_nce([length * a, b]))
    assert info_nce([a, b, c]) >= info_nce([a, b])  # more candidates are never easier


def test_a_batch_of_one_has_nothing_to_rank():
    pair = torch.randn(1, 3, requires_grad=True), torch.randn(1, 3)
    value = info_nce(pair)
    value.backward()
    assert value.item() == 0
    assert pair[0].grad is not None
    assert torch.equal(pair[0].grad, torch.zeros(1, 3))


def test_bad_options():
    pair = [torch.eye(2), torch.eye(2)]
    with pytest.raises(BadOption, match="'cosine', 'dot'"):
        info_nce(pair, similarity="euclidean")
    with pytest.raises(BadInput, match="scale is 0"):
        info_nce(pair, scale=0)
