"""Tf-idf against its formula, in English and Korean."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest

from sbert.data import read
from sbert.errors import BadInput, BadOption
from sbert.evaluate import Similarity
from sbert.models.tfidf import TfIdf

TEXTS = ["비 비 온다", "눈 온다", "The rain."]


def test_by_hand():
    """Words in alphabetical order; idf = ln((1 + N) / (1 + df)) + 1; rows of unit length."""
    model = TfIdf(TEXTS)
    words = [".", "rain", "the", "눈", "비", "온다"]
    rare, common = np.log(4 / 2) + 1, np.log(4 / 3) + 1
    expected = np.zeros((2, 6))
    expected[0, words.index("비")], expected[0, words.index("온다")] = 2 * rare, common
    expected[1, words.index("the")] = rare
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    found = model.encode(["비 비 온다", "THE 처음"])
    assert (found.dtype, model.embedding_dimension) == (np.float32, 6)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_endings_do_not_hide_a_korean_word():
    texts = ["고양이가 잔다", "고양이는 논다", "비가 온다"]
    pairs = ["고양이를", "고양이도"]
    apart, alike = (model.encode(pairs) for model in (TfIdf(texts), TfIdf(texts, unit="bigram")))
    assert apart.max() == 0
    assert alike[0] @ alike[1] == pytest.approx(1)
    decomposed = TfIdf(texts, "bigram").encode([unicodedata.normalize("NFD", "고양이를")])
    np.testing.assert_array_equal(decomposed[0], alike[0])


def test_shapes():
    model = TfIdf(TEXTS)
    assert model.encode("비").shape == (6,)
    assert model.encode([]).shape == (0, 6)
    assert model.encode(iter(TEXTS), on_truncate="ignore").shape == (3, 6)
    assert model.encode([""]).max() == 0


def test_refusals():
    with pytest.raises(BadInput, match="got 2 texts without a word, but there must be some to learn from"):
        TfIdf(["", " "])
    with pytest.raises(BadOption, match=r"unit is 'words'.*did you mean 'word'"):
        TfIdf(TEXTS, "words")
    with pytest.raises(BadInput, match="row 1 is int"):
        TfIdf(["a", 1])
    with pytest.raises(BadOption, match="on_truncate"):
        TfIdf(TEXTS).encode(TEXTS, on_truncate="cut")


@pytest.mark.parametrize(("name", "unit", "least"), [("stsb", "word", 67), ("korsts", "bigram", 66)])
def test_it_serves_the_evaluators(shared_data, name, unit, least):
    columns = read(shared_data / f"{name}.tsv.gz", split="test")
    first, second = columns.texts.values()
    assert Similarity(first, second, columns.labels)(TfIdf([*first, *second], unit))["spearman_cosine"] > least
