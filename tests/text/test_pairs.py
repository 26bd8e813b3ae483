"""Pairs: ids and types equal those of transformers, the longer text is cut first, and every lost token is counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tokenizers

from sbert.errors import BadInput, BadOption, TextTooLong
from sbert.text import Tokenizer, batches, check_pairs

LONG = ("고양이가 " * 30, "The cat sits outside. " * 2)


@pytest.fixture
def backend(tiny_folder: Callable[[str], Path]) -> Callable[[str], tokenizers.Tokenizer]:
    return lambda architecture: tokenizers.Tokenizer.from_file(str(tiny_folder(architecture) / "tokenizer.json"))


def split(values: np.ndarray, lengths: np.ndarray) -> list[list[int]]:
    return [row.tolist() for row in np.split(values, np.cumsum(lengths)[:-1])]


@pytest.mark.parametrize("max_length", [7, 20, 128])
@pytest.mark.parametrize("architecture", ["bert", "roberta", "modernbert"])
def test_ids_and_types_equal_those_of_transformers(tiny_folder, text_pairs, backend, architecture, max_length):
    from transformers import AutoTokenizer

    theirs = AutoTokenizer.from_pretrained(tiny_folder(architecture))(
        text_pairs, truncation=True, max_length=max_length, return_token_type_ids=True
    )
    ours = Tokenizer(backend(architecture), max_length).pairs(text_pairs)
    assert split(ours.ids, ours.lengths) == theirs["input_ids"]
    assert split(ours.types, ours.lengths) == theirs["token_type_ids"]
    assert (ours.types.max() == 1) == (architecture != "roberta")


def test_what_is_lost_is_counted_to_the_token(backend, monkeypatch):
    monkeypatch.setattr("sbert.text.tokenizer._TEXTS_AT_ONCE", 2)
    pairs = [LONG, ("a", "b"), (LONG[1], LONG[0]), LONG, ("비가 온다.", "")]
    full = [len(backend("bert").encode(*pair)) for pair in pairs]
    tokens = Tokenizer(backend("bert"), 24).pairs(pairs)
    account = tokens.truncation
    assert tokens.lengths.tolist() == [min(size, 24) for size in full]
    assert (account.texts, account.truncated) == (5, 3)
    assert (account.tokens, account.lost, account.longest) == (sum(full), sum(full) - tokens.lengths.sum(), max(full))
    assert tokens.owners.tolist() == [0, 1, 2, 3, 4]
    assert str(account).startswith("3 of 5 pairs truncated at 24 tokens, ")


def test_the_longer_text_is_cut_first(backend):
    tokens = Tokenizer(backend("bert"), 60).pairs([LONG])
    short = len(backend("bert").encode(LONG[1], add_special_tokens=False))
    assert tokens.lengths.tolist() == [60]
    assert (tokens.types == 1).sum() == short + 1  # with its own separator


def test_nothing_at_all(backend):
    tokens = Tokenizer(backend("bert"), 24).pairs([])
    assert len(tokens.ids) == len(tokens.types) == len(tokens.lengths) == tokens.truncation.longest == 0


def test_lower_case_reaches_both_texts(backend):
    tokenizer = Tokenizer(backend("roberta"), 12, lower_case=True)
    upper, lower = (
        tokenizer.pairs([("HELLO WORLD", "ONE TWO THREE " * 9)]),
        tokenizer.pairs([("hello world", "one two three " * 9)]),
    )
    assert upper.ids.tolist() == lower.ids.tolist()


def test_a_tokenizer_without_types_gives_none(backend):
    assert Tokenizer(backend("bert"), 24, types=False).with_max_length(20).pairs([LONG]).types is None


def test_types_stay_beside_their_ids_in_batches(backend, text_pairs):
    tokens = Tokenizer(backend("bert"), 24).pairs(text_pairs)
    ids, types = split(tokens.ids, tokens.lengths), split(tokens.types, tokens.lengths)
    seen = []
    for rows, batch in batches(tokens, 100):
        assert batch.token_types.dtype == np.int64
        assert split(batch.input_ids, np.array(batch.lengths)) == [ids[row] for row in rows]
        assert split(batch.token_types, np.array(batch.lengths)) == [types[row] for row in rows]
        seen += rows.tolist()
    assert sorted(seen) == list(range(len(text_pairs)))
    assert all(batch.token_types is None for _, batch in batches(Tokenizer(backend("bert"), 24)(["비"]), 100))


def test_what_to_do_about_long_pairs(backend, caplog):
    account = Tokenizer(backend("bert"), 8).pairs([LONG]).truncation
    account.report("ignore")
    assert not caplog.records
    account.report("warn")
    assert "1 of 1 pairs truncated at 8 tokens" in caplog.records[0].message
    with pytest.raises(TextTooLong, match=r"; shorten the texts or choose on_truncate='warn'$"):
        account.report("raise")
    with pytest.raises(BadOption, match="on_truncate is 'chunk', but must be one of 'warn', 'raise', 'ignore'"):
        account.report("chunk")


def test_no_room_for_any_token(backend):
    with pytest.raises(
        BadInput, match=r"max_seq_length is 3, but the tokenizer alone adds 3 special tokens; .* least 4"
    ):
        Tokenizer(backend("bert"), 3).pairs([("a", "b")])


@pytest.mark.parametrize(
    ("pairs", "complaint"),
    [
        ([("a", "b")] * 3 + [("a", "b", "c")], "row 3 has 3 texts, but a pair has two"),
        ([("a",)], "row 0 has 1 texts, but a pair has two"),
        (("고양이", "개"), r"row 0 is str, but every row must be a pair of texts; a single pair is \[\(a, b\)\]"),
        ([("a", "b"), ("비", None)], "row 1 holds NoneType, but a pair is two texts"),
        ([("a", "b"), None], "row 1 is NoneType, but every row must be a pair"),
        ("고양이", "got str, but a sequence of pairs of texts is needed"),
        (7, "got int, but a sequence of pairs"),
    ],
)
def test_what_is_no_pair(pairs, complaint):
    with pytest.raises(BadInput, match=complaint):
        check_pairs(pairs)


def test_pairs_of_any_kind():
    assert check_pairs([["나", "다"]]) == [("나", "다")]
    assert check_pairs(pair for pair in [("a", ""), ("", "")]) == [("a", ""), ("", "")]


def test_a_lone_surrogate_is_found(backend, monkeypatch):
    monkeypatch.setattr("sbert.text.tokenizer._TEXTS_AT_ONCE", 2)
    with pytest.raises(BadInput, match="text 2 holds a lone surrogate"):
        Tokenizer(backend("bert"), 24).pairs([("a", "b"), ("a", "b"), ("a", "\ud800")])
