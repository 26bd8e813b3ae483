"""Intervals that hold what they should, and tests that find what there is and nothing else."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sbert.errors import BadInput
from sbert.evaluate import compare, interval, mcnemar
from sbert.evaluate.metrics import accuracy, attained, average_precision, pearson, spearman
from sbert.evaluate.metrics.significance import _QUICK, _bootstrap, _draws, _one_by_one


def noisy(rng, gold, noise):
    return gold + noise * rng.normal(size=len(gold))


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=3, max_size=25), st.integers(0, 9))
def test_counted_draws_score_as_the_drawn_items_themselves(rows, seed):
    """The quick ways, which never form a draw, against the metric itself on each draw; ties everywhere."""
    predicted, gold = np.array(rows, float).T
    counts = next(_draws(len(gold), 20, seed))
    assert counts.sum(axis=1).tolist() == [len(gold)] * 20
    for metric in (accuracy, pearson, spearman):
        found, expected = _QUICK[metric](predicted, gold, counts), _one_by_one(metric, predicted, gold, counts)
        np.testing.assert_allclose(found, expected, atol=1e-8)
    np.testing.assert_allclose(
        _QUICK[attained](predicted, gold + 1, counts), _one_by_one(attained, predicted, gold + 1, counts)
    )


def test_blocks_of_draws_are_one_stream(monkeypatch):
    rng = np.random.default_rng(0)
    gold = rng.normal(size=30)
    whole = interval(spearman, noisy(rng, gold, 1), gold)
    rng = np.random.default_rng(0)
    gold = rng.normal(size=30)
    monkeypatch.setattr("sbert.evaluate.metrics.significance._CELLS", 100)
    assert interval(spearman, noisy(rng, gold, 1), gold) == whole


def test_as_scipys_bootstrap():
    rng = np.random.default_rng(0)
    gold = rng.normal(size=200)
    predicted = noisy(rng, gold, 0.8)
    theirs = stats.bootstrap(
        (predicted, gold),
        lambda a, b: stats.pearsonr(a, b).statistic,
        paired=True,
        vectorized=False,
        method="percentile",
        rng=np.random.default_rng(1),
        n_resamples=3000,
    ).confidence_interval
    ours = interval(pearson, predicted, gold, resamples=3000)
    assert ours == pytest.approx((100 * theirs.low, 100 * theirs.high), abs=0.5)


def test_accuracy_as_the_binomial():
    right = np.arange(400) < 300
    low, high = interval(accuracy, right, np.ones(400, bool))
    half = 196 * np.sqrt(0.75 * 0.25 / 400)
    assert (low, high) == pytest.approx((75 - half, 75 + half), abs=0.6)
    wide = interval(accuracy, right, np.ones(400, bool), level=0.99)
    assert wide.low < low
    assert wide.high > high


@pytest.mark.parametrize("metric", [spearman, pearson])
def test_interval_holds_the_true_score_about_so_often(metric):
    rng = np.random.default_rng(7)
    true = 100 / np.sqrt(2) if metric is pearson else 100 * 6 / np.pi * np.arcsin(1 / np.sqrt(8))
    held = 0
    for seed in range(200):
        gold = rng.normal(size=150)
        low, high = interval(metric, noisy(rng, gold, 1.0), gold, level=0.9, resamples=300, seed=seed)
        held += low <= true <= high
    assert 165 <= held <= 192  # 180 are expected, with a standard deviation of 4.2


def test_p_values_are_even_where_nothing_differs():
    rng = np.random.default_rng(3)
    found = []
    for seed in range(200):
        gold = rng.normal(size=120)
        found.append(
            compare(spearman, noisy(rng, gold, 1), noisy(rng, gold, 1), gold, resamples=300, seed=seed).p_value
        )
    found = np.array(found)
    assert stats.kstest(found, "uniform").pvalue > 0.01
    assert 2 <= (found < 0.05).sum() <= 20  # 10 are expected


def test_a_clear_difference_is_found_and_its_sign_follows_the_order():
    rng = np.random.default_rng(4)
    gold = rng.normal(size=300)
    better, worse = noisy(rng, gold, 0.5), noisy(rng, gold, 1.5)
    forth, back = compare(spearman, better, worse, gold), compare(spearman, worse, better, gold)
    assert forth.difference == pytest.approx(spearman(better, gold) - spearman(worse, gold))
    assert forth.low > 0
    assert forth.p_value == pytest.approx(2 / 1001)
    assert forth.low <= forth.difference <= forth.high
    assert back == pytest.approx((-forth.difference, -forth.high, -forth.low, forth.p_value))


def test_pairing_finds_what_two_intervals_cannot_tell():
    rng = np.random.default_rng(5)
    gold = rng.normal(size=400)
    first = noisy(rng, gold, 1.0)
    # The same mistakes, and some more: 70.7 against 66.7. Each score varies by 2.5, their difference only by 1.3.
    second = first + 0.5 * rng.normal(size=400)
    one, other = interval(pearson, first, gold), interval(pearson, second, gold)
    assert one.low < other.high  # they overlap
    assert compare(pearson, first, second, gold).p_value < 0.05


def test_metrics_without_a_quick_way():
    rng = np.random.default_rng(6)
    gold = np.arange(60) % 2
    predicted = noisy(rng, gold.astype(float), 0.7)
    low, high = interval(average_precision, predicted, gold, resamples=200)
    assert low < average_precision(predicted, gold) < high
    # A draw may hold one class only; such draws are left out.
    rare = np.arange(12) == 0
    scores = _bootstrap(average_precision, [np.arange(12.0)], rare, 200, 0)[0]
    assert 0 < np.isnan(scores).sum() < 200
    assert np.isfinite(interval(average_precision, np.arange(12.0), rare, resamples=200)).all()


def test_same_seed_same_bounds():
    rng = np.random.default_rng(8)
    gold = rng.normal(size=50)
    predicted = noisy(rng, gold, 1)
    assert interval(spearman, predicted, gold) == interval(spearman, predicted, gold)
    assert interval(spearman, predicted, gold, seed=1) != interval(spearman, predicted, gold)


def test_quick_at_the_size_of_a_test_set():
    rng = np.random.default_rng(9)
    gold = rng.integers(0, 26, 1400) / 5
    predicted = noisy(rng, gold, 1).astype(np.float32)
    start = time.perf_counter()
    interval(spearman, predicted, gold)
    assert time.perf_counter() - start < 3  # 0.24 s was measured, on a machine busy with other work


def test_mcnemar_by_hand():
    gold = np.ones(20)
    first, second = np.ones(20), np.ones(20)
    second[:6], first[6:8] = 0, 0  # six only the first gets right, two only the second
    expected = 2 * sum(stats.binom.pmf(number, 8, 0.5) for number in range(3))
    assert mcnemar(first, second, gold) == pytest.approx(expected)
    assert mcnemar(second, first, gold) == pytest.approx(expected)
    assert mcnemar(first, first, gold) == 1


def test_refused():
    with pytest.raises(BadInput, match=r"level is 95, but must lie between 0 and 1, such as 0\.95"):
        interval(spearman, [1, 2], [1, 2], level=95)
    with pytest.raises(BadInput, match="resamples is 0"):
        interval(spearman, [1, 2], [1, 2], resamples=0)
    with pytest.raises(BadInput, match="got 3 predictions and 2 gold scores"):
        interval(spearman, [1, 2, 3], [1, 2])
    with pytest.raises(BadInput, match="got 1 predictions and 2 gold labels"):
        compare(accuracy, [1, 2], [1], [1, 2])
    with pytest.raises(BadInput, match="all 2 gold scores are equal"):
        compare(pearson, [1, 2], [2, 1], [1, 1])
