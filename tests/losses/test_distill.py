"""Teachers: hand-computed values, sentence-transformers, shapes, and no gradient to the teacher."""

from __future__ import annotations

import math

import pytest
import torch
from sentence_transformers.sentence_transformer import losses as theirs

from sbert.errors import BadInput
from sbert.losses import embedding_mse, kl, margin_mse

Q, P, N = torch.tensor([[1.0, 0.0]]), torch.tensor([[2.0, 1.0]]), torch.tensor([[0.5, 3.0]])  # q·p = 2, q·n = 0.5


def test_embedding_mse_by_hand():
    teacher = torch.tensor([[1.0, 3.0]])
    assert embedding_mse([Q], teacher).item() == pytest.approx((0 + 9) / 2)
    assert embedding_mse([Q, P], teacher).item() == pytest.approx(((0 + 9) / 2 + (1 + 4) / 2) / 2)


def test_margin_mse_by_hand():
    assert margin_mse([Q, P, N], torch.tensor([1.0])).item() == pytest.approx(0.25)
    assert margin_mse([Q, P, N, P], torch.tensor([[1.0, 1.0]])).item() == pytest.approx((0.25 + 1) / 2)


def test_margin_mse_takes_margins_or_scores():
    margins, scores = torch.tensor([[1.0, 4.0]]), torch.tensor([[7.0, 6.0, 3.0]])
    assert torch.equal(margin_mse([Q, P, N, P], margins), margin_mse([Q, P, N, P], scores))


@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_kl_by_hand(temperature):
    teacher, student = [3.0, 1.0], [2.0, 0.5]
    p, q = ([math.exp(score / temperature) for score in scores] for scores in (teacher, student))
    p, q = [value / sum(p) for value in p], [value / sum(q) for value in q]
    expected = temperature**2 * sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    value = kl([Q, P, N], torch.tensor([teacher]), temperature=temperature)
    assert value.item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_as_sentence_transformers(seed, columns, given, agree):
    vectors, scores = columns(1, seed + 100)[0], columns(1, seed + 200)[0]  # (6, 5) each
    for count in (1, 3):
        agree(embedding_mse, theirs.MSELoss(given), columns(count, seed), vectors)
    agree(margin_mse, theirs.MarginMSELoss(given), columns(3, seed), scores[:, 0])
    agree(margin_mse, theirs.MarginMSELoss(given), columns(4, seed), scores[:, :2])
    agree(margin_mse, theirs.MarginMSELoss(given), columns(4, seed), scores[:, :3])
    for temperature in (0.5, 1.0, 4.0):
        reference = theirs.DistillKLDivLoss(given, temperature=temperature)
        agree(lambda e, y, t=temperature: kl(e, y, temperature=t), reference, columns(4, seed), scores[:, :3])


def test_the_teacher_gets_no_gradient(columns):
    for loss, count, shape in [(embedding_mse, 2, (6, 5)), (margin_mse, 4, (6, 3)), (kl, 4, (6, 3))]:
        students = [column.requires_grad_() for column in columns(count, 0)]
        teacher = torch.randn(shape, dtype=torch.float64, requires_grad=True)
        loss(students, teacher).backward()
        assert teacher.grad is None
        assert all(student.grad is not None for student in students)


@pytest.mark.parametrize(
    ("loss", "count", "shape", "message"),
    [
        (embedding_mse, 1, (6, 4), r"shape \(6, 4\), but needs \(6, 5\)"),
        (embedding_mse, 1, (5,), r"shape \(5,\), but needs \(6, 5\)"),
        (margin_mse, 3, (6, 3), r"shape \(6, 3\), but needs margins of shape \(6, 1\) or scores of shape \(6, 2\)"),
        (margin_mse, 4, (6,), r"shape \(6,\), but needs margins of shape \(6, 2\)"),
        (margin_mse, 4, (2, 6), r"shape \(2, 6\)"),
        (kl, 3, (6,), r"shape \(6,\), but needs \(6, 2\)"),
        (kl, 3, (6, 3), r"shape \(6, 3\), but needs \(6, 2\)"),
    ],
)
def test_shapes_must_fit(loss, count, shape, message, columns):
    with pytest.raises(BadInput, match=message):
        loss(columns(count, 0), torch.zeros(shape))


def test_the_temperature_is_above_zero():
    with pytest.raises(BadInput, match="temperature is 0"):
        kl([Q, P, N], torch.zeros(1, 2), temperature=0)
