"""Words: how texts are split, which words are kept, and the account of what did not fit."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbert.errors import BadInput
from sbert.text import WordTokenizer, batches, split_words

WORDS = ["고양이", "cat", "the", "sleeps", "비가", "."]
TEXTS = st.lists(st.sampled_from(["고양이", "the", "CAT", "dog", "비가", "?", "."]), max_size=9).map(" ".join)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The cat sleeps.", ["the", "cat", "sleeps", "."]),
        ("Don't! We can't, it's Tom’s.", ["do", "n't", "!", "we", "ca", "n't", ",", "it", "'s", "tom", "'s", "."]),
        ("'tis o'clock, rock'n'roll", ["'", "tis", "o'clock", ",", "rock'n'roll"]),
        ("a well-known T-shirt -- really", ["a", "well-known", "t-shirt", "-", "-", "really"]),
        ("$1,234.56 (+62%) in 2019.", ["$", "1,234.56", "(", "+", "62", "%", ")", "in", "2019", "."]),
        ("At 7 p.m. in the U.S., he left.", ["at", "7", "p.m.", "in", "the", "u.s.", ",", "he", "left", "."]),
        ("고양이가 돌담 위에 앉아 있다.", ["고양이가", "돌담", "위에", "앉아", "있다", "."]),
        ("‘BERT’를 fine-tuning 했다…", ["‘", "bert", "'", "를", "fine-tuning", "했다", "…"]),
        ("Café\tnaïve\nZürich", ["café", "naïve", "zürich"]),
        ("I ❤ 한국🍕", ["i", "❤", "한국", "🍕"]),
        (" \n", []),
        ("", []),
    ],
)
def test_words_and_signs(text, words):
    assert split_words(text) == words


def test_decomposed_letters_are_composed():
    text = "고양이가 Café에"
    assert split_words(unicodedata.normalize("NFD", text)) == split_words(text) == ["고양이가", "café에"]


def test_case_is_kept_where_asked():
    assert split_words("Der Hund", lower_case=False) == ["Der", "Hund"]
    tokenizer = WordTokenizer(["Hund"], lower_case=False)
    assert tokenizer(["Hund hund"]).ids.tolist() == [1]


@given(st.text())
def test_any_text_is_split_and_nothing_but_space_is_lost(text):
    letters = "".join(unicodedata.normalize("NFC", text.lower()).replace("’", "'").split())
    assert "".join(split_words(text)) == "".join(letter for letter in letters if not letter.isspace())


def test_unknown_words_fall_out_and_nothing_known_is_zero():
    tokens = WordTokenizer(WORDS)(["The dog: cat", "개", "고양이 비가 고양이", ""])
    assert tokens.ids.tolist() == [3, 2, 0, 1, 5, 1, 0]
    assert tokens.lengths.tolist() == [2, 1, 3, 1]
    assert tokens.owners.tolist() == [0, 1, 2, 3]
    assert (tokens.truncation.truncated, tokens.truncation.tokens, tokens.truncation.longest) == (0, 7, 3)


def test_no_texts():
    tokens = WordTokenizer(WORDS)([])
    assert (tokens.ids.tolist(), tokens.lengths.tolist(), list(batches(tokens, 8))) == ([], [], [])


def test_what_does_not_fit_is_counted():
    tokens = WordTokenizer(WORDS, max_length=2)(["the cat sleeps .", "고양이", "비가 the dog cat"])
    assert tokens.ids.tolist() == [3, 2, 1, 5, 3]
    assert (
        str(tokens.truncation) == "2 of 3 texts truncated at 2 tokens, 37.5% of all tokens dropped; the longest has 4"
    )


def test_or_becomes_windows():
    tokens = WordTokenizer(WORDS, max_length=2)(["the cat sleeps", "고양이", "비가 the cat ."], windows=True)
    assert tokens.ids.tolist() == [3, 2, 4, 1, 5, 3, 2, 6]
    assert tokens.lengths.tolist() == [2, 1, 1, 2, 2]
    assert tokens.owners.tolist() == [0, 0, 1, 2, 2]


@given(st.lists(TEXTS, max_size=6), st.integers(1, 4))
def test_windows_are_the_whole_text_and_cutting_keeps_its_beginning(texts, size):
    tokenizer = WordTokenizer(WORDS)
    whole, short = tokenizer(texts), tokenizer.with_max_length(size)
    windows, cut = short(texts, windows=True), short(texts)
    assert windows.ids.tolist() == whole.ids.tolist()
    assert windows.lengths.max(initial=1) <= size
    assert np.bincount(windows.owners, windows.lengths, len(texts)).tolist() == whole.lengths.tolist()
    beginnings = [row[:size].tolist() for row in np.split(whole.ids, np.cumsum(whole.lengths))[:-1]]
    assert [row.tolist() for row in np.split(cut.ids, np.cumsum(cut.lengths))[:-1]] == beginnings
    assert cut.truncation == windows.truncation
    assert cut.truncation.lost == whole.lengths.sum() - cut.lengths.sum()


def test_another_length_knows_the_same_words():
    tokenizer = WordTokenizer(WORDS, lower_case=False)
    other = tokenizer.with_max_length(1)
    assert (other.words, other.lower_case, len(other)) == (tuple(WORDS), False, 6)
    assert (tokenizer.max_length, other.max_length) == (512, 1)


def test_refusals():
    with pytest.raises(BadInput, match="word 3, '비', is word 1 already; name each word once"):
        WordTokenizer(["비", "눈", "비"])
    with pytest.raises(BadInput, match="max_length is 0, but must be at least 1"):
        WordTokenizer(WORDS, max_length=0)
