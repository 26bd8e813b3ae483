"""Correlations: scipy's, times 100, and what cannot be correlated."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sbert.errors import BadInput
from sbert.evaluate.metrics import pearson, spearman

NUMBERS = st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 5)), min_size=3, max_size=40)


@given(NUMBERS)
def test_as_scipy(pairs):
    predicted, gold = np.array(pairs, float).T
    if np.ptp(gold) == 0:
        with pytest.raises(BadInput, match="are equal, so there is nothing to correlate"):
            spearman(predicted, gold)
        return
    if np.ptp(predicted) == 0:  # a model may collapse: that is a poor result, not a mistake of the caller
        assert np.isnan([spearman(predicted, gold), pearson(predicted, gold)]).all()
        return
    assert spearman(predicted, gold) == pytest.approx(100 * stats.spearmanr(predicted, gold).statistic)
    assert pearson(predicted, gold) == pytest.approx(100 * stats.pearsonr(predicted, gold).statistic)


def test_by_hand():
    predicted, gold = np.array([0.1, 0.9, 0.5, 0.5]), np.array([1, 4, 2, 3])
    assert spearman(predicted, gold) == pytest.approx(100 * 4.5 / np.sqrt(4.5 * 5))  # ranks 1, 4, 2.5, 2.5
    assert spearman(predicted, gold) == pytest.approx(spearman(np.exp(predicted), 7 * gold))
    assert spearman(predicted, -gold) == pytest.approx(-spearman(predicted, gold))


@pytest.mark.parametrize("correlation", [spearman, pearson])
def test_refused(correlation):
    with pytest.raises(BadInput, match="got 2 predictions and 3 gold scores"):
        correlation(np.array([1.0, 2.0]), np.array([1, 2, 3]))
    with pytest.raises(BadInput, match="at least two"):
        correlation(np.array([1.0]), np.array([1]))
    with pytest.raises(BadInput, match="all 3 gold scores are equal"):
        correlation(np.array([1.0, 2.0, 3.0]), np.array([4, 4, 4]))
