"""Long texts are cut before they are tokenised, and not one token of what is kept changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from sbert.errors import BadInput, BadModel
from sbert.text import Tokenizer, check_texts, slices
from sbert.text.slices import divide, head

PIECES = [
    "cat",
    "고양이",
    "sat ",
    "  ",
    "\n\n",
    "1234567",
    ".",
    "!?",
    "it's",
    "é",
    "e\u0301",
    "中文。",
    "ㅋㅋ",
    "[SEP]",
    "😀",
]
PIECES += ["😀", "_", " ", "\u3000", "x" * 30]
texts = st.lists(st.sampled_from(PIECES), max_size=120).map("".join)


def wordpiece() -> tokenizers.Tokenizer:
    """BERT's tokenizer, which knows a few words and the letters of others."""
    letters = sorted({letter for piece in PIECES for letter in piece.strip()} | set("abcdefghijklmnopqrstuvwxyz"))
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "cat", "고양이", *letters, *(f"##{letter}" for letter in letters)]
    model = tokenizers.models.WordPiece({word: i for i, word in enumerate(words)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.add_special_tokens(["[SEP]"])
    return tokenizer


def byte_level() -> tokenizers.Tokenizer:
    """RoBERTa's tokenizer, trained on the texts of these tests."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([" ".join(PIECES)] * 5, trainer)
    return tokenizer


def metaspace() -> tokenizers.Tokenizer:
    """SentencePiece's way of splitting, over single letters."""
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.Unigram([("<unk>", 0.0), ("▁", -1.0), *((letter, -2.0) for letter in "catsi고양이.1")], 0)
    )
    tokenizer.normalizer = tokenizers.normalizers.NFKC()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    return tokenizer


def digits() -> tokenizers.Tokenizer:
    """A byte-level tokenizer that groups digits by three, counted from the left."""
    tokenizer = byte_level()
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(r"\p{N}{1,3}"), "isolated")
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([split, tokenizer.pre_tokenizer])
    return tokenizer


BACKENDS = {
    "wordpiece": wordpiece(),
    "byte-level": byte_level(),
    "metaspace": metaspace(),
    "digits": digits(),
}


@pytest.fixture(autouse=True, scope="module")
def small() -> Iterator[None]:
    before, slices.SLICE = slices.SLICE, 40
    yield
    slices.SLICE = before


def test_a_mark_that_normalization_moves_stays_with_its_letter() -> None:
    backend = byte_level()
    backend.normalizer = tokenizers.normalizers.NFC()
    text = ("한a" + "\u0315" * 300 + "\u0323") * 3  # NFC puts the last mark next to the letter
    ids = [number for part in divide(text, backend, 0) for number in backend.encode(part).ids]
    assert ids == backend.encode(text).ids


@pytest.mark.parametrize("name", BACKENDS)
@given(text=texts)
def test_the_tokens_of_the_slices_are_those_of_the_text(name: str, text: str) -> None:
    backend = BACKENDS[name]
    parts = list(divide(text, backend, 0))
    assert "".join(parts) == text
    ids = [number for part in parts for number in backend.encode(part, add_special_tokens=False).ids]
    assert ids == backend.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("name", BACKENDS)
def test_ordinary_text_is_divided(name: str, sentences: list[str]) -> None:
    text = " ".join(sentences)
    assert len(list(divide(text, BACKENDS[name], 0))) > len(text) / 160


@given(text=texts, max_length=st.integers(3, 40))
def test_rows_and_counts_are_those_of_the_whole_text(text: str, max_length: int) -> None:
    tokenizer = Tokenizer(BACKENDS["wordpiece"], max_length)
    cut = tokenizer([text], prompt="cat ")
    slices.SLICE = 10**9
    try:
        whole = tokenizer([text], prompt="cat ")
    finally:
        slices.SLICE = 40
    assert np.array_equal(cut.ids, whole.ids)
    assert cut.truncation == whole.truncation


@given(first=texts, second=texts, max_length=st.integers(4, 41))
def test_pairs_are_those_of_the_whole_texts(first: str, second: str, max_length: int) -> None:
    tokenizer = Tokenizer(BACKENDS["wordpiece"], max_length)
    pairs = [(first, second), (second, first), (first, first)]
    cut = tokenizer.pairs(pairs)
    slices.SLICE = 10**9
    try:
        whole = tokenizer.pairs(pairs)
    finally:
        slices.SLICE = 40
    assert np.array_equal(cut.ids, whole.ids)
    assert np.array_equal(cut.lengths, whole.lengths)
    assert cut.truncation == whole.truncation


def test_beyond_the_limit_the_counts_are_lower_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sbert.text.tokenizer.MAX_COUNTED", 400)
    truncation = Tokenizer(BACKENDS["wordpiece"], 8)(["cat " * 1000]).truncation
    assert 100 <= truncation.longest < 200
    assert "at least" in str(truncation)
    assert not truncation.exact


def test_what_cannot_be_divided_is_refused_above_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "MAX_UNDIVIDED", 500)
    tokenizer = Tokenizer(BACKENDS["wordpiece"], 8)
    assert len(tokenizer(["a" * 400]).ids) == 3
    with pytest.raises(BadInput, match=r"text 1 has 5\d\d characters without a place where they can be divided"):
        tokenizer(["cat", "a" * 2000])


def test_a_large_text_costs_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "SLICE", 50_000)
    counted = 0

    class Counting:
        """Counts the characters that the library is asked to tokenise."""

        def encode_batch_fast(self, rows: list[str], **options: bool) -> list[tokenizers.Encoding]:
            nonlocal counted
            counted += sum(map(len, rows))
            return BACKENDS["wordpiece"].encode_batch_fast(rows, **options)

        encode: Callable[..., tokenizers.Encoding] = BACKENDS["wordpiece"].encode

    found = head("cat sat. " * 1_000_000, 64, Counting(), 0, slices.MAX_COUNTED)  # type: ignore[arg-type]
    assert len(found.text) < 110_000
    assert counted < 1_200_000


def test_a_tokenizer_that_panics_or_fails_is_told_in_one_sentence() -> None:
    settings = json.loads(BACKENDS["wordpiece"].to_str())
    settings["model"]["unk_token"] = "[GONE]"
    broken = tokenizers.Tokenizer.from_str(json.dumps(settings))
    with pytest.raises(BadModel, match=r"the tokenizer fails on a text: .*; tokenizer\.json is damaged or incomplete"):
        Tokenizer(broken, 16)(["ξένος"])
    settings["pre_tokenizer"] = {"type": "FixedLength", "length": 0}
    with pytest.raises(BadModel, match="the tokenizer fails on a text"):
        Tokenizer(tokenizers.Tokenizer.from_str(json.dumps(settings)), 16)(["cat"])


def test_an_array_without_dimensions() -> None:
    with pytest.raises(BadInput, match="got ndarray, but a text or a sequence of texts is needed"):
        check_texts(np.array("hi"))  # type: ignore[arg-type]
