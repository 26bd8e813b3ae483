"""WordEncoder: averages by hand, the same vector in any company, and what its options do."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sbert import WordEncoder
from sbert.data import read
from sbert.errors import BadInput, BadOption, TextTooLong
from sbert.evaluate import Similarity
from sbert.models.words import BiLSTM, WordEmbeddings, WordTokenizer
from sbert.paper.rows import average_vectors
from sbert.text import split_words

WORDS = [
    "the",
    "cat",
    "dog",
    "sleeps",
    "runs",
    "a",
    "rain",
    ".",
    ",",
    "고양이가",
    "개가",
    "잔다",
    "달린다",
    "비가",
    "온다",
]
TEXTS = st.lists(st.sampled_from([*WORDS, "unheard", "처음"]), max_size=12).map(" ".join)


def encoder(lstm_size: int | None = None, pooling="mean", trainable: bool = False) -> WordEncoder:
    generator = torch.Generator().manual_seed(3)
    table = torch.randn(len(WORDS) + 1, 10, generator=generator)
    table[0] = 0
    lstm = None
    if lstm_size:
        torch.manual_seed(4)
        lstm = BiLSTM(10, lstm_size)
    return WordEncoder(WordTokenizer(WORDS), WordEmbeddings(table, trainable), lstm, pooling)


@pytest.fixture(scope="module")
def average() -> WordEncoder:
    return encoder()


@pytest.fixture(scope="module")
def recurrent() -> WordEncoder:
    return encoder(8, "max")


@pytest.fixture
def texts(sentences) -> list[str]:
    return [*sentences, "고양이가 잔다", "The cat sleeps, the dog runs.", "비가 온다 . 개가 달린다 처음"]


def by_hand(model: WordEncoder, text: str) -> np.ndarray:
    table = model.embeddings.table.weight.float().numpy().astype(np.float64)
    rows = [WORDS.index(word) + 1 for word in split_words(text) if word in WORDS]
    return table[rows].mean(axis=0) if rows else np.zeros(table.shape[1])


def test_the_average_is_the_average(average, texts):
    expected = np.stack([by_hand(average, text) for text in texts])
    found = average.encode(texts)
    assert found.dtype == np.float32
    assert found.shape == (len(texts), average.embedding_dimension)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert np.abs(expected).max(axis=1).min() == 0  # some text has no known word


def test_max_pooled_states_are_torchs(recurrent, texts):
    table = recurrent.embeddings.table.weight
    with torch.inference_mode():
        for text, vector in zip(texts, recurrent.encode(texts), strict=True):
            rows = [WORDS.index(word) + 1 for word in split_words(text) if word in WORDS] or [0]
            states = recurrent.lstm.lstm(table[rows][None])[0][0]
            np.testing.assert_allclose(vector, states.amax(dim=0).numpy(), atol=1e-6)


def test_sizes_of_several_poolings():
    assert encoder(pooling=["mean", "max"]).encode("cat").shape == (20,)
    assert encoder(5, ["mean", "max", "cls"]).encode(["cat", "dog"]).shape == (2, 30)
    assert encoder(5).embedding_dimension == 10


@settings(max_examples=40)
@given(
    company=st.lists(TEXTS, max_size=40), batch_tokens=st.integers(1, 64), threads=st.integers(1, 2), data=st.data()
)
@pytest.mark.parametrize("kind", ["average", "recurrent"])
def test_a_vector_depends_on_its_text_alone(kind, average, recurrent, company, batch_tokens, threads, data):
    model = {"average": average, "recurrent": recurrent}[kind]
    text = data.draw(TEXTS)
    place = data.draw(st.integers(0, len(company)))
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        together = model.encode([*company[:place], text, *company[place:]], batch_tokens=batch_tokens)[place]
    finally:
        torch.set_num_threads(before)
    assert together.tolist() == model.encode(text).tolist()


def test_one_text_none_and_no_text(average):
    assert average.encode("고양이가 잔다").shape == (10,)
    assert average.encode([]).shape == (0, 10)
    assert average.encode(iter(["cat", "dog"])).shape == (2, 10)
    with pytest.raises(BadInput, match="row 1 is NoneType"):
        average.encode(["cat", None])


def test_unit_length(average):
    vectors = average.encode(["the cat", "비가 온다", "처음"], normalize_embeddings=True)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 1, 0], atol=1e-6)


def test_long_texts_are_never_cut_in_silence(caplog):
    model = encoder()
    long = "the cat sleeps 고양이가 잔다"
    whole = model.encode(long)
    model.max_seq_length = 2
    assert model.max_seq_length == 2
    with caplog.at_level(logging.WARNING):
        cut = model.encode([long])
    assert "1 of 1 texts truncated at 2 tokens" in caplog.text
    np.testing.assert_allclose(cut[0], by_hand(model, "the cat"), atol=1e-6)
    with pytest.raises(TextTooLong, match="shorten the texts"):
        model.encode([long], on_truncate="raise")
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        np.testing.assert_allclose(model.encode([long, "비가"], on_truncate="chunk")[0], whole, atol=1e-6)
        assert model.encode([long], on_truncate="ignore").tolist() == cut.tolist()
    assert not caplog.records
    with pytest.raises(BadOption, match="on_truncate is 'cut'"):
        model.encode([long], on_truncate="cut")


def test_a_new_lstm_follows_from_its_seed(tmp_path):
    (tmp_path / "v.txt").write_text("비 1 2\n눈 3 4\n", encoding="utf-8")
    one, same, other = (
        WordEncoder.from_vectors(tmp_path / "v.txt", lstm_size=3, seed=seed).encode("비 눈") for seed in (1, 1, 2)
    )
    assert one.tolist() == same.tolist() != other.tolist()


def test_vectors_with_capitals_are_looked_up_with_theirs(tmp_path):
    (tmp_path / "v.txt").write_text("Seoul 1 2\nseoul 3 4\n", encoding="utf-8")
    assert WordEncoder.from_vectors(tmp_path / "v.txt").encode(["Seoul", "SEOUL"]).tolist() == [[1, 2], [0, 0]]


def test_refusals():
    with pytest.raises(BadOption, match=r"pooling is 'meen'.*did you mean 'mean'"):
        encoder(pooling="meen")
    with pytest.raises(BadInput, match="got 1 words and 3 vectors, but needs a zero vector and then one"):
        WordEncoder(WordTokenizer(["비"]), WordEmbeddings(torch.zeros(3, 2)))


@pytest.fixture(scope="module")
def glove(shared_data: Path) -> WordEncoder:
    return WordEncoder.from_vectors(shared_data / "glove100")


def test_words_that_this_glove_lacks_are_unknown(glove):
    assert glove.tokenize(["a", "I", "'s", "n't", "고양이가"]).ids.tolist() == [0] * 5
    assert glove.tokenize(["It isn't a cat's"]).lengths.tolist() == [3]  # it is cat
    assert glove.embeddings.table.weight.dtype == torch.float16


def test_average_glove_on_stsb(glove, shared_data):
    """The paper has 58.02 with vectors of 300 dimensions; stop words are what makes the difference."""
    columns = read(shared_data / "stsb.tsv.gz", split="test")
    evaluator = Similarity(*columns.texts.values(), columns.labels)
    assert evaluator(average_vectors(shared_data / "glove100"))["spearman_cosine"] == pytest.approx(57.5, abs=0.3)
    assert evaluator(glove)["spearman_cosine"] == pytest.approx(41.2, abs=0.3)
