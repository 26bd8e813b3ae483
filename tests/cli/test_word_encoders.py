"""Every verb that takes a model of any kind takes a word encoder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commandline import failure, sbert

from sbert import WordEncoder


@pytest.fixture
def words(folder) -> str:
    Path("벡터.txt").write_text("비 1 0\ncat 0 1\n눈 1 1\n", encoding="utf-8")
    WordEncoder.from_vectors("벡터.txt").save_pretrained("낱말")
    return "낱말"


def test_a_word_encoder_scores_and_ranks(words):
    Path("쌍.tsv").write_text("sentence1\tsentence2\n비\tcat\n비\t눈\n", encoding="utf-8")
    rows = [json.loads(line) for line in sbert("predict", words, "쌍.tsv").stdout.splitlines()]
    assert [row["prediction"] for row in rows] == pytest.approx([0, 0.5**0.5])
    assert {row["scale"] for row in rows} == {"cosine"}
    assert "this WordEncoder gives its cosine only" in failure("predict", words, "쌍.tsv", "--as", "logit", code=2)
    Path("글.txt").write_text("cat\n눈\n비\n", encoding="utf-8")
    hits = json.loads(sbert("rank", words, "비", "글.txt", "--json").stdout)
    assert [hit["text"] for hit in hits] == ["비", "눈", "cat"]


def test_info_of_a_word_encoder(words):
    facts = json.loads(sbert("info", words, "--json").stdout)
    assert (facts["kind"], facts["vocabulary"], facts["dimension"], facts["lstm_size"]) == ("WordEncoder", 3, 2, None)
    assert "architecture" not in facts
    assert "WordEncoder" in sbert("info", words).stdout


def test_the_doctor_and_a_word_encoder(words):
    report = json.loads(sbert("doctor", words, "--json").stdout)
    findings = {finding["name"]: finding["sentence"] for finding in report["findings"]}
    assert list(findings) == ["software", "machine", "model", "stability"]
    assert findings["stability"].startswith("40 of 40 texts have bit-identical vectors")


def test_two_word_encoders_compared(words):
    Path("글.txt").write_text("cat\n눈\n비\n", encoding="utf-8")
    found = json.loads(sbert("compare", words, words, "--texts", "글.txt", "--json").stdout)
    assert found["drift"]["cosine"]["mean"] == pytest.approx(1)
