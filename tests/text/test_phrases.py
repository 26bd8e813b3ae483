"""Phrases: words without stop words and particles, never across punctuation, the same in NFC and NFD."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbert.text import phrases as module
from sbert.text.phrases import phrases, stem
from sbert.text.stopwords import STOP_WORDS


@pytest.fixture(autouse=True)
def without_kiwi(monkeypatch):
    monkeypatch.setattr(module, "has_morphemes", lambda: False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Deep learning of sentences", ["deep", "deep learning", "learning", "sentences"]),
        ("red, green", ["red", "green"]),
        ("서울의 날씨는 맑습니다", ["서울", "서울 날씨", "날씨"]),
        ("KTX를 예약했습니다, 부산까지", ["ktx", "부산"]),
        ("don't state-of-the-art", ["don't", "don't state-of-the-art", "state-of-the-art"]),
        ("2024 12", []),
        ("", []),
    ],
)
def test_phrases_by_hand(text, expected):
    assert phrases(text) == expected


@given(st.text())
def test_any_text_has_phrases_without_stop_words(text):
    for phrase in phrases(text, longest=3):
        words = phrase.split(" ")
        assert 1 <= len(words) <= 3
        assert not STOP_WORDS & set(words)


@given(st.text(alphabet="가나다라마 바사아자차는을에서KTX."))
def test_both_forms_of_hangul_have_the_same_phrases(text):
    assert phrases(unicodedata.normalize("NFD", text)) == phrases(text)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("결제를", "결제"),
        ("서울에서는", "서울"),
        ("학생들에게", "학생"),
        ("먹었습니다", ""),
        ("나무", "나무"),
        ("나이", "나이"),
    ],
)
def test_particles_are_cut_off(word, expected):
    assert stem(word) == expected


def test_kiwi_finds_nouns(monkeypatch):
    pytest.importorskip("kiwipiepy", reason="kiwipiepy is not installed")
    monkeypatch.setattr(module, "has_morphemes", lambda: True)
    assert phrases("예쁜 강아지가 공원에서 뛰어다녔다.") == ["강아지", "강아지 공원", "공원"]
