"""Graded pairs: hand-computed values, sentence-transformers, and what the labels may be."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given as hypothesis_given
from hypothesis import strategies as st
from sentence_transformers.sentence_transformer import losses as theirs

from sbert.errors import BadInput
from sbert.losses import angle, cosent, cosine_mse

U = torch.tensor([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
V = torch.tensor([[5.0, 0.0], [3.0, 4.0], [1.0, 0.0]])  # cosines 1, 0.6, 0


def test_cosine_mse_by_hand():
    assert cosine_mse([U, V], torch.tensor([1.0, 0.5, 0.2])).item() == pytest.approx((0 + 0.01 + 0.04) / 3)


def test_cosent_by_hand():
    # Order of the labels: pair 1 above pair 0 above pair 2.
    expected = math.log(1 + math.exp(2 * (1 - 0.6)) + math.exp(2 * (0 - 0.6)) + math.exp(2 * (0 - 1)))
    assert cosent([U, V], torch.tensor([0.5, 0.9, 0.1]), scale=2.0).item() == pytest.approx(expected)


def test_angle_by_hand():
    # As complex numbers of length one: 1 and 1; 1 and 0.6 + 0.8i; i and 1. |Re + Im| of u * conj(v): 1, 0.2, 1.
    expected = math.log(1 + math.exp(2 * (0.2 - 1)) + math.exp(0) + math.exp(2 * (0.2 - 1)))
    assert angle([U, V], torch.tensor([0.9, 0.1, 0.5]), scale=2.0).item() == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(4))
def test_as_sentence_transformers(seed, columns, given, agree):
    labels = torch.tensor([0.0, 0.2, 0.2, 0.8, 1.0, 0.5])
    for dim in (5, 6):  # AnglE pads an odd dimension
        pair = columns(2, seed, dim=dim)
        agree(cosine_mse, theirs.CosineSimilarityLoss(given), pair, labels)
        agree(cosent, theirs.CoSENTLoss(given), pair, labels)
        agree(angle, theirs.AnglELoss(given), pair, labels)


def test_defaults_are_those_of_sentence_transformers(given):
    assert theirs.CoSENTLoss(given).scale == cosent.__kwdefaults__["scale"] == angle.__kwdefaults__["scale"] == 20.0


@hypothesis_given(st.permutations([0.1, 0.2, 0.5, 0.6]))
def test_ranking_losses_see_only_the_order_of_labels(labels):
    torch.manual_seed(0)
    pair = [torch.randn(4, 6, dtype=torch.float64), torch.randn(4, 6, dtype=torch.float64)]
    straight, bent = torch.tensor(labels), torch.tensor(labels) ** 3 * 10
    assert torch.equal(cosent(pair, straight), cosent(pair, bent))
    assert torch.equal(angle(pair, straight), angle(pair, bent))


@pytest.mark.parametrize("loss", [cosent, angle])
def test_equal_labels_teach_nothing(loss):
    u = U.clone().requires_grad_()
    value = loss([u, V], torch.ones(3))
    value.backward()
    assert value.item() == 0
    assert u.grad is not None
    assert torch.equal(u.grad, torch.zeros(3, 2))


@pytest.mark.parametrize("loss", [cosine_mse, cosent, angle])
def test_labels_of_shape_b_1_are_not_broadcast(loss):
    labels = torch.tensor([0.5, 0.9, 0.1])
    assert torch.equal(loss([U, V], labels[:, None]), loss([U, V], labels))
    with pytest.raises(BadInput, match=r"shape \(2,\) for 3 rows"):
        loss([U, V], labels[:2])


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, math.inf])
def test_the_scale_is_above_zero(scale):
    with pytest.raises(BadInput, match="above 0"):
        cosent([U, V], torch.ones(3), scale=scale)
