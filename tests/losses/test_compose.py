"""Losses made of losses: hand-computed values, sentence-transformers, weights that are found and saved."""

from __future__ import annotations

import pickle
from functools import partial

import pytest
import torch
from sentence_transformers.sentence_transformer import losses as theirs
from torch import nn

from sbert.errors import BadInput
from sbert.losses import (
    SoftmaxClassifier,
    WeightedSum,
    cosine_mse,
    embedding_mse,
    info_nce,
    matryoshka,
    triplet,
    weighted_sum,
)

NLI = ["contradiction", "entailment", "neutral"]


def test_matryoshka_by_hand():
    u, v = torch.tensor([[3.0, 4.0, 0.0]]), torch.tensor([[1.0, 0.0, 0.0]])
    loss = matryoshka(cosine_mse, dims=[3, 1], weights=[2.0, 0.5])  # cosines 0.6 and 1
    assert loss([u, v], torch.tensor([0.5])).item() == pytest.approx(2 * 0.01 + 0.5 * 0.25)


@pytest.mark.parametrize("weights", [None, [1.0, 0.5, 0.25]])
@pytest.mark.parametrize("seed", range(2))
def test_matryoshka_as_sentence_transformers(seed, weights, columns, given, agree):
    dims = [5, 3, 2]
    inner = theirs.MultipleNegativesRankingLoss(given)
    agree(
        matryoshka(info_nce, dims, weights), theirs.MatryoshkaLoss(given, inner, dims, weights), columns(3, seed), None
    )
    inner = theirs.TripletLoss(given, triplet_margin=1.0)  # Euclidean: here the length of the cut vectors counts
    agree(
        matryoshka(triplet, dims, weights), theirs.MatryoshkaLoss(given, inner, dims, weights), columns(3, seed), None
    )


def test_matryoshka_of_the_full_size_is_the_loss_itself(columns):
    pair = columns(2, 0)
    torch.testing.assert_close(matryoshka(info_nce, [5])(pair, None), info_nce(pair))


def test_matryoshka_refuses_a_loss_with_weights():
    softmax = SoftmaxClassifier(4, NLI)
    with pytest.raises(BadInput, match="SoftmaxClassifier, whose weights fit one size only"):
        matryoshka(softmax, [4, 2])
    with pytest.raises(BadInput, match="WeightedSum, whose weights fit one size only"):
        matryoshka(weighted_sum([(1.0, softmax)]), [4, 2])


def test_matryoshka_takes_a_sum_of_plain_losses(columns):
    three = columns(3, 0)
    both = matryoshka(weighted_sum([(1.0, info_nce), (2.0, triplet)]), [5, 2])
    apart = matryoshka(info_nce, [5, 2])(three, None) + 2 * matryoshka(triplet, [5, 2])(three, None)
    torch.testing.assert_close(both(three, None), apart)


@pytest.mark.parametrize(
    ("dims", "weights", "message"),
    [
        ([], None, "one or more whole numbers"),
        ([2, 0], None, "above 0"),
        ([2.5], None, "whole numbers"),
        ([2, 1], [1.0], "1 weights for 2 dims"),
    ],
)
def test_bad_dims(dims, weights, message):
    with pytest.raises(BadInput, match=message):
        matryoshka(info_nce, dims, weights)


def test_sizes_that_do_not_fit(columns):
    with pytest.raises(BadInput, match="hold 8, but the embeddings have 5"):
        matryoshka(info_nce, [8, 4])(columns(2, 0), None)
    with pytest.raises(BadInput, match=r"teacher vectors of shape \(6, 5\), but needs \(6, 2\)"):
        matryoshka(embedding_mse, [2])(columns(1, 0), columns(1, 1)[0])


def test_weighted_sum_by_hand():
    u, v = torch.tensor([[3.0, 4.0]]), torch.tensor([[1.0, 0.0]])
    value = weighted_sum([(2.0, cosine_mse), (0.5, partial(info_nce, scale=1.0))])([u, v], torch.tensor([0.5]))
    assert value.item() == pytest.approx(2 * 0.01 + 0.5 * 0)


def test_weighted_sum_finds_the_weights_within():
    softmax = SoftmaxClassifier(4, NLI)
    both = weighted_sum([(1.0, softmax), (0.1, info_nce)])
    nested = weighted_sum([(1.0, both), (1.0, matryoshka(info_nce, [4, 2]))])
    assert isinstance(nested, nn.Module)
    assert {id(weight) for weight in nested.parameters()} == {id(softmax.linear.weight), id(softmax.linear.bias)}
    pair, labels = [torch.randn(3, 4), torch.randn(3, 4)], torch.tensor([0, 1, 2])
    nested(pair, labels).backward()
    assert softmax.linear.weight.grad is not None
    assert softmax.linear.weight.grad.abs().max() > 0

    other = weighted_sum([(1.0, weighted_sum([(1.0, SoftmaxClassifier(4, NLI)), (0.1, info_nce)]))])
    other.load_state_dict(nested.state_dict())
    assert torch.equal(other(pair, labels), both(pair, labels))


def test_weighted_sum_of_plain_losses_has_no_weights():
    assert list(weighted_sum([(1.0, info_nce), (1.0, triplet)]).parameters()) == []


def test_weighted_sum_of_nothing():
    with pytest.raises(BadInput, match="no losses"):
        weighted_sum([])


def test_compositions_travel_between_processes(columns):
    loss = weighted_sum([(1.0, matryoshka(info_nce, [5, 2])), (0.5, triplet)])
    copy = pickle.loads(pickle.dumps(loss))
    assert isinstance(copy, WeightedSum)
    assert torch.equal(copy(columns(3, 0)), loss(columns(3, 0)))
