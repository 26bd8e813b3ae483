"""Drift between two models: nothing between equal ones, whatever their scale, and by hand where they differ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sbert.errors import BadInput
from sbert.evaluate.drift import drift


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.floats(0.1, 10))
def test_a_scaled_or_turned_space_has_the_same_neighbours(seed, count, scale):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(count, 8))
    turn, _ = np.linalg.qr(rng.normal(size=(8, 8)))
    scaled, turned = drift(vectors, scale * vectors), drift(vectors, vectors @ turn)
    assert scaled.cosines == pytest.approx(np.ones(count))
    assert sum(scaled.histogram()[0]) == count
    for found in (scaled, turned):
        assert found.nearest_changed == 0
        assert found.changed.max() == 0


def test_neighbours_against_a_plain_sort():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(30, 6)), rng.normal(size=(30, 9))
    found = drift(first, second)

    def nearest(vectors):
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = unit @ unit.T
        np.fill_diagonal(cosines, -2)
        return np.argsort(-cosines, axis=1)[:, :10]

    ours, theirs = nearest(first), nearest(second)
    shares = [1 - len({*a} & {*b}) / 10 for a, b in zip(ours.tolist(), theirs.tolist(), strict=True)]
    assert found.changed == pytest.approx(np.array(shares))
    assert found.nearest_changed == pytest.approx((ours[:, 0] != theirs[:, 0]).mean())
    assert found.cosines is None
    assert found.worst(3) == sorted(range(30), key=lambda row: -shares[row])[:3]
    with pytest.raises(BadInput, match="different sizes"):
        found.histogram()


def test_the_worst_are_those_whose_vectors_turned_most():
    first = np.eye(4, dtype=np.float32)
    second = first.copy()
    second[2] = -first[2]
    found = drift(first, second)
    assert found.cosines.tolist() == [1, 1, -1, 1]
    assert found.worst(1) == [2]
    counts, low, high = found.histogram()
    assert (counts[0], counts[-1], low, high) == (1, 3, -1.0, 1.0)


def test_too_few_texts():
    with pytest.raises(BadInput, match="got 1 and 1 vectors"):
        drift(np.ones((1, 3)), np.ones((1, 3)))
