"""Triplets, given and mined: hand-computed values, sentence-transformers, a brute-force search, and empty batches."""

from __future__ import annotations

import math
from itertools import product

import pytest
import torch
from hypothesis import given as hypothesis_given
from hypothesis import strategies as st
from sentence_transformers import util
from sentence_transformers.sentence_transformer import losses as theirs

from sbert.errors import BadOption
from sbert.losses import batch_all, batch_hard, batch_semi_hard, triplet

LINE = torch.tensor([[0.0], [1.0], [3.0], [7.0]])
CLASSES = torch.tensor([0, 0, 1, 1])
MINERS = [batch_hard, batch_semi_hard, batch_all]
METRIC = theirs.TripletDistanceMetric
ROWS = {"euclidean": METRIC.EUCLIDEAN, "manhattan": METRIC.MANHATTAN, "cosine": METRIC.COSINE}
ALL = {
    "euclidean": theirs.BatchHardTripletLossDistanceFunction.euclidean_distance,
    "manhattan": lambda vectors: -util.manhattan_sim(vectors, vectors),
    "cosine": theirs.BatchHardTripletLossDistanceFunction.cosine_distance,
}


@pytest.mark.parametrize(
    ("distance", "expected"),
    [
        ("euclidean", (5 - 1 + 2 + 0) / 2),  # the second triplet: 0 - 5 + 2 is below 0
        ("manhattan", (7 - 1 + 2 + 0) / 2),
        ("cosine", (0.4 - 0 + 2 + 0 - 1 + 2) / 2),
    ],
)
def test_triplet_by_hand(distance, expected):
    anchor = torch.tensor([[3.0, 4.0], [1.0, 0.0]])
    if distance == "cosine":
        positive, negative = torch.tensor([[1.0, 0.0], [2.0, 0.0]]), torch.tensor([[6.0, 8.0], [0.0, 1.0]])
    else:
        positive, negative = torch.tensor([[0.0, 0.0], [1.0, 0.0]]), torch.tensor([[3.0, 3.0], [4.0, 4.0]])
    assert triplet([anchor, positive, negative], margin=2.0, distance=distance).item() == pytest.approx(expected)


@pytest.mark.parametrize("distance", ROWS)
@pytest.mark.parametrize("seed", range(3))
def test_triplet_as_sentence_transformers(seed, distance, columns, given, agree):
    reference = theirs.TripletLoss(given, distance_metric=ROWS[distance], triplet_margin=1.0)
    agree(lambda e, y: triplet(e, y, distance=distance), reference, columns(3, seed), None)


@pytest.mark.parametrize(
    ("miner", "gaps"),
    [
        (batch_hard, [1 - 3, 1 - 2, 4 - 2, 4 - 6]),
        (batch_semi_hard, [1 - 3, 1 - 2, 4 - 3, 4 - 6]),
        (batch_all, [1 - 3, 1 - 7, 1 - 2, 1 - 6, 4 - 3, 4 - 2, 4 - 7, 4 - 6]),
    ],
)
def test_miners_by_hand(miner, gaps):
    hinges = [max(gap + 1.5, 0) for gap in gaps]
    counted = [hinge for hinge in hinges if hinge] if miner is batch_all else hinges
    soft = [math.log(1 + math.exp(gap)) for gap in gaps]
    assert miner([LINE], CLASSES, margin=1.5).item() == pytest.approx(sum(hinges) / len(counted))
    assert miner([LINE], CLASSES, margin=None).item() == pytest.approx(sum(soft) / len(soft))


@pytest.mark.parametrize("distance", ALL)
@pytest.mark.parametrize("margin", [0.5, 5.0])
@pytest.mark.parametrize("seed", range(3))
def test_miners_as_sentence_transformers(seed, margin, distance, columns, given, agree):
    labels = torch.tensor([0, 1, 0, 2, 1, 2, 0, 2])
    texts = columns(1, seed, rows=8)
    for ours, cls in zip(
        MINERS, [theirs.BatchHardTripletLoss, theirs.BatchSemiHardTripletLoss, theirs.BatchAllTripletLoss], strict=True
    ):
        reference = cls(given, distance_metric=ALL[distance], margin=margin)
        agree(lambda e, y, ours=ours: ours(e, y, margin=margin, distance=distance), reference, texts, labels)


@pytest.mark.parametrize("seed", range(3))
def test_soft_margin_as_sentence_transformers(seed, columns, given, agree):
    labels = torch.tensor([0, 1, 0, 1, 1, 0])
    reference = theirs.BatchHardSoftMarginTripletLoss(given)
    agree(lambda e, y: batch_hard(e, y, margin=None), reference, columns(1, seed), labels)


def test_margins():
    assert triplet.__kwdefaults__["margin"] == 1.0  # the paper
    assert all(miner.__kwdefaults__["margin"] == 5.0 for miner in MINERS)  # sentence-transformers


@hypothesis_given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.integers(0, 1000))
def test_miners_against_looking_at_every_triplet(classes, seed):
    texts = torch.randn(len(classes), 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    d = torch.cdist(texts, texts).tolist()
    places = range(len(classes))
    triplets = [
        (a, p, n)
        for a, p, n in product(places, repeat=3)
        if a != p and classes[a] == classes[p] and classes[a] != classes[n]
    ]
    hinge = {(a, p, n): max(d[a][p] - d[a][n] + 1, 0.0) for a, p, n in triplets}
    hard = [max(hinge[t] for t in triplets if t[0] == anchor) for anchor in {t[0] for t in triplets}]
    semi = []
    for anchor, positive in {t[:2] for t in triplets}:
        negatives = [d[anchor][n] for a, p, n in triplets if (a, p) == (anchor, positive)]
        beyond = [gap for gap in negatives if gap > d[anchor][positive]]
        semi.append(max(d[anchor][positive] - (min(beyond) if beyond else max(negatives)) + 1, 0.0))
    violated = [value for value in hinge.values() if value > 0]
    for miner, values in [(batch_hard, hard), (batch_semi_hard, semi), (batch_all, violated)]:
        expected = sum(values) / len(values) if values else 0.0
        assert miner([texts], torch.tensor(classes), margin=1.0).item() == pytest.approx(expected)


def test_a_negative_as_far_as_the_positive_is_not_beyond_it():
    texts = torch.tensor([[0.0], [1.0], [-1.0], [-3.0]])  # from 0 both 1 and -1 are 1 away
    expected = (1 - 3 + 5 + 1 - 2 + 5 + 2 - 2 + 5 + 2 - 3 + 5) / 4
    assert batch_semi_hard([texts], CLASSES).item() == pytest.approx(expected)


def test_a_text_without_a_partner_is_left_out():
    with_loner = torch.cat([LINE, torch.tensor([[100.0]])])
    labels = torch.tensor([0, 0, 1, 1, 2])
    assert batch_hard([with_loner], labels).item() == batch_hard([LINE], CLASSES).item() == 4.25


@pytest.mark.parametrize("margin", [5.0, None])
@pytest.mark.parametrize("distance", ALL)
@pytest.mark.parametrize("miner", MINERS)
@pytest.mark.parametrize("classes", [[0], [0, 0, 0], [0, 1, 2]], ids=["one text", "one class", "no two of a class"])
def test_without_a_triplet_the_loss_and_its_gradient_are_zero(miner, classes, distance, margin):
    texts = torch.randn(len(classes), 4, generator=torch.Generator().manual_seed(0), requires_grad=True)
    value = miner([texts], torch.tensor(classes), margin=margin, distance=distance)
    value.backward()
    assert value.item() == 0
    assert texts.grad is not None
    assert torch.equal(texts.grad, torch.zeros_like(texts))


@pytest.mark.parametrize("distance", ["euclidean", "manhattan"])
def test_equal_vectors_have_gradient_zero(distance):
    same = torch.ones(4, 3, requires_grad=True)
    values = [triplet([same, same.detach(), same.detach()], distance=distance)]
    values += [miner([same], CLASSES, distance=distance) for miner in MINERS]
    assert [value.item() for value in values] == [1.0, 5.0, 5.0, 5.0]
    for value in values:
        (gradient,) = torch.autograd.grad(value, same)
        assert torch.equal(gradient, torch.zeros_like(same))


def test_an_unknown_distance_names_the_nearest():
    with pytest.raises(BadOption, match="did you mean 'euclidean'"):
        triplet([LINE, LINE, LINE], distance="euclidian")
    with pytest.raises(BadOption, match="did you mean 'cosine'"):
        batch_all([LINE], CLASSES, distance="cosin")
