"""Ranked lists against hand counts, scikit-learn, and a plain second reading of the definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from sbert.errors import BadInput, BadOption
from sbert.evaluate.metrics.ranking import (
    Figure,
    Judged,
    accuracy_at,
    judge,
    map_at,
    mrr_at,
    ndcg_at,
    precision_at,
    recall_at,
    shared_grades,
)

IDS = "가나다라마바사"
QUERY = st.tuples(
    st.permutations(IDS).flatmap(lambda ids: st.integers(1, len(ids)).map(lambda length: ids[:length])),
    st.dictionaries(st.sampled_from(IDS), st.integers(1, 3), min_size=1),
)


def plainly(ranked, grades, k):
    """The definitions of TREC, one query, word for word."""
    first = ranked[:k]
    hits = [place for place, item in enumerate(first, 1) if item in grades]
    gain = sum(grades.get(item, 0) / math.log2(place + 1) for place, item in enumerate(first, 1))
    best = sum(grade / math.log2(place + 1) for place, grade in enumerate(sorted(grades.values())[::-1][:k], 1))
    return {
        accuracy_at: float(bool(hits)),
        precision_at: len(hits) / k,
        recall_at: len(hits) / len(grades),
        mrr_at: 1 / hits[0] if hits else 0.0,
        map_at: sum(number / place for number, place in enumerate(hits, 1)) / min(k, len(grades)),
        ndcg_at: gain / best,
    }


@given(st.lists(QUERY, min_size=1, max_size=5), st.integers(1, 9))
def test_as_defined(queries, k):
    judged = judge([ranked for ranked, _ in queries], [grades for _, grades in queries])
    expected = [plainly(ranked, grades, k) for ranked, grades in queries]
    for metric in expected[0]:
        found = metric(judged, k)
        assert found == pytest.approx([100 * scores[metric] for scores in expected])
        assert ((found >= 0) & (found <= 100 + 1e-9)).all()


@given(QUERY, st.integers(1, 9))
def test_best_order_reaches_100(query, k):
    _, grades = query
    judged = judge([sorted(grades, key=grades.get, reverse=True)], [grades])
    assert [metric(judged, k)[0] for metric in (accuracy_at, mrr_at, map_at, ndcg_at)] == pytest.approx([100] * 4)
    assert recall_at(judged, len(IDS))[0] == pytest.approx(100)


def test_ndcg_as_scikit_learn():
    rng = np.random.default_rng(0)
    for _ in range(20):
        grades, scores = rng.integers(0, 4, 12), rng.permutation(12)
        if grades.any():
            judged = judge([np.argsort(-scores).tolist()], [dict(enumerate(grades.tolist()))])
            assert ndcg_at(judged, 10)[0] == pytest.approx(100 * ndcg_score([grades], [scores], k=10))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=15), st.integers(1, 9))
def test_ndcg_of_equal_scores_as_scikit_learn(items, k):
    scores, grades = np.array(items, float).T
    if not grades.any():
        return
    judged = Judged(shared_grades(scores, grades)[None], np.sort(grades)[None, ::-1])
    assert ndcg_at(judged, k)[0] == pytest.approx(100 * ndcg_score([grades], [scores], k=k))


def test_figures_by_name():
    judged = judge([["b", "a"]], [{"a"}])
    assert Figure.parse("mrr@10").values(judged).tolist() == [50.0]
    assert Figure.parse("recall@1").values(judged).tolist() == [0.0]
    with pytest.raises(BadOption, match=r"figure is 'ndgc', but must be one of .*did you mean 'ndcg'"):
        Figure.parse("ndgc@10")
    for name in ("ndcg", "ndcg@", "ndcg@0", "ndcg@ten", "ndcg@-1"):
        with pytest.raises(BadInput, match=f"the figure is '{name}', but must end in the number of places"):
            Figure.parse(name)


def test_by_hand():
    ranked, relevant = [["d3", "d1", "d7", "d2"], ["d9"]], [{"d1", "d2", "d4"}, {"d1": 0, "d2": 2, "d3": -1}]
    judged = judge(ranked, relevant)
    assert accuracy_at(judged, 1).tolist() == [0, 0]
    assert accuracy_at(judged, 2).tolist() == [100, 0]
    assert precision_at(judged, 5).tolist() == [40, 0]  # the places beyond a list's end are wasted
    assert recall_at(judged, 5) == pytest.approx([200 / 3, 0])
    assert mrr_at(judged, 10).tolist() == [50, 0]
    assert map_at(judged, 100) == pytest.approx([100 * (1 / 2 + 2 / 4) / 3, 0])
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert ndcg_at(judged, 10) == pytest.approx([100 * (1 / math.log2(3) + 1 / math.log2(5)) / ideal, 0])


def test_refused():
    with pytest.raises(BadInput, match="got 2 ranked lists and relevant items for 1, but there must be equally many"):
        judge([["a"], ["b"]], [{"a"}])
    with pytest.raises(BadInput, match="at least one"):
        judge([], [])
    with pytest.raises(BadInput, match="nothing is relevant to query 1"):
        judge([["a"], ["b"]], [{"a"}, {"b": 0}])
    for metric in (accuracy_at, precision_at, recall_at, mrr_at, map_at, ndcg_at):
        with pytest.raises(BadInput, match="k is 0, but must be at least 1"):
            metric(judge([["a"]], [{"a"}]), 0)
