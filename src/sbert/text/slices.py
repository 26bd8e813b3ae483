"""Divides long texts at places where their tokens do not change. Works on strings only.

The tokenizer library keeps several hundred bytes per token, so a text of many megabytes would take gigabytes, although
a model uses few of its tokens. A text may be divided where its pre-tokenizer divides it anyway: all later steps
process each piece separately. A place is tested by tokenising a short window around it, once whole and once divided.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain, islice
from typing import NamedTuple

import tokenizers

from sbert.errors import BadInput

SLICE = 50_000
"""Number of characters of a slice. Texts of up to two slices are not divided."""
MAX_COUNTED = 1_000_000
"""Number of characters of a text whose tokens are counted exactly. The tokens after them are not counted."""
MAX_UNDIVIDED = 4_000_000
"""Maximum number of characters without a safe place to divide them; texts with more are refused. It may be raised."""
_WINDOW = 256
_ATTEMPTS = 8
# Directly after a letter or digit, so that no sequence of white space, punctuation or digits is divided.
_PLACES = (re.compile(r"(?<=[^\W_])\s"), re.compile(r"(?<=[^\W_])[^\w\s]"))


class Head(NamedTuple):
    """The beginning of a text."""

    text: str
    tokens: int
    """Number of tokens of the beginning."""
    dropped: int
    """Number of tokens after the beginning."""
    exact: bool
    """Whether all tokens after the beginning have been counted."""


def is_long(text: str) -> bool:
    """Return whether a text is worth dividing."""
    return len(text) > 2 * SLICE


def head(text: str, tokens: int, backend: tokenizers.Tokenizer, row: int, max_counted: int | None = None) -> Head:
    """Return a beginning of ``text`` that has more than ``tokens`` tokens, or the whole text if it has fewer.

    Args:
        text: Any text.
        tokens: Number of tokens that must be exceeded, special tokens not included.
        backend: A tokenizer without truncation.
        row: Number of the text, for the error message.
        max_counted: Number of characters after which tokens are no longer counted. Defaults to counting them all.
    """
    kept: list[str] = []
    tokens_kept = dropped = characters = 0
    for part in divide(text, backend, row):
        if tokens_kept > tokens and max_counted is not None and characters >= max_counted:
            return Head("".join(kept), tokens_kept, dropped, exact=False)
        count = len(backend.encode_batch_fast([part], add_special_tokens=False)[0])
        characters += len(part)
        if tokens_kept > tokens:
            dropped += count
        else:
            tokens_kept += count
            kept.append(part)
    return Head("".join(kept), tokens_kept, dropped, exact=True)


def pair_heads(pair: tuple[str, str], tokens: int, backend: tokenizers.Tokenizer, row: int) -> tuple[Head, Head]:
    """Return beginnings of both texts of a pair, of which the longer one still has more tokens than the other."""
    counts = [(found := head(text, 0, backend, row)).tokens + found.dropped for text in pair]
    if counts[0] == counts[1] and pair[0] != pair[1]:
        first, second = (Head(text, count, 0, exact=True) for text, count in zip(pair, counts, strict=True))
        return first, second
    shorter = int(counts[1] < counts[0])
    other = head(pair[shorter], tokens, backend, row)
    longer = head(pair[1 - shorter], tokens if pair[0] == pair[1] else max(tokens, other.tokens), backend, row)
    return (longer, other) if shorter else (other, longer)


def divide(text: str, backend: tokenizers.Tokenizer, row: int) -> Iterator[str]:
    """Yield slices of ``text`` whose tokens, one slice after another, are the tokens of the text.

    Raises:
        BadInput: If more than MAX_UNDIVIDED characters cannot be divided.
    """
    begin, start = 0, SLICE
    while start + SLICE < len(text):
        cut = _safe_place(text, start, start + SLICE, backend)
        if cut is not None:
            yield text[begin:cut]
            begin = cut
        start = start + SLICE if cut is None else cut + SLICE
        if start - begin > MAX_UNDIVIDED:
            raise BadInput(
                f"text {row} has {start - begin:,} characters without a place where they can be divided, but at most "
                f"{MAX_UNDIVIDED:,} are tokenised at once; shorten it, or raise sbert.text.slices.MAX_UNDIVIDED"
            )
    yield text[begin:]


def _safe_place(text: str, start: int, stop: int, backend: tokenizers.Tokenizer) -> int | None:
    """Return a place between ``start`` and ``stop`` where dividing the text changes no token, if one is found."""
    candidates = chain.from_iterable(islice(place.finditer(text, start, stop), _ATTEMPTS) for place in _PLACES)
    return next((found.start() for found in candidates if _is_safe(text, found.start(), backend)), None)


def _is_safe(text: str, place: int, backend: tokenizers.Tokenizer) -> bool:
    if unicodedata.combining(unicodedata.normalize("NFKD", text[place])[0]):
        return False  # Normalization may move a mark from behind the window to the letter before the place.
    before, after = text[place - _WINDOW : place], text[place : place + _WINDOW]
    whole, first, second = (backend.encode(part, add_special_tokens=False) for part in (before + after, before, after))
    border = len(first)
    if whole.ids != first.ids + second.ids or not 0 < border < len(whole):
        return False
    return whole.word_ids[border - 1] != whole.word_ids[border]
