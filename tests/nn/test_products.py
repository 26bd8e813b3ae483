"""Products of oneDNN: their values, and that the bits of a row depend on neither the other rows nor the threads."""

from __future__ import annotations

import pytest
import torch

from sbert.nn import products
from sbert.nn.blocks import Blocks
from sbert.nn.stable import MIN_ROWS

pytestmark = pytest.mark.skipif(not products.BY_ROWS, reason="this build of torch has no oneDNN operator")
SIZES = [(384, 384), (384, 1536), (1536, 384), (64, 256), (768, 3072), (3072, 768), (100, 37), (32, 2)]
on_this_processor = pytest.mark.skipif(not products.USES_ONEDNN, reason="this processor multiplies with MKL")


def layer(inner: int, width: int) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(inner * width)
    shapes = (1200, inner), (1200, width), (width, inner), (width,)
    return tuple(torch.randn(shape, generator=generator) for shape in shapes)


@pytest.mark.parametrize(("inner", "width"), SIZES)
def test_values_are_those_of_torch(inner, width):
    x, target, weight, bias = layer(inner, width)
    exact = torch.nn.functional.linear(x.double(), weight.double(), bias.double())
    with torch.inference_mode():
        torch.testing.assert_close(products.linear(x, weight, bias).double(), exact, atol=2e-4, rtol=1e-5)
        added = products.add_linear(target, x, weight, bias)
        torch.testing.assert_close(added.double(), exact + target, atol=2e-4, rtol=1e-5)


@on_this_processor
@pytest.mark.parametrize(("inner", "width"), SIZES)
def test_bits_of_a_row_depend_on_it_alone(inner, width):
    x, target, weight, bias = layer(inner, width)
    threads = torch.get_num_threads()
    with torch.inference_mode():
        torch.set_num_threads(1)
        whole, added = products.linear(x, weight, bias), products.add_linear(target, x, weight, bias)
        try:
            for count in (1, 2, 3, 5, 8, 16, 48, 96):
                torch.set_num_threads(count)
                for rows in (MIN_ROWS, 17, 24, 31, 32, 48, 63, 96, 129, 257, 500, 1024):
                    some = slice(count, count + rows)
                    assert torch.equal(products.linear(x[some], weight, bias), whole[some])
                    assert torch.equal(products.add_linear(target[some], x[some], weight, bias), added[some])
        finally:
            torch.set_num_threads(threads)


@on_this_processor
def test_blocks_divide_these_products_too():
    x, target, weight, bias = layer(64, 256)
    with torch.inference_mode():
        whole = products.linear(x, weight, bias), products.add_linear(target, x, weight, bias)
        with Blocks(2):
            divided = products.linear(x, weight, bias), products.add_linear(target, x, weight, bias)
    assert all(map(torch.equal, whole, divided))
