"""Scores: their intervals and comparisons are those of the metric that they carry."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from sbert.evaluate import BinaryPairs, Score, Similarity, compare, interval
from sbert.evaluate.metrics import accuracy, attained, f1, pearson, spearman
from sbert.evaluate.score import Missing, Report

RNG = np.random.default_rng(0)
GOLD = RNG.normal(size=200)
PREDICTED = GOLD + RNG.normal(size=200)
CLASSES = np.array(["0", "1"])
LABELS, GUESSED = CLASSES[RNG.integers(2, size=200)], CLASSES[RNG.integers(2, size=200)]


@pytest.mark.parametrize(
    ("metric", "predicted", "gold"),
    [(spearman, PREDICTED, GOLD), (pearson, PREDICTED, GOLD), (accuracy, GUESSED, LABELS)],
)
def test_the_interval_is_that_of_the_metric_whatever_the_name(metric, predicted, gold):
    score = Score.measured("과제 가운데 하나", metric, predicted, gold)
    assert (score.value, score.items) == (metric(predicted, gold), 200)
    assert score.interval() == interval(metric, predicted, gold)
    assert score.compare(score) == compare(metric, predicted, predicted, gold)


def test_f1_is_scikit_learns():
    value = 100 * f1_score(LABELS, GUESSED, pos_label="1")
    score = Score.measured("f1", f1, GUESSED == "1", LABELS == "1")
    assert score.value == pytest.approx(value)
    assert score.interval().low < value < score.interval().high
    assert f1([0, 0], [0, 0]) == 0


def test_means_of_items():
    items = 100 * RNG.random(300)
    score = Score.mean_of("ndcg@10", items)
    error = items.std() / np.sqrt(300)
    assert score.interval() == pytest.approx((items.mean() - 1.96 * error, items.mean() + 1.96 * error), abs=0.4)
    assert score.value == items.mean() == pytest.approx(attained(score.predicted, score.gold))


def test_no_interval_without_predictions():
    whole = Score.measured("spearman", spearman, PREDICTED, GOLD)
    flat = Score.measured("spearman", spearman, np.ones(200), GOLD)
    part = Score.measured("spearman", spearman, PREDICTED[:100], GOLD[:100])
    other = Score.measured("spearman", pearson, PREDICTED, GOLD)
    assert np.isnan(flat.value)
    assert Score("pearson", 50.0, 9).interval() is None
    assert flat.interval() is None
    for unlike in (flat, part, other, Score("spearman", 50.0, 200)):
        assert whole.compare(unlike) is None
        assert unlike.compare(whole) is None


def test_every_score_of_an_evaluator_is_its_metric(encoders, sentences):
    first, second = sentences[:30], sentences[30:60]
    for evaluator in (Similarity(first, second, GOLD[:30]), BinaryPairs(first, second, np.tile([0, 1], 15))):
        scores = evaluator.scores(encoders[0])
        assert {score.name: score.value for score in scores} == evaluator(encoders[0])
        measured = [score for score in scores if score.metric]
        assert all(score.metric(score.predicted, score.gold) == score.value for score in measured)
        assert {score.name for score in scores if not score.metric} <= {
            f"{by}_{name}"
            for by in ("cosine", "dot", "euclidean", "manhattan")
            for name in ("accuracy_threshold", "f1_threshold", "precision", "recall", "mcc")
        }


def test_as_text():
    assert str(Score("accuracy", 75.0, 4)) == "accuracy 75.00, 4 items"
    assert str(Score("accuracy", 75.0, 4, task="mr", note="3 folds")) == "mr accuracy 75.00, 4 items  (3 folds)"


def test_a_report_is_a_table_in_a_notebook():
    scores = (Score("spearman_cosine", 80.126, 1379, task="korsts", note="<표>"),)
    html = Report("한국어", scores, (Missing("klue", "the file is missing"),))._repr_html_()
    assert "<caption>한국어: 80.13, the average of 1 of 2 tasks</caption>" in html
    assert "<td>korsts</td><td>spearman_cosine</td><td>80.13</td><td>1,379</td><td>&lt;표&gt;</td>" in html
    assert "<td>klue</td><td>not measured</td>" in html
