"""Pairs above a threshold are those of a plain comparison; an index finds nearly all of them, with the same scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbert.errors import BadInput
from sbert.explore import neighbours
from sbert.explore.neighbours import close_pairs, unit_vectors
from sbert.search.exact import most_similar_pairs, pairs_above


def vectors(count, seed=0, dimensions=16, centres=20):
    random = np.random.default_rng(seed)
    middles = random.standard_normal((centres, dimensions))
    return (middles[random.integers(0, centres, count)] + 0.3 * random.standard_normal((count, dimensions))).astype(
        "f4"
    )


def as_dict(blocks):
    return {(first, second): score for block in blocks for first, second, score in zip(*block, strict=True)}


@given(st.integers(0, 60), st.sampled_from([-1.0, 0.0, 0.5, 0.9, 1.0]), st.integers(0, 9))
def test_pairs_above_are_those_that_a_sorted_list_begins_with(count, threshold, seed):
    rows = vectors(count, seed)
    expected = (
        {(one, other): score for one, other, score in most_similar_pairs(rows, None, threshold)} if count else {}
    )
    assert as_dict(pairs_above(rows, threshold)) == expected


def test_blocks_are_ordered_and_first_rows_ascend(monkeypatch):
    monkeypatch.setattr("sbert.search.exact.ROWS", 7)
    monkeypatch.setattr("sbert.search.exact.COLUMNS", 11)
    rows = vectors(60)
    last = np.full(60, -1)
    found = {}
    for block in pairs_above(rows, 0.5):
        pairs = list(zip(block.first.tolist(), block.second.tolist(), strict=True))
        assert pairs == sorted(pairs)
        for first, second in pairs:
            assert last[second] < first < second
            last[second] = first
        found |= as_dict([block])
    assert found == {(one, other): score for one, other, score in most_similar_pairs(rows, None, 0.5)}


def test_an_index_finds_nearly_all_pairs_with_the_same_scores(caplog):
    rows = unit_vectors(vectors(3000, centres=100))
    exact, found = as_dict(close_pairs(rows, 0.9, exact=True)), as_dict(close_pairs(rows, 0.9, exact=False))
    assert len(exact) > 10_000
    assert found.items() <= exact.items()
    assert len(found) >= 0.98 * len(exact)


def test_the_number_of_vectors_chooses_the_way(monkeypatch):
    rows = unit_vectors(vectors(600))
    monkeypatch.setattr(neighbours, "_indexed_pairs", lambda *_: iter(["index"]))
    assert list(close_pairs(rows, 0.9)) != ["index"]
    monkeypatch.setattr(neighbours, "EXACT_ROWS", 500)
    assert list(close_pairs(rows, 0.9)) == ["index"]
    assert list(close_pairs(rows[:500], 0.9)) != ["index"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([[1.0, float("nan")]], "row 0 of the vectors holds NaN or infinity; repair it or leave it out"),
        ([[1.0], [float("inf")]], "row 1 of the vectors holds NaN or infinity; repair it or leave it out"),
        ([1.0, 2.0], r"the vectors have shape \(2,\) and dtype float64, but rows of decimal numbers are expected"),
        ([[1, 2]], r"the vectors have shape \(1, 2\) and dtype int64, but rows of decimal numbers are expected"),
    ],
)
def test_wrong_vectors_are_one_sentence(wrong, message):
    with pytest.raises(BadInput, match=message):
        unit_vectors(wrong)
