"""Quantisation equals sentence-transformers' given the same ranges, and never wraps around."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sentence_transformers.util import quantize_embeddings

from sbert.errors import BadOption, NotCalibrated
from sbert.nn.quantize import quantize, ranges_of

FLOATS = hnp.arrays(np.float32, (5, 16), elements=st.floats(-2, 2, width=32))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # theirs, of ranges too narrow for float32
@given(FLOATS, FLOATS)
def test_equals_sentence_transformers(corpus: np.ndarray, vectors: np.ndarray) -> None:
    ranges = ranges_of(corpus)
    for precision in ("int8", "uint8", "binary", "ubinary"):
        expected = quantize_embeddings(vectors, precision, ranges=ranges)
        got = quantize(vectors, precision, ranges)
        assert got.dtype == expected.dtype
        assert np.array_equal(got, expected)


def test_values_outside_the_range_are_clipped() -> None:
    ranges = np.array([[0.0], [255.0]], np.float32)  # steps of one
    vectors = np.array([[-9.0], [0.0], [127.5], [255.0], [999.0]], np.float32)
    assert quantize(vectors, "uint8", ranges).ravel().tolist() == [0, 0, 127, 255, 255]
    assert quantize(vectors, "int8", ranges).ravel().tolist() == [-128, -128, -1, 127, 127]


def test_floats() -> None:
    vectors = np.array([[0.1, -0.2]], np.float32)
    assert quantize(vectors, "float32") is vectors
    assert quantize(vectors, "float16").dtype == np.float16


def test_a_constant_dimension_does_not_divide_by_zero() -> None:
    ranges = np.array([[0.5], [0.5]], np.float32)
    assert quantize(np.array([[0.5]], np.float32), "uint8", ranges).tolist() == [[0]]


def test_refusals() -> None:
    with pytest.raises(NotCalibrated, match=r"model\.calibrate\(texts\)"):
        quantize(np.zeros((1, 2), np.float32), "int8")
    with pytest.raises(BadOption, match="did you mean 'int8'"):
        quantize(np.zeros((1, 2), np.float32), "int9")  # type: ignore[arg-type]
