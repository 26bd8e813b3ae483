"""Each rule that makes a row independent of the others, by itself and over several shapes and addresses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.nn.blocks import SMALLEST_BLOCK, Blocks, _blocks
from sbert.nn.stable import (
    LANES,
    MIN_ROWS,
    SPARE_ROWS,
    aligned_copies,
    aligned_rows,
    fill,
    linear,
    over_read,
    own_keys_mask,
    pad,
    repeats,
)
from sbert.nn.threads import on_one_core
from sbert.types import Group

SIZE = 96


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("width", [2, 48, 384])
def test_from_min_rows_on_a_row_does_not_depend_on_their_number(width: int) -> None:
    x, weight, bias = drawn(300, SIZE), drawn(width, SIZE, seed=1), drawn(width, seed=2)
    whole = F.linear(x, weight, bias)
    for rows in (*range(MIN_ROWS, 40), 64, 127, 299):
        assert torch.equal(F.linear(x[:rows], weight, bias), whole[:rows])
    for rows in range(1, MIN_ROWS):
        assert torch.equal(F.linear(fill(x[:rows]), weight, bias)[:rows], whole[:rows])


def test_filling_repeats_whole_rows() -> None:
    x = drawn(5, 3, 2)
    assert len(fill(x)) == 5 * repeats(5) >= MIN_ROWS
    assert torch.equal(fill(x)[5:10], x)
    assert len(fill(x[:0])) == 0
    assert torch.equal(fill(drawn(40, 2)), drawn(40, 2))


@pytest.mark.parametrize("labels", [1, 2, 3])
def test_a_linear_map_to_any_number_of_columns(labels: int) -> None:
    x, weight, bias = drawn(200, SIZE), drawn(labels, SIZE, seed=1), drawn(labels, seed=2)
    whole = linear(x, weight, bias)
    assert whole.shape == (200, labels)
    assert torch.allclose(whole, x @ weight.T + bias, atol=1e-5)
    for start in range(0, 100, 7):  # other places, other addresses
        assert torch.equal(linear(x[start : start + MIN_ROWS], weight, bias), whole[start : start + MIN_ROWS])


def test_padding_and_alignment() -> None:
    assert torch.equal(pad(torch.ones(2, 3, 4), 5), torch.cat([torch.ones(2, 3, 4), torch.zeros(3, 3, 4)]))
    assert [aligned_rows(rows) % MIN_ROWS for rows in (1, 15, 16, 17)] == [0, 0, 0, 0]
    for heads in (1, 2, 3, 6, 12):
        assert (heads * aligned_copies(heads)) % 4 == 0


def test_over_read_keys_have_no_weight() -> None:
    groups = (Group(2, 5), Group(1, LANES), Group(3, 2))
    total = sum(group.texts * group.length for group in groups)
    rows = drawn(total + SPARE_ROWS, 2, 8)
    start = 0
    for group, view in zip(groups, over_read(rows, groups), strict=True):
        aligned = group.length + -group.length % LANES
        assert view.shape[:2] == (group.texts, aligned)
        for text in range(group.texts):
            assert torch.equal(view[text], rows[start : start + aligned])
            start += group.length
        keys = view.transpose(1, 2)
        weights = (own_keys_mask(group.length, keys) + drawn(1, aligned)).softmax(-1)
        assert weights[:, : group.length].sum() == pytest.approx(1.0)
        assert not weights[:, group.length :].any()


@pytest.mark.parametrize("rows", [SMALLEST_BLOCK, 2 * SMALLEST_BLOCK, 333])
@pytest.mark.parametrize("cores", [1, 2, 3, 40])
def test_blocks_begin_at_aligned_rows_and_are_never_small(rows: int, cores: int) -> None:
    blocks = _blocks(rows, cores)
    assert [start % MIN_ROWS for start, _ in blocks] == [0] * len(blocks)
    assert all(stop - start >= MIN_ROWS for start, stop in blocks)
    assert [blocks[0][0], *(stop for _, stop in blocks)] == [*(start for start, _ in blocks), rows]


def test_blocks_give_the_same_bits() -> None:
    weight, bias, norm = drawn(2 * SIZE, SIZE, seed=1), drawn(2 * SIZE, seed=2), drawn(SIZE, seed=3)

    def compute() -> list[Tensor]:
        x = drawn(3, 70, SIZE)
        wide = F.linear(x, weight, bias)
        gate, value = wide.chunk(2, dim=-1)  # not contiguous, as in a gated network
        heads = x.view(3, 70, 4, SIZE // 4).transpose(1, 2)
        flat = x.flatten(0, 1)
        out = torch.empty(210, 2 * SIZE)
        torch.addmm(bias, flat, weight.T, out=out)
        torch.ops.aten.gelu_(out)
        return [
            F.gelu(gate) * value,
            F.layer_norm(x, (SIZE,), norm, None),
            F.scaled_dot_product_attention(heads, heads, heads),
            out,
            flat.clone().addmm_(out, weight),
        ]

    def in_blocks() -> list[Tensor]:
        with Blocks(4):
            return compute()

    torch.set_num_threads(4)
    whole, blocks = on_one_core(compute), on_one_core(in_blocks)
    assert all(torch.equal(a, b) for a, b in zip(whole, blocks, strict=True))
