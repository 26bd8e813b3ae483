"""A teacher's labels: candidates by search, and work that is kept, belongs to one command and to one process."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sbert import CrossEncoder
from sbert.disk.workplace import Workplace
from sbert.train.distill import WINDOW, fingerprint, label, near_pairs


class Given:
    """An encoder whose vectors are known."""

    similarity_fn_name = "cosine"

    def __init__(self, vectors):
        self.vectors = np.asarray(vectors, np.float32)

    def encode(self, texts, show_progress_bar=False):
        return self.vectors[: len(texts)]


@given(seed=st.integers(0, 10**6), count=st.integers(2, 30), k=st.integers(1, 40))
@settings(max_examples=40)
def test_near_pairs_are_the_nearest_each_once(seed, count, k):
    vectors = np.random.default_rng(seed).normal(size=(count, 4))
    pairs = near_pairs(Given(vectors), ["글"] * count, k).tolist()
    assert all(first < second for first, second in pairs)
    assert len({tuple(pair) for pair in pairs}) == len(pairs)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -2)
    for row in range(count):  # every text has its k nearest, as far as there are so many
        nearest = np.argsort(-cosines[row])[: min(k, count - 1)]
        assert {tuple(sorted((row, int(other)))) for other in nearest} <= {tuple(pair) for pair in pairs}


def test_equal_vectors_are_no_trouble():
    pairs = near_pairs(Given(np.ones((5, 3))), ["글"] * 5, 2)
    assert ((pairs[:, 0] < pairs[:, 1]).all(), len(pairs) >= 5) == (True, True)


@pytest.fixture
def teacher(bert_folder) -> CrossEncoder:
    return CrossEncoder.from_pretrained(bert_folder(0.0))


def test_scores_of_lists_in_their_order(teacher, tmp_path):
    rows = [("비", "눈", "해"), ("A", "B", "고양이"), ("", "x", "")]
    place = Workplace(tmp_path / "일")
    with place.opened({}):
        found = list(label(teacher, [rows[:2], rows[2:]], place, "logit"))
    assert [window for window, _ in found] == [rows[:2], rows[2:]]
    expected = [teacher.predict([(row[0], row[1]), (row[0], row[2])], output="logit").tolist() for row in rows]
    assert np.concatenate([scores for _, scores in found]).tolist() == expected


def test_the_fingerprint_is_of_weights_and_texts(teacher, bert_folder):
    rows = [("비", "눈"), ("A", "B")]
    same = fingerprint(CrossEncoder.from_pretrained(bert_folder(0.0)), rows)
    assert fingerprint(teacher, rows) == same == {**same, "window": WINDOW}
    assert fingerprint(teacher, [("비", "눈A"), ("", "B")])["texts"] != same["texts"]
    assert fingerprint(CrossEncoder.from_pretrained(bert_folder(0.0), seed=1), rows)["teacher"] != same["teacher"]
    teacher.scale = "identity"
    assert fingerprint(teacher, rows)["teacher"] != same["teacher"]
