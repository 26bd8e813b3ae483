"""What decays, how the learning rate goes, what freezes and how gradients are shortened."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from transformers import (
    get_constant_schedule_with_warmup,
    get_cosine_schedule_with_warmup,
    get_linear_schedule_with_warmup,
)

from sbert.errors import BadInput
from sbert.train.config import TrainConfig
from sbert.train.optim import EmbeddingGradients, adamw, clip_gradients, learning_rate_factor, trainable


def test_biases_and_norms_do_not_decay(bert):
    weights = trainable(bert(), ())
    optimizer = adamw(weights, TrainConfig(output_dir="unused", weight_decay=0.3, learning_rate=0.5))
    decay = {id(weight): group["weight_decay"] for group in optimizer.param_groups for weight in group["params"]}
    assert len(decay) == len(weights)
    for name, weight in weights.items():
        assert decay[id(weight)] == (0.0 if name.endswith("bias") or "norm" in name else 0.3), name
    assert {group["lr"] for group in optimizer.param_groups} == {0.5}
    assert {decay[id(weights[f"transformer.{name}"])] for name in ("norm.weight", "layers.0.qkv.bias")} == {0.0}


@pytest.mark.parametrize(
    ("schedule", "theirs"),
    [("linear", get_linear_schedule_with_warmup), ("cosine", get_cosine_schedule_with_warmup)],
)
@given(total=st.integers(1, 60), warmup=st.integers(0, 60))
def test_schedules_are_those_of_transformers(schedule, theirs, total, warmup):
    warmup = min(warmup, total)
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    lambdas = theirs(optimizer, num_warmup_steps=warmup, num_training_steps=total).lr_lambdas
    for step in range(total):
        assert learning_rate_factor(step, total, warmup, schedule) == pytest.approx(lambdas[0](step), abs=1e-12)


def test_constant_only_warms_up():
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    expected = get_constant_schedule_with_warmup(optimizer, 3).lr_lambdas[0]
    assert [learning_rate_factor(step, 8, 3, "constant") for step in range(8)] == [expected(step) for step in range(8)]


def test_freezing_by_pattern(bert):
    model = bert()
    everything = dict(model.named_parameters())
    left = trainable(model, ["transformer.words.*", "transformer.layers.[0].*"])
    frozen = {name for name in everything if name.startswith(("transformer.words.", "transformer.layers.0."))}
    assert left.keys() == everything.keys() - frozen
    assert {name for name, weight in everything.items() if not weight.requires_grad} == frozen
    assert frozen
    with pytest.raises(BadInput, match=r"freeze is 'layer\.\*', which matches no parameter; there are .*words"):
        trainable(bert(), ["layer.*"])


@pytest.mark.parametrize("longest", [0.5, 5.0, 1e6, 0.0])
def test_shortened_as_torch_does(longest):
    torch.manual_seed(0)
    ours, theirs = nn.Linear(7, 5), nn.Linear(7, 5)
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        mine.grad = torch.randn_like(mine)
        other.grad = mine.grad.clone()
    length = clip_gradients(ours.parameters(), longest)
    expected = torch.nn.utils.clip_grad_norm_(theirs.parameters(), longest or torch.inf)
    assert length == pytest.approx(float(expected))
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, other.grad)


def test_gradients_of_tables_by_rows():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(50, 4), nn.Linear(4, 3))
    table, tables = model[0], EmbeddingGradients(model)
    for ids in ([3, 7, 3], [9], [0, 49]):  # what one step touched must be gone in the next
        batches = [torch.tensor(ids), torch.tensor([7, 8])]
        for batch in batches:
            model(batch).square().sum().backward()
        expected = [weight.grad.clone() for weight in model.parameters()]
        model.zero_grad()
        with tables.sparse():
            for batch in batches:
                model(batch).square().sum().backward()
        assert table.weight.grad.is_sparse
        assert not table.sparse
        tables.make_dense()
        torch.testing.assert_close([weight.grad for weight in model.parameters()], expected)
        assert table.weight.grad.layout == torch.strided
        model.zero_grad()
        tables.clear()


def test_a_frozen_table_has_no_gradient():
    model = nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 3))
    model[0].weight.requires_grad_(False)
    tables = EmbeddingGradients(model)
    with tables.sparse():
        model(torch.tensor([1])).sum().backward()
    tables.make_dense()
    assert model[0].weight.grad is None
