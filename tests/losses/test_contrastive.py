"""Yes-or-no pairs: hand-computed values, sentence-transformers, and batches of one kind."""

from __future__ import annotations

import pytest
import torch
from sentence_transformers.sentence_transformer import losses as theirs

from sbert.losses import contrastive, online_contrastive

METRIC = theirs.TripletDistanceMetric  # those of their contrastive losses add 1e-6 to every difference
THEIRS = {"euclidean": METRIC.EUCLIDEAN, "manhattan": METRIC.MANHATTAN, "cosine": METRIC.COSINE}
ZERO = torch.zeros(4, 1)
GAPS = torch.tensor([[0.1], [0.4], [0.3], [2.0]])


def test_contrastive_by_hand():
    value = contrastive([ZERO, GAPS], torch.tensor([1, 1, 0, 0]), distance="euclidean")
    assert value.item() == pytest.approx((0.01 + 0.16 + 0.04 + 0) / 4 / 2)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([1, 1, 0, 0], 0.16 + 0.04),  # 0.4 is beyond 0.3, 0.3 within 0.4; 0.1 and 2.0 are easy
        ([1, 1, 1, 1], 4.0),  # the mean is 0.7
        ([0, 0, 0, 0], 0.16 + 0.01 + 0.04),
        ([1, 0, 0, 0], 0.0),  # nothing hard
    ],
)
def test_online_contrastive_by_hand(labels, expected):
    gaps = GAPS.clone().requires_grad_()
    value = online_contrastive([ZERO, gaps], torch.tensor(labels), distance="euclidean")
    value.backward()
    assert value.item() == pytest.approx(expected)
    assert gaps.grad is not None
    assert (gaps.grad != 0).any().item() == (expected > 0)


@pytest.mark.parametrize("distance", THEIRS)
@pytest.mark.parametrize("labels", [[1, 0, 1, 0, 0, 1] * 2, [1] * 12, [0] * 12])
@pytest.mark.parametrize("seed", range(2))
def test_as_sentence_transformers(seed, labels, distance, columns, given, agree):
    u, v = columns(2, seed, rows=12)
    pair = [u, u + 0.4 * v]  # near enough for the margin to matter
    for ours, cls in [(contrastive, theirs.ContrastiveLoss), (online_contrastive, theirs.OnlineContrastiveLoss)]:
        reference = cls(given, distance_metric=THEIRS[distance], margin=2.0)
        agree(lambda e, y, ours=ours: ours(e, y, margin=2.0, distance=distance), reference, pair, torch.tensor(labels))


def test_defaults_are_those_of_sentence_transformers(given):
    for ours, cls in [(contrastive, theirs.ContrastiveLoss), (online_contrastive, theirs.OnlineContrastiveLoss)]:
        assert ours.__kwdefaults__ == {"margin": cls(given).margin, "distance": "cosine"}


def test_labels_may_be_whole_numbers_or_booleans():
    pair, labels = [ZERO, GAPS], torch.tensor([1, 1, 0, 0])
    for loss in (contrastive, online_contrastive):
        values = {loss(pair, kind, distance="euclidean").item() for kind in (labels, labels.bool(), labels.float())}
        assert len(values) == 1


@pytest.mark.parametrize("loss", [contrastive, online_contrastive])
def test_equal_vectors_have_gradient_zero(loss):
    same = torch.ones(3, 2, requires_grad=True)
    (gradient,) = torch.autograd.grad(loss([same, same.detach()], torch.tensor([1, 0, 1]), distance="euclidean"), same)
    assert torch.equal(gradient, torch.zeros_like(same))
