"""Token ids equal those of transformers; what does not fit is counted to the token."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers

from sbert.errors import BadInput, BadOption, TextTooLong
from sbert.text import Tokenizer, Tokens, check_texts


@pytest.fixture
def backend(tiny_folder: Callable[[str], Path]) -> tokenizers.Tokenizer:
    return tokenizers.Tokenizer.from_file(str(tiny_folder("bert") / "tokenizer.json"))


def rows_of(tokens: Tokens) -> list[list[int]]:
    return [row.tolist() for row in np.split(tokens.ids, np.cumsum(tokens.lengths)[:-1])]


@pytest.mark.parametrize("architecture", ["bert", "roberta", "modernbert"])
def test_ids_equal_those_of_transformers(
    tiny_folder: Callable[[str], Path], sentences: list[str], architecture: str
) -> None:
    from transformers import AutoTokenizer

    folder = tiny_folder(architecture)
    theirs = AutoTokenizer.from_pretrained(folder)(sentences, truncation=True, max_length=20)["input_ids"]
    ours = Tokenizer(tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json")), max_length=20)
    assert rows_of(ours(sentences)) == theirs


def test_truncation_is_counted_to_the_token(backend: tokenizers.Tokenizer) -> None:
    full = [len(backend.encode(text)) for text in ("고양이 " * 30, "A man is playing a guitar.", "cat " * 50)]
    account = Tokenizer(backend, 16)(["고양이 " * 30, "A man is playing a guitar.", "cat " * 50]).truncation
    lost = sum(max(0, length - 16) for length in full)
    assert (account.texts, account.truncated, account.max_length) == (3, sum(n > 16 for n in full), 16)
    assert (account.lost, account.tokens, account.longest) == (lost, sum(full), max(full))
    assert str(account) == (
        f"{account.truncated} of 3 texts truncated at 16 tokens, {lost / sum(full):.1%} of all tokens dropped; "
        f"the longest has {max(full)}"
    )


def test_windows_hold_every_token_once(backend: tokenizers.Tokenizer) -> None:
    texts = ["고양이가 따뜻한 돌담 위에 앉아 있다. " * 9, "short", "The cat sits outside. " * 20]
    tokens = Tokenizer(backend, 12)(texts, windows=True)
    assert tokens.lengths.max() == 12
    for owner, text in enumerate(texts):
        windows = [row for row, who in zip(rows_of(tokens), tokens.owners, strict=True) if who == owner]
        content = [token for window in windows for token in window[1:-1]]
        assert content == backend.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize(("on_truncate", "lines"), [("warn", 1), ("ignore", 0), ("chunk", 0)])
def test_one_line_a_call(
    backend: tokenizers.Tokenizer, caplog: pytest.LogCaptureFixture, on_truncate: str, lines: int
) -> None:
    tokens = Tokenizer(backend, 8)(["cat " * 30] * 5)
    with caplog.at_level(logging.WARNING):
        tokens.truncation.report(on_truncate)
    assert len(caplog.records) == lines
    assert all("5 of 5 texts truncated at 8 tokens" in record.message for record in caplog.records)


def test_nothing_is_said_when_everything_fits(backend: tokenizers.Tokenizer, caplog: pytest.LogCaptureFixture) -> None:
    Tokenizer(backend, 8)(["cat"]).truncation.report("warn")
    Tokenizer(backend, 8)(["cat"]).truncation.report("raise")
    assert not caplog.records


def test_raise_says_what_to_do(backend: tokenizers.Tokenizer) -> None:
    with pytest.raises(TextTooLong, match=r"1 of 1 texts truncated at 8 tokens.*on_truncate='chunk'"):
        Tokenizer(backend, 8)(["고양이 " * 30]).truncation.report("raise")
    with pytest.raises(BadOption, match="'warn', 'raise', 'ignore', 'chunk'"):
        Tokenizer(backend, 8)(["cat"]).truncation.report("wran")


def test_prompt_goes_before_every_text(backend: tokenizers.Tokenizer) -> None:
    tokenizer = Tokenizer(backend, 64)
    prompted = tokenizer(["고양이", "cat"], prompt="질문: ")
    assert rows_of(prompted) == rows_of(tokenizer(["질문: 고양이", "질문: cat"]))
    prompt_alone = backend.encode("질문: ", add_special_tokens=False).ids
    assert prompted.prompt_length == 1 + len(prompt_alone)
    assert rows_of(prompted)[0][1 : prompted.prompt_length] == prompt_alone


def test_lower_case_is_the_tokenizers_business(tiny_folder: Callable[[str], Path]) -> None:
    backend = tokenizers.Tokenizer.from_file(str(tiny_folder("roberta") / "tokenizer.json"))
    plain, lower = Tokenizer(backend, 64), Tokenizer(backend, 64, lower_case=True)
    assert rows_of(plain(["HELLO World"])) != rows_of(plain(["hello world"]))
    assert rows_of(lower(["HELLO World"])) == rows_of(plain(["hello world"]))
    assert rows_of(lower.with_max_length(32)(["HELLO World"])) == rows_of(plain(["hello world"]))
    bert = tokenizers.Tokenizer.from_file(str(tiny_folder("bert") / "tokenizer.json"))
    assert rows_of(Tokenizer(bert, 64, lower_case=True)(["É안"])) == rows_of(Tokenizer(bert, 64)(["É안"]))


def test_the_caller_keeps_his_own_tokenizer(backend: tokenizers.Tokenizer) -> None:
    before = backend.to_str()
    tokenizer = Tokenizer(backend, 8)
    tokenizer(["cat " * 30])
    assert backend.to_str() == before
    assert tokenizer.backend.truncation is None


def test_many_threads_share_one_tokenizer(backend: tokenizers.Tokenizer, sentences: list[str]) -> None:
    tokenizer = Tokenizer(backend, 12)
    expected = tokenizer(sentences).ids
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: tokenizer(sentences).ids, range(64)))
    assert all(np.array_equal(result, expected) for result in results)


def test_slices_do_not_show(backend: tokenizers.Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"고양이 {i} " + "cat " * (i % 9) for i in range(50)]
    whole = Tokenizer(backend, 8)(texts, windows=True)
    monkeypatch.setattr("sbert.text.tokenizer._TEXTS_AT_ONCE", 7)
    sliced = Tokenizer(backend, 8)(texts, windows=True)
    assert np.array_equal(whole.ids, sliced.ids)
    assert np.array_equal(whole.owners, sliced.owners)
    assert whole.truncation == sliced.truncation


def test_no_texts_no_tokens(backend: tokenizers.Tokenizer) -> None:
    tokens = Tokenizer(backend, 8)([])
    assert (len(tokens.ids), len(tokens.lengths), tokens.truncation.truncated) == (0, 0, 0)
    assert "0 of 0 texts" in str(tokens.truncation)


@pytest.mark.parametrize("row", [None, 3, 2.5, float("nan"), b"bytes", ["nested"]])
def test_a_row_that_is_not_text_is_named(row: object) -> None:
    with pytest.raises(BadInput, match=f"row 1 is {type(row).__name__}"):
        check_texts(["하나", row, "three"])  # type: ignore[list-item]


@pytest.mark.parametrize("what", [b"bytes", None, 7])
def test_something_that_is_no_sequence_of_texts(what: object) -> None:
    with pytest.raises(BadInput, match=f"got {type(what).__name__}"):
        check_texts(what)  # type: ignore[arg-type]


def test_any_iterable_of_texts_will_do() -> None:
    assert check_texts(np.array(["하나", "two"])) == ["하나", "two"]
    assert check_texts(text for text in ("하나", "two")) == ["하나", "two"]


class Table:
    """As pandas', polars' and pyarrow's tables are seen from here: in a loop it gives the names of its columns."""

    columns = ("번호", "문장")

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)


@pytest.mark.parametrize("rows", [{"문장": "하나"}, {"하나", "둘"}, Table()])
def test_names_and_sets_are_no_texts(rows: Any) -> None:
    with pytest.raises(BadInput, match=f"got {type(rows).__name__}, but a text or a sequence of texts is needed"):
        check_texts(rows)


def test_a_lone_surrogate_is_named(backend: tokenizers.Tokenizer) -> None:
    with pytest.raises(BadInput, match="text 2 holds a lone surrogate"):
        Tokenizer(backend, 8)(["fine", "고양이", "broken \ud83d"])


def test_a_length_with_no_room_for_text(backend: tokenizers.Tokenizer) -> None:
    with pytest.raises(BadInput, match=r"max_seq_length is 2, .* at least 3"):
        Tokenizer(backend, 2)


def test_an_empty_text_is_never_without_a_token(backend: tokenizers.Tokenizer) -> None:
    """Some published tokenizers add no special tokens."""
    settings = json.loads(backend.to_str())
    bare = Tokenizer(tokenizers.Tokenizer.from_str(json.dumps({**settings, "post_processor": None})), 16)
    unknown = backend.token_to_id("[UNK]")
    cat = bare(["고양이"]).ids.tolist()
    assert rows_of(bare(["", "고양이", ""])) == [[unknown], cat, [unknown]]
    pairs = bare.pairs([("", ""), ("", "고양이")])
    assert rows_of(pairs) == [[unknown], cat]
    assert pairs.types is not None
    assert len(pairs.types) == len(pairs.ids)
