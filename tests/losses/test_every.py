"""What holds for every loss of embeddings in the catalog: sound gradients, no order of rows, no NaN at the edges."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from sbert.losses import OBJECTIVES, Loss, make

NLI = ["contradiction", "entailment", "neutral"]
VARIANTS = [
    *[(name, {}) for name, objective in OBJECTIVES.items() if "bi" in objective.kinds],
    ("softmax", {"concat": ["u*v"]}),
    *[(name, {"distance": "manhattan"}) for name in ("triplet", "batch-hard", "batch-semi-hard", "batch-all")],
    *[(name, {"distance": "cosine"}) for name in ("triplet", "batch-hard", "batch-semi-hard", "batch-all")],
    *[(name, {"margin": None}) for name in ("batch-hard", "batch-semi-hard", "batch-all")],
    *[(name, {"distance": "euclidean", "margin": 2.0}) for name in ("contrastive", "online-contrastive")],
    ("info-nce", {"symmetric": True}),
    ("info-nce", {"similarity": "dot", "scale": 1.0}),
    ("kl", {"temperature": 3.0}),
]
every = pytest.mark.parametrize(("name", "options"), VARIANTS, ids=[f"{name} {options}" for name, options in VARIANTS])


def loss_of(name: str, options: dict[str, object]) -> Loss:
    torch.manual_seed(0)
    loss = make(name, options, dim=4, labels=NLI)
    return loss.double().requires_grad_(False) if isinstance(loss, nn.Module) else loss


def labels_of(name: str, rows: int, texts: int) -> Tensor | None:
    generator = torch.Generator().manual_seed(7)
    return {
        "none": None,
        "class": torch.arange(rows) % 3,
        "score": torch.rand(rows, generator=generator),
        "binary": torch.arange(rows) % 2,
        "vector": torch.randn(rows, 4, generator=generator, dtype=torch.float64),
        "scores": torch.randn(rows, texts - 1, generator=generator, dtype=torch.float64),
    }[OBJECTIVES[name].label]


def embeddings_of(rows: int, texts: int, seed: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(rows, 4, generator=generator, dtype=torch.float64) for _ in range(texts)]


def gradients(loss: Loss, embeddings: list[Tensor], labels: Tensor | None) -> tuple[Tensor, tuple[Tensor, ...]]:
    leaves = [column.clone().requires_grad_() for column in embeddings]
    value = loss(leaves, labels)
    return value.detach(), torch.autograd.grad(value, leaves)


@every
def test_gradcheck(name, options):
    least, most = OBJECTIVES[name].texts
    for texts in [least] if most == least else [least, least + 1]:
        loss, labels, embeddings = loss_of(name, options), labels_of(name, 6, texts), embeddings_of(6, texts, seed=3)
        leaves = [column.clone().requires_grad_() for column in embeddings]
        assert torch.autograd.gradcheck(lambda *columns, loss=loss, labels=labels: loss(columns, labels), leaves)
        assert any(slope.abs().max() > 1e-6 for slope in gradients(loss, embeddings, labels)[1])  # not flat there


@every
@settings(max_examples=20)
@given(order=st.permutations(range(7)), seed=st.integers(0, 1000))
def test_the_order_of_rows_does_not_matter(name, options, order, seed):
    texts = OBJECTIVES[name].texts[0]
    loss, labels, embeddings = loss_of(name, options), labels_of(name, 7, texts), embeddings_of(7, texts, seed)
    shuffled = loss([column[order] for column in embeddings], None if labels is None else labels[order])
    torch.testing.assert_close(shuffled, loss(embeddings, labels))


@every
@pytest.mark.parametrize("rows", [1, 6])
def test_equal_vectors_give_no_nan(name, options, rows):
    texts = OBJECTIVES[name].texts[0]
    for vector in (torch.tensor([1.0, -2.0, 0.5, 0.0]), torch.zeros(4)):
        embeddings = [vector.double().repeat(rows, 1) for _ in range(texts)]
        value, slopes = gradients(loss_of(name, options), embeddings, labels_of(name, rows, texts))
        assert value.isfinite()
        assert all(slope.isfinite().all() for slope in slopes)


@every
def test_a_batch_of_one(name, options):
    texts = OBJECTIVES[name].texts[0]
    labels = labels_of(name, 1, texts)
    value, slopes = gradients(loss_of(name, options), embeddings_of(1, texts, seed=0), labels)
    assert value.shape == ()
    assert value.isfinite()
    assert value >= 0
    assert all(slope.isfinite().all() for slope in slopes)
    if name in ("info-nce", "cosent", "angle", "batch-hard", "batch-semi-hard", "batch-all"):  # these need company
        assert value == 0
        assert all((slope == 0).all() for slope in slopes)


@every
def test_float32_and_an_unchanged_input(name, options):
    texts = OBJECTIVES[name].texts[0]
    loss, labels = loss_of(name, options), labels_of(name, 6, texts)
    loss = loss.float() if isinstance(loss, nn.Module) else loss
    embeddings = [column.float() for column in embeddings_of(6, texts, seed=0)]
    before = [column.clone() for column in embeddings]
    value = loss(embeddings, labels)
    assert value.dtype == torch.float32
    assert all(torch.equal(now, then) for now, then in zip(embeddings, before, strict=True))
