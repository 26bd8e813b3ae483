"""Every row in exactly one batch, within the budget, longest first."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbert.errors import BadInput
from sbert.text import Tokens, Truncation, batches, plan

lengths = st.lists(st.integers(1, 60), max_size=80).map(lambda values: np.array(values, np.int64))


@given(lengths, st.integers(1, 200), st.none() | st.integers(1, 9))
def test_plan_is_a_partition_within_the_budget(sizes: np.ndarray, budget: int, most: int | None) -> None:
    planned = list(plan(sizes, budget, most))
    assert sorted(row for rows in planned for row in rows) == list(range(len(sizes)))
    for rows in planned:
        assert sizes[rows].sum() <= budget or len(rows) == 1
        assert most is None or len(rows) <= most
    order = [sizes[row] for rows in planned for row in rows]
    assert order == sorted(order, reverse=True)


@given(lengths, st.integers(1, 200))
def test_no_batch_could_take_the_next_row(sizes: np.ndarray, budget: int) -> None:
    planned = list(plan(sizes, budget))
    for rows, following in pairwise(planned):
        assert sizes[rows].sum() + sizes[following[0]] > budget


@given(lengths, st.integers(1, 200))
def test_batches_carry_the_tokens_of_their_rows(sizes: np.ndarray, budget: int) -> None:
    tokens = Tokens(
        np.arange(sizes.sum(), dtype=np.int32), sizes, np.arange(len(sizes)), Truncation(0, 0, 0, 0, 0, 0), 3
    )
    starts = np.cumsum(sizes) - sizes
    for rows, batch in batches(tokens, budget):
        expected = np.concatenate([np.arange(starts[row], starts[row] + sizes[row]) for row in rows])
        assert np.array_equal(batch.input_ids, expected)
        assert batch.lengths == tuple(sizes[rows])
        assert batch.prompt_length == 3
        assert sum(group.texts * group.length for group in batch.groups) == len(batch.input_ids)
        assert len({group.length for group in batch.groups}) == len(batch.groups)


@pytest.mark.parametrize(
    ("tokens", "size", "told"),
    [
        (0, None, "batch_tokens is 0, but must be at least 1"),
        (-5, None, "batch_tokens is -5, but must be at least 1"),
        (16, 0, "batch_size is 0, but must be at least 1"),
        (16, 2.5, r"batch_size is 2\.5, but must be a whole number"),
    ],
)
def test_a_budget_of_nothing(tokens: int, size: int | None, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        list(plan(np.array([3]), tokens, size))
