"""Heads compute what they say, and a vector's bits do not depend on its company."""

from __future__ import annotations

import pytest
import torch

from sbert.errors import BadOption
from sbert.nn import heads


def test_dense_by_hand() -> None:
    dense = heads.Dense(2, 1, activation="relu")
    with torch.no_grad():
        dense.linear.weight.copy_(torch.tensor([[1.0, -1.0]]))
        dense.linear.bias.fill_(0.5)
    assert dense(torch.tensor([[3.0, 1.0], [1.0, 3.0]])).tolist() == [[2.5], [0.0]]


def test_layer_norm_and_normalize_by_hand() -> None:
    x = torch.tensor([[3.0, 4.0]])
    assert torch.allclose(heads.LayerNorm(2)(x), torch.tensor([[-1.0, 1.0]]), atol=1e-4)
    assert torch.allclose(heads.Normalize()(x), torch.tensor([[0.6, 0.8]]))
    assert heads.Normalize()(torch.zeros(1, 2)).tolist() == [[0.0, 0.0]]


def test_unknown_activation_names_the_known_ones() -> None:
    with pytest.raises(BadOption, match=r"activation is 'tahn'.*did you mean 'tanh'"):
        heads.Dense(2, 2, activation="tahn")


@pytest.mark.parametrize("rows", [1, 2, 3, 11, 15, 16, 17])
def test_a_vector_does_not_depend_on_its_company(rows: int) -> None:
    torch.manual_seed(0)
    stack = [heads.Dense(384, 256), heads.LayerNorm(256), heads.Dropout(0.3).eval(), heads.Normalize()]
    x = torch.randn(100, 384)
    with torch.inference_mode():
        assert torch.equal(heads.apply(stack, x)[:rows], heads.apply(stack, x[:rows]))


def test_no_rows() -> None:
    assert heads.apply([heads.Dense(4, 3)], torch.empty(0, 4)).shape == (0, 3)


def test_output_size() -> None:
    assert heads.output_size([heads.Dense(8, 6), heads.Normalize(), heads.Dense(6, 3)], 8) == 3
    assert heads.output_size([heads.Normalize()], 8) == 8


@pytest.mark.parametrize("activation", heads.ACTIVATIONS)
@pytest.mark.parametrize("width", [1, 5])
def test_a_row_does_not_depend_on_the_others(activation: str, width: int) -> None:
    generator = torch.Generator().manual_seed(0)
    head = heads.Dense(8, width, activation=activation).eval()
    with torch.inference_mode():
        head.linear.weight.copy_(torch.randn(width, 8, generator=generator))
        x = torch.randn(333, 8, generator=generator)
        whole = heads.apply([head], x)
        for rows in (1, 2, 15, 16, 17, 47, 150, 332):
            assert torch.equal(heads.apply([head], x[:rows]), whole[:rows])
            assert torch.equal(heads.apply([head], x[-rows:]), whole[-rows:])
