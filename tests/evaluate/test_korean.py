"""The Korean tasks of paraphrases: their files are read as published, and their figures are counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sbert.evaluate import Retrieval
from sbert.evaluate.suites import SUITES

QUESTIONS = [("0", "메일 지울까"), ("0", "메일 버릴까"), ("1", "날씨 어때"), ("1", "날씨 맑아"), ("1", "비 올까")]
ANGLES = dict(zip((text for _, text in QUESTIONS), (0, 10, 90, 100, 12), strict=True))


class Angles:
    """An encoder that places every text on a circle."""

    def encode(self, sentences, *, on_truncate="warn"):
        angles = np.radians([ANGLES[text] for text in sentences])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def figures(task, folder):
    report = SUITES["korean"].only(task).run(Angles(), folder)
    assert not report.missing
    return {score.name: score.value for score in report.scores}


def test_every_question_finds_the_others_of_its_intent(tmp_path):
    lines = [f"all\t{intent}\t{text}" for intent, text in QUESTIONS]
    (tmp_path / "parakqc_ko.tsv").write_text("\n".join(["split\tintent\ttext", *lines]), "utf-8")
    found = figures("parakqc", tmp_path)
    # The ranks of the relevant questions: 1; 2; 1 and 2; 1 and 2; 3 and 4.
    assert found["map@100"] == pytest.approx(100 * np.mean([1, 1 / 2, 1, 1, (1 / 3 + 2 / 4) / 2]))
    assert found["mrr@10"] == pytest.approx(100 * np.mean([1, 1 / 2, 1, 1, 1 / 3]))


def test_a_question_finds_itself_unless_its_own_id_is_skipped():
    texts = {name: text for name, (_, text) in enumerate(QUESTIONS)}
    for skip, expected in ((True, 100.0), (False, 50.0)):
        evaluator = Retrieval({0: texts[0]}, texts, {0: {1}}, figures=["mrr@10"], skip_own_id=skip)
        assert evaluator(Angles()) == {"cosine_mrr@10": expected}
    with_its_own = Retrieval({0: texts[0]}, texts, {0: {1}}, skip_own_id=True)
    assert repr(with_its_own) != repr(Retrieval({0: texts[0]}, texts, {0: {1}}))


def test_pairs_of_questions_with_label_0_mean_the_same(tmp_path):
    rows = [("test", 0, 0, 1), ("test", 1, 0, 2), ("test", 0, 2, 3), ("train", 1, 0, 1)]
    lines = [f"{split}\t{label}\t{QUESTIONS[a][1]}\t{QUESTIONS[b][1]}" for split, label, a, b in rows]
    path = tmp_path / "kor_question_pair.tsv"
    path.write_text("\n".join(["split\tlabel\ttext\ttext2", *lines]), "utf-8")
    assert figures("question_pairs_test", tmp_path) == {"cosine_ap": 100.0, "cosine_accuracy": 100.0}
    path.write_text("split\tlabel\ttext\ttext2\ntest\t7\t가\t나\n", "utf-8")
    ((_, reason),) = SUITES["korean"].only("question_pairs_test").run(Angles(), tmp_path).missing
    assert "the label is '7', but must be 0 or 1" in reason
