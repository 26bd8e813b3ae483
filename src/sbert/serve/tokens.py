"""Lists the tokens of texts, and decodes token ids. Works on strings and numbers only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sbert.errors import BadInput, shown
from sbert.text import Tokenizer, Tokens, Truncation

_LONGEST = 1_000_000  # maximum number of characters of a text


def spelled(tokenizer: Tokenizer, texts: Sequence[str], special: bool) -> list[list[dict[str, Any]]]:
    """Return the tokens of each text before truncation, with the characters that they represent."""
    for row, text in enumerate(texts):
        if len(text) > _LONGEST:
            raise BadInput(
                f"text {row} has {len(text):,} characters, but at most {_LONGEST:,} are tokenized; split it"
            )
        check_unicode(row, text)
    encodings = tokenizer.uncut.encode_batch(list(texts), add_special_tokens=special)
    return [
        [_token(text, *token) for token in zip(one.ids, one.tokens, one.special_tokens_mask, one.offsets, strict=True)]
        for text, one in zip(texts, encodings, strict=True)
    ]


def decoded(tokenizer: Tokenizer, rows: Sequence[list[int]], skip_special: bool) -> list[str]:
    """Turn rows of token ids into texts."""
    check_ids(tokenizer, rows)
    return list(tokenizer.uncut.decode_batch(list(rows), skip_special_tokens=skip_special))


def check_ids(tokenizer: Tokenizer, rows: Sequence[list[int]]) -> None:
    """Raise BadInput if a row is empty or has ids outside the vocabulary."""
    known = tokenizer.uncut.get_vocab_size()
    for row, ids in enumerate(rows):
        if not ids or max(ids) >= known or min(ids) < 0:
            raise BadInput(
                f"row {row} is {shown(ids)}, but must have token ids from 0 to {known - 1}, as from /tokenize; "
                "send texts if the ids come from another model"
            )


def check_unicode(row: int, text: str) -> None:
    """Raise BadInput for a text with a lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadInput(f"text {row} contains a lone surrogate, which is not a Unicode character; replace it") from None


def _token(text: str, number: int, token: str, special: int, span: tuple[int, int]) -> dict[str, Any]:
    if special:
        return {"id": number, "text": token, "special": True, "start": None, "stop": None}
    start, stop = span
    return {"id": number, "text": text[start:stop], "special": False, "start": start, "stop": stop}


def given_ids(tokenizer: Tokenizer, inputs: Sequence[Sequence[Any]], most: int) -> Tokens:
    """Check rows of token ids, and truncate those with more than ``most`` tokens."""
    rows = [[int(number) for number in row] for row in inputs]
    check_ids(tokenizer, rows)
    cut = [row[:most] for row in rows]
    total, kept = sum(map(len, rows)), sum(map(len, cut))
    long = sum(len(row) > most for row in rows)
    return Tokens(
        ids=np.concatenate([np.array(row, np.int32) for row in cut]),
        lengths=np.array([len(row) for row in cut], np.int64),
        owners=np.arange(len(cut)),
        truncation=Truncation(len(rows), long, most, total, total - kept, max(map(len, rows))),
    )
