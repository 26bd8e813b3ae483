"""Wikipedia sections: the published triplets, the self-built ones, and which of them was measured."""

from __future__ import annotations

import numpy as np
import pytest

from sbert.evaluate import Triplets
from sbert.evaluate.suites.catalog import SUITES

ROWS = [
    ("서울의 역사", "조선의 수도였다", "인구는 천만이다"),
    ("The lobster is blue", "It turns red", "It lives in the sea"),
    ("a", "bbbbbbbb", "aa"),
    ("기차", "기차역", "비행기 여행"),
]


class Lengths:
    def encode(self, sentences, *, on_truncate="warn"):
        assert on_truncate == "ignore"
        return np.array([[len(text), text.count(" ")] for text in sentences], np.float32)


def test_the_published_set_comes_first(tmp_path):
    rows = "".join(f'{n},"{a}","{b}","{c}"\n' for n, (a, b, c) in enumerate(ROWS))
    (tmp_path / "wikipedia-sections-triplets").mkdir()
    path = tmp_path / "wikipedia-sections-triplets" / "test.csv"
    path.write_text(f"Article,Sentence1,Sentence2,Sentence3\n{rows}", encoding="utf-8")
    own = ["split\tanchor\tpositive\tnegative", "test\ta\ta\tlong", "valid\ta\tlong\ta"]
    (tmp_path / "wikisection_triplets_selfbuilt.tsv").write_text("\n".join(own), encoding="utf-8")
    (score,) = SUITES["sections"].run(Lengths(), tmp_path).scores
    assert (score.name, score.items, score.note) == ("euclidean_accuracy", 4, "")
    assert score.value == pytest.approx(Triplets(*zip(*ROWS, strict=True))(Lengths())["euclidean_accuracy"])
    assert 100 * score.predicted.mean() == score.value
    assert 0 < score.value < 100
    path.unlink()
    (score,) = SUITES["sections"].run(Lengths(), tmp_path).scores
    assert (score.items, score.value) == (1, 100.0)
    assert score.note == "self-built from WikiText-2, not the set of Dor et al. 2018"


def test_missing(tmp_path):
    ((task, reason),) = SUITES["sections"].run(Lengths(), tmp_path).missing
    assert task == "wikipedia_sections"
    assert "wikipedia-sections-triplets/test.csv (Dor et al. 2018" in reason


def test_the_real_self_built_set(shared_data):
    (score,) = SUITES["sections"].run(Lengths(), shared_data).scores
    assert score.items == 4070
    assert score.note.startswith("self-built")
