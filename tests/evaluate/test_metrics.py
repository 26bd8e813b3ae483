"""Metrics against scipy and scikit-learn, times 100, with ties; and what cannot be measured."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sentence_transformers.sentence_transformer.evaluation import BinaryClassificationEvaluator
from sklearn import metrics as sklearn_metrics

from sbert.errors import BadInput
from sbert.evaluate.metrics import average_precision, best_accuracy, best_f1, pearson, spearman
from sbert.evaluate.metrics import prediction as metrics

NUMBERS = st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 5)), min_size=3, max_size=40)
# Few different scores: most have ties.
BINARY = st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 1)), min_size=2, max_size=30).filter(
    lambda rows: {label for _, label in rows} == {0, 1}
)
CLASSES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)


def columns(rows):
    predicted, gold = np.array(rows).T
    return predicted / 4, gold


@given(NUMBERS)
def test_correlations_as_scipy(pairs):
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


def test_correlation_by_hand():
    predicted, gold = np.array([0.1, 0.9, 0.5, 0.5]), np.array([1, 4, 2, 3])
    assert spearman(predicted, gold) == pytest.approx(100 * 4.5 / np.sqrt(4.5 * 5))  # ranks 1, 4, 2.5, 2.5
    assert spearman(predicted, gold) == pytest.approx(spearman(np.exp(predicted), 7 * gold))
    assert spearman(predicted, -gold) == pytest.approx(-spearman(predicted, gold))


@settings(max_examples=30)
@given(CLASSES)
def test_classes_as_scikit_learn(rows):
    predicted, gold = np.array(rows).T
    assert metrics.accuracy(predicted, gold) == pytest.approx(100 * sklearn_metrics.accuracy_score(gold, predicted))
    for average, kinds in [("macro", (gold, predicted)), ("binary", (gold == 1, predicted == 1))]:
        found = metrics.precision_recall_f1(kinds[1], kinds[0], average)
        scores = [
            function(*kinds, average=average, zero_division=0)
            for function in (sklearn_metrics.precision_score, sklearn_metrics.recall_score, sklearn_metrics.f1_score)
        ]
        assert found == pytest.approx([100 * score for score in scores])
    assert 0 <= metrics.precision_recall_f1(predicted, gold, "macro").f1 <= 100


@settings(max_examples=30)
@given(CLASSES)
def test_clusters_as_scikit_learn_whatever_they_are_called(rows):
    predicted, gold = np.array(rows).T
    for ours, theirs in [
        (metrics.v_measure, sklearn_metrics.v_measure_score),
        (metrics.nmi, sklearn_metrics.normalized_mutual_info_score),
        (metrics.ari, sklearn_metrics.adjusted_rand_score),
    ]:
        assert ours(predicted, gold) == pytest.approx(100 * theirs(gold, predicted))
        assert ours(3 - predicted, gold) == pytest.approx(ours(predicted, gold))
        assert ours(gold, gold) == pytest.approx(100)
    assert metrics.v_measure(predicted, gold) == pytest.approx(metrics.nmi(predicted, gold), abs=1e-6)


@given(BINARY)
def test_average_precision_as_scikit_learn(rows):
    predicted, gold = columns(rows)
    found = average_precision(predicted, gold)
    assert found == pytest.approx(100 * sklearn_metrics.average_precision_score(gold, predicted))
    assert average_precision(np.exp(predicted), gold) == pytest.approx(found)  # the order alone counts
    shuffled = np.random.default_rng(0).permutation(len(gold))
    assert average_precision(predicted[shuffled], gold[shuffled]) == pytest.approx(found)  # ties have no order


@given(BINARY)
def test_best_thresholds_as_sentence_transformers(rows):
    predicted, gold = columns(rows)
    accuracy, threshold = BinaryClassificationEvaluator.find_best_acc_and_threshold(predicted, gold, True)
    assert best_accuracy(predicted, gold) == pytest.approx((100 * accuracy, threshold))
    f1, *_ = BinaryClassificationEvaluator.find_best_f1_and_threshold(predicted, gold, True)
    assert best_f1(predicted, gold).f1 == pytest.approx(100 * f1)


@settings(max_examples=30)
@given(BINARY)
def test_best_thresholds_give_what_they_say_and_none_gives_more(rows):
    predicted, gold = columns(rows)
    right, best = best_accuracy(predicted, gold), best_f1(predicted, gold)
    assert metrics.accuracy(predicted >= right.threshold, gold) == pytest.approx(right.accuracy)
    assert metrics.precision_recall_f1(predicted >= best.threshold, gold) == pytest.approx(best[:3])
    for threshold in [*predicted, predicted.max() + 1]:
        assert metrics.accuracy(predicted >= threshold, gold) <= right.accuracy + 1e-9
        assert metrics.precision_recall_f1(predicted >= threshold, gold).f1 <= best.f1 + 1e-9


def test_thresholds_by_hand():
    # Taken from the top: 1 of 1, 2 of 3 (a tie), 3 of 4, 3 of 5.
    predicted, gold = [0.9, 0.7, 0.7, 0.5, 0.1], [1, 1, 0, 1, 0]
    assert best_f1(predicted, gold) == pytest.approx((75, 100, 100 * 6 / 7, 0.3))
    assert best_accuracy(predicted, gold) == pytest.approx((80, 0.3))
    assert average_precision(predicted, gold) == pytest.approx(100 * (1 + 2 / 3 + 3 / 4) / 3)
    # Twice as many positives exist: the missing ones are never found.
    assert average_precision(predicted, gold, 6) == pytest.approx(100 * (1 + 2 / 3 + 3 / 4) / 6)
    assert best_f1(predicted, gold, 6).recall == pytest.approx(50)
    # Where the best is to call nothing positive, the threshold lies above all.
    assert best_accuracy([0.5, 0.4, 0.3], [0, 0, 1]) == pytest.approx((200 / 3, 0.5))
    assert best_accuracy([0.5, 0.4, 0.3], [0, 0, 1]).threshold > 0.5


def test_threshold_between_neighbours_lets_the_lower_one_not_in():
    high = np.nextafter(1.0, 2.0)  # no float64 lies between, and halfway rounds to the lower one
    assert best_f1([high, 1.0], [1, 0]) == (100, 100, 100, high)
    assert best_accuracy([high, 1.0], [1, 0]).threshold == high


def test_matthews():
    predicted, gold = np.array([1, 1, 0, 0, 1]), np.array([1, 0, 0, 0, 1])
    assert metrics.matthews(predicted, gold) == pytest.approx(100 * np.corrcoef(predicted, gold)[0, 1])
    assert metrics.matthews([1, 1], [0, 1]) == 0


@pytest.mark.parametrize("correlation", [spearman, pearson])
def test_correlations_refused(correlation):
    with pytest.raises(BadInput, match="got 2 predictions and 3 gold scores"):
        correlation(np.array([1.0, 2.0]), np.array([1, 2, 3]))
    with pytest.raises(BadInput, match="at least two"):
        correlation(np.array([1.0]), np.array([1]))
    with pytest.raises(BadInput, match="all 3 gold scores are equal"):
        correlation(np.array([1.0, 2.0, 3.0]), np.array([4, 4, 4]))


@pytest.mark.parametrize(
    "name", ["accuracy", "attained", "precision_recall_f1", "matthews", "v_measure", "nmi", "ari"]
)
def test_lengths_refused(name):
    with pytest.raises(BadInput, match="got 1 predictions and 2 gold labels, but there must be equally many"):
        getattr(metrics, name)([1], [1, 0])
    with pytest.raises(BadInput, match="at least one"):
        getattr(metrics, name)([], [])


@pytest.mark.parametrize("metric", [average_precision, best_accuracy, best_f1])
def test_labels_refused(metric):
    with pytest.raises(BadInput, match="the labels are 0, but there must be some of 1"):
        metric([0.1, 0.2], [0, 0])
    with pytest.raises(BadInput, match="the labels are 1, 2, but"):
        metric([0.1, 0.2], [1, 2])
