"""The intervals of reported scores: which metric each name means, and that it is the score's own."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from sbert.evaluate import interval
from sbert.evaluate.metrics import accuracy, certainty, pearson, spearman
from sbert.evaluate.metrics.significance import compare
from sbert.evaluate.suites.report import Score

RNG = np.random.default_rng(0)
GOLD = RNG.normal(size=200)
PREDICTED = GOLD + RNG.normal(size=200)
CLASSES = np.array(["0", "1"])
LABELS, GUESSED = CLASSES[RNG.integers(2, size=200)], CLASSES[RNG.integers(2, size=200)]


@pytest.mark.parametrize(
    ("name", "metric", "predicted", "gold"),
    [
        ("spearman_cosine", spearman, PREDICTED, GOLD),
        ("spearman", spearman, PREDICTED, GOLD),
        ("pearson_cosine", pearson, PREDICTED, GOLD),
        ("accuracy", accuracy, GUESSED, LABELS),
    ],
)
def test_the_metric_follows_from_the_name(name, metric, predicted, gold):
    score = Score("과제", name, metric(predicted, gold), len(gold), "", predicted, gold)
    assert certainty.interval_of(score) == interval(metric, predicted, gold)
    assert certainty.compare_scores(score, score) == compare(metric, predicted, predicted, gold)


def test_f1_is_scikit_learns():
    value = 100 * f1_score(LABELS, GUESSED, pos_label="1")
    found = certainty.interval_of(Score("mrpc", "f1", value, 200, "", GUESSED, LABELS))
    assert certainty._f1(GUESSED, LABELS) == pytest.approx(value)
    assert found.low < value < found.high


def test_means_of_items():
    items = 100 * RNG.random(300)
    found = certainty.interval_of(Score("cisi", "ndcg@10", items.mean(), 300, "", items))
    error = items.std() / np.sqrt(300)
    assert found == pytest.approx((items.mean() - 1.96 * error, items.mean() + 1.96 * error), abs=0.4)


def test_nothing_is_claimed_without_predictions():
    assert certainty.interval_of(Score("afs", "pearson", 50.0, 9)) is None
    flat = Score("stsb", "spearman", float("nan"), 200, "", np.ones(200), GOLD)
    whole = Score("stsb", "spearman", spearman(PREDICTED, GOLD), 200, "", PREDICTED, GOLD)
    part = Score("stsb", "spearman", 50.0, 100, "", PREDICTED[:100], GOLD[:100])
    assert certainty.interval_of(flat) is None
    assert certainty.compare_scores(whole, flat) is None
    assert certainty.compare_scores(whole, part) is None
