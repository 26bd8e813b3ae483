"""Attention over packed texts equals attention text by text, with and without spare rows to read on into."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from sbert.nn.attention import attend
from sbert.nn.stable import LANES, SPARE_ROWS
from sbert.types import Group

HEADS, SIZE = 3, 8
lengths = st.lists(st.builds(Group, st.integers(1, 4), st.integers(1, 40)), min_size=1, max_size=4)


def rows(number: int, seed: int) -> Tensor:
    return torch.randn(number, HEADS, SIZE, generator=torch.Generator().manual_seed(seed))


def tokens(groups: list[Group]) -> int:
    return sum(texts * length for texts, length in groups)


def one_by_one(query: Tensor, key: Tensor, value: Tensor, groups: list[Group]) -> Tensor:
    """The definition: softmax of scaled products, for each text and head."""
    single = [length for texts, length in groups for _ in range(texts)]
    parts = zip(*(rows.split(single) for rows in (query, key, value)), strict=True)
    found = []
    for q, k, v in parts:
        products = torch.einsum("ihd,jhd->hij", q, k) / SIZE**0.5
        found.append(torch.einsum("hij,jhd->ihd", products.softmax(dim=-1), v))
    return torch.cat(found)


@settings(deadline=None)  # the first call makes torch ready
@given(lengths)
def test_every_text_attends_to_itself_alone(groups: list[Group]) -> None:
    total = tokens(groups)
    query, key, value = (rows(total, seed) for seed in range(3))
    expected = one_by_one(query, key, value, groups)
    assert torch.allclose(attend(query, key, value, groups), expected, atol=1e-6)
    key, value = (F.pad(read, (0, 0, 0, 0, 0, SPARE_ROWS)) for read in (key, value))
    assert torch.allclose(attend(query, key, value, groups), expected, atol=1e-6)


@pytest.mark.parametrize("length", [1, 7, LANES - 1, LANES, LANES + 1, 30])
def test_what_is_read_behind_a_text_has_no_weight_at_all(length: int) -> None:
    query, key, value = rows(length, 0), rows(length + SPARE_ROWS, 1), rows(length + SPARE_ROWS, 2)
    expected = attend(query, key, value, [Group(1, length)])
    key[length:], value[length:] = 1e9, -1e30
    assert torch.equal(attend(query, key, value, [Group(1, length)]), expected)


@settings(deadline=None)
@given(lengths, st.integers(1, 20))
def test_a_window_holds_with_spare_rows_too(groups: list[Group], window: int) -> None:
    total = tokens(groups)
    query, key, value = rows(total, 0), rows(total + SPARE_ROWS, 1), rows(total + SPARE_ROWS, 2)
    near = attend(query, key[:total], value[:total], groups, window=window)
    assert torch.equal(attend(query, key, value, groups, window=window), near)
    if window == 1:  # nobody but oneself
        assert torch.allclose(near, value[:total], atol=1e-6)


def test_some_tokens_may_ask_alone() -> None:
    groups = [Group(2, 5), Group(1, 17)]
    query, key, value = rows(27, 0), rows(27 + SPARE_ROWS, 1), rows(27 + SPARE_ROWS, 2)
    firsts = query[[0, 5, 10]]
    firsts_only = [Group(2, 1), Group(1, 1)]
    assert torch.allclose(
        attend(firsts, key, value, groups, query_groups=firsts_only),
        attend(query, key, value, groups)[[0, 5, 10]],
        atol=1e-6,
    )
