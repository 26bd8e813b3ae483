"""The head of a cross-encoder: dropout where its form has it, and weights that follow from a seed."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from sbert.errors import BadOption
from sbert.nn.classify import Classifier


def head(activation: str = "tanh", drop_first: bool = True, dropout: float = 0.5) -> Classifier:
    made = Classifier(4, 3, activation=activation, dropout=dropout, drop_first=drop_first)
    made.draw(deviation=1.0, seed=1)
    return made


@pytest.mark.parametrize(("activation", "function"), [("tanh", torch.tanh), ("gelu", F.gelu), ("relu", F.relu)])
def test_two_layers_and_what_lies_between(activation, function):
    made, x = head(activation).eval(), torch.linspace(-2, 2, 8).view(2, 4)
    expected = function(x @ made.dense.weight.T) @ made.projection.weight.T
    torch.testing.assert_close(made(x), expected)


def test_dropout_before_the_dense_layer_only_where_the_form_has_it():
    x = torch.ones(64, 4)
    for drop_first in (True, False):
        made = head(drop_first=drop_first).train()
        seen = []
        made.dense.register_forward_pre_hook(lambda module, inputs, seen=seen: seen.append(inputs[0]))
        assert not torch.equal(made(x), made(x))  # the second dropout is always there
        assert ((seen[0] == 0).any()) == drop_first


def test_weights_follow_from_the_seed():
    made, other = head(), head()
    assert torch.equal(made.dense.weight, other.dense.weight)
    assert not torch.equal(made.dense.weight[:3], made.projection.weight)
    other.draw(deviation=1.0, seed=2)
    assert not torch.equal(made.projection.weight, other.projection.weight)
    assert not made.dense.bias.any()
    assert not made.projection.bias.any()


def test_an_activation_that_does_not_exist():
    with pytest.raises(BadOption, match=r"activation is 'tahn'.*did you mean 'tanh'"):
        head("tahn")
