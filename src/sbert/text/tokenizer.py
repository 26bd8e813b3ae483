"""Turns texts, or pairs of them, into token ids and keeps account of what did not fit.

Knows strings only: no tensors, no files.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np
import tokenizers
from tokenizers.normalizers import Lowercase
from tokenizers.normalizers import Sequence as NormalizerSequence

from sbert.errors import BadInput, TextTooLong, check_option
from sbert.types import IntArray, OnTruncate, OnTruncateWhole

logger = logging.getLogger(__name__)

# Encodings carry offsets and masks we do not need; tokenising in slices keeps only a few of them alive.
_SLICE = 4096


@dataclass(frozen=True, slots=True)
class Truncation:
    """What a call lost to the model's maximum length. Special tokens and prompts count as tokens."""

    texts: int
    truncated: int
    max_length: int
    tokens: int
    lost: int
    longest: int
    unit: Literal["texts", "pairs"] = "texts"

    def __str__(self) -> str:
        """The one-line warning."""
        return (
            f"{self.truncated:,} of {self.texts:,} {self.unit} truncated at {self.max_length:,} tokens, "
            f"{self.lost / max(self.tokens, 1):.1%} of all tokens dropped; the longest has {self.longest:,}"
        )

    @classmethod
    def total(cls, parts: Iterable[Truncation]) -> Truncation:
        """Return one account of several calls, at least one, with the same model."""
        first, *others = parts
        return reduce(cls._plus, others, first)

    def _plus(self, other: Truncation) -> Truncation:
        return replace(
            self,
            texts=self.texts + other.texts,
            truncated=self.truncated + other.truncated,
            tokens=self.tokens + other.tokens,
            lost=self.lost + other.lost,
            longest=max(self.longest, other.longest),
        )

    def report(self, on_truncate: OnTruncate) -> None:
        """Never silent: warn in one line or raise, unless the caller chose to ignore or, texts only, to chunk."""
        choices = get_args(OnTruncate if self.unit == "texts" else OnTruncateWhole)
        check_option("on_truncate", on_truncate, choices)
        if self.truncated and on_truncate == "raise":
            way_out = "'chunk' or 'warn'" if "chunk" in choices else "'warn'"
            raise TextTooLong(f"{self}; shorten the texts or choose on_truncate={way_out}")
        if self.truncated and on_truncate == "warn":
            logger.warning("%s", self)


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The token ids of many rows in one flat array. A row is a text, a window of one where chunked, or a pair."""

    ids: IntArray
    """All rows end to end, int32."""
    lengths: IntArray
    """(rows,) tokens of each row."""
    owners: IntArray
    """(rows,) the text each row belongs to, ascending."""
    truncation: Truncation
    prompt_length: int = 0
    """Leading tokens of every row that come from the prompt."""
    types: IntArray | None = None
    """Of pairs: beside each id, which of the two texts it belongs to, as the tokenizer numbers them."""


class Tokenizer:
    """A ``tokenizers`` tokenizer, configured once and never changed again, so any number of threads may share it."""

    def __init__(
        self, backend: tokenizers.Tokenizer, max_length: int, lower_case: bool = False, types: bool = True
    ) -> None:
        """Keep a private copy of ``backend`` that cuts every text at ``max_length`` tokens; ``types``: of pairs."""
        self.max_length = max_length
        self.lower_case = lower_case
        self.types = types
        self._plain = tokenizers.Tokenizer.from_str(backend.to_str())
        self._plain.no_padding()
        self._plain.no_truncation()
        self._special = self._plain.num_special_tokens_to_add(False)
        self._check_room(self._special)
        # Where nothing is added, an empty text would have no token at all: it gets the unknown one.
        unknown = getattr(self._plain.model, "unk_token", None)
        self._nothing = [(self._plain.token_to_id(unknown) if unknown else None) or 0]
        self._uncut = self._plain
        if lower_case:
            self._uncut = tokenizers.Tokenizer.from_str(self._plain.to_str())
            self._uncut.normalizer = NormalizerSequence(
                [Lowercase(), *([self._plain.normalizer] if self._plain.normalizer else [])]
            )
        self._backend = tokenizers.Tokenizer.from_str(self._uncut.to_str())
        self._backend.enable_truncation(max_length)

    def with_max_length(self, max_length: int) -> Tokenizer:
        """The same tokenizer, cutting at another length."""
        return Tokenizer(self._plain, max_length, self.lower_case, self.types)

    @property
    def backend(self) -> tokenizers.Tokenizer:
        """A copy of the tokenizer as published: no truncation, no padding."""
        return tokenizers.Tokenizer.from_str(self._plain.to_str())

    def __call__(self, texts: Sequence[str], prompt: str = "", windows: bool = False) -> Tokens:
        """Tokenise ``prompt + text`` for every text; with ``windows`` what does not fit becomes further rows."""
        rows: list[IntArray] = []
        lengths: list[int] = []
        owners: list[int] = []
        truncated = lost = longest = 0
        for start in range(0, len(texts), _SLICE):
            part = [prompt + text for text in texts[start : start + _SLICE]]
            encodings = self._encode(self._backend, part, start)
            kept = []
            for owner, encoding in enumerate(encodings, start):
                rest = encoding.overflowing
                dropped = sum(len(window) - self._special for window in rest)
                truncated += bool(rest)
                lost += dropped
                longest = max(longest, len(encoding) + dropped)
                for window in [encoding, *rest] if windows else [encoding]:
                    kept.append(window)
                    owners.append(owner)
            sizes = [len(encoding) or 1 for encoding in kept]
            lengths += sizes
            ids = chain.from_iterable(encoding.ids or self._nothing for encoding in kept)
            rows.append(np.fromiter(ids, np.int32, count=sum(sizes)))
        used = sum(lengths)
        return Tokens(
            ids=np.concatenate(rows) if rows else np.empty(0, np.int32),
            lengths=np.asarray(lengths, np.int64),
            owners=np.asarray(owners, np.int64),
            truncation=Truncation(
                len(texts), truncated, self.max_length, used if windows else used + lost, lost, longest
            ),
            prompt_length=self.prompt_length(prompt) if prompt else 0,
        )

    def prompt_length(self, prompt: str) -> int:
        """Leading tokens that ``prompt`` puts before a text: its own and the opening special token."""
        encoding = self._backend.encode(prompt)
        closing = bool(encoding.special_tokens_mask and encoding.special_tokens_mask[-1])
        return len(encoding) - closing

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> Tokens:
        """Tokenise two texts as one row each; of a row that does not fit, the longer text loses its end first."""
        self._check_room(self._plain.num_special_tokens_to_add(True))
        ids, types = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        whole: list[int] = []
        lengths: list[int] = []
        for start in range(0, len(pairs), _SLICE):
            part = list(pairs[start : start + _SLICE])
            kept = self._encode(self._uncut, part, start)
            sizes = [len(encoding) or 1 for encoding in kept]
            long = [row for row, size in enumerate(sizes) if size > self.max_length]
            for row, encoding in zip(long, self._encode(self._backend, [part[row] for row in long], 0), strict=True):
                kept[row] = encoding
            whole += sizes
            lengths += [len(encoding) or 1 for encoding in kept]
            ids.append(np.fromiter(chain.from_iterable(e.ids or self._nothing for e in kept), np.int32))
            types.append(np.fromiter(chain.from_iterable(e.type_ids or [0] for e in kept), np.int32))
        truncated = sum(size > self.max_length for size in whole)
        used, lost = sum(whole), sum(whole) - sum(lengths)
        return Tokens(
            ids=np.concatenate(ids),
            lengths=np.asarray(lengths, np.int64),
            owners=np.arange(len(pairs)),
            truncation=Truncation(
                len(pairs), truncated, self.max_length, used, lost, max(whole, default=0), unit="pairs"
            ),
            types=np.concatenate(types) if self.types else None,
        )

    def _check_room(self, special: int) -> None:
        if self.max_length <= special:
            raise BadInput(
                f"max_length is {self.max_length}, but the tokenizer alone adds {special} special tokens; "
                f"ask for at least {special + 1}"
            )

    def _encode(self, backend: tokenizers.Tokenizer, rows: list[Any], start: int) -> list[tokenizers.Encoding]:
        """The encodings of texts or pairs; row numbers in errors are counted from ``start``."""
        try:
            return list(backend.encode_batch_fast(rows))
        except (TypeError, UnicodeEncodeError):
            row = next(row for row, texts in enumerate(rows) if not _is_unicode("".join(texts)))
            raise BadInput(
                f"text {start + row} holds a lone surrogate, which is no Unicode character; "
                "decode the source with errors='replace'"
            ) from None


def check_texts(sentences: Iterable[str]) -> list[str]:
    """``sentences`` as a list, every row proven to be text.

    >>> check_texts(["하나", None])
    Traceback (most recent call last):
    sbert.errors.BadInput: row 1 is NoneType, but every row must be text; drop it or convert it with str()
    """
    # In a loop, a dictionary or a table gives its names, and a set its texts in no order that could be told.
    unlisted = isinstance(sentences, bytes | Mapping | set | frozenset) or hasattr(sentences, "columns")
    if unlisted or not isinstance(sentences, Iterable):
        raise BadInput(
            f"got {type(sentences).__name__}, but a text or a sequence of texts is needed, such as a list, "
            "or one column of a table"
        )
    if isinstance(sentences, str):
        raise BadInput("got one text, but a list of texts is expected; put it in one: [text]")
    texts = list(sentences)
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise BadInput(
                f"row {row} is {type(text).__name__}, but every row must be text; drop it or convert it with str()"
            )
    return texts


def check_pairs(pairs: Iterable[Sequence[str]]) -> list[tuple[str, str]]:
    """``pairs`` as a list, every row proven to be two texts.

    >>> check_pairs([("비", "눈"), ("a", "b", "c")])
    Traceback (most recent call last):
    sbert.errors.BadInput: row 1 has 3 texts, but a pair has two; score each pair in a row of its own
    """
    if isinstance(pairs, str | bytes) or not isinstance(pairs, Iterable):
        raise BadInput(f"got {type(pairs).__name__}, but a sequence of pairs of texts is needed: [(a, b), ...]")
    rows = list(pairs)
    for row, pair in enumerate(rows):
        if isinstance(pair, str | bytes) or not isinstance(pair, Sequence):
            kind = type(pair).__name__
            raise BadInput(f"row {row} is {kind}, but every row must be a pair of texts; a single pair is [(a, b)]")
        if len(pair) != 2:
            raise BadInput(f"row {row} has {len(pair)} texts, but a pair has two; score each pair in a row of its own")
        for text in pair:
            if not isinstance(text, str):
                kind = type(text).__name__
                raise BadInput(f"row {row} holds {kind}, but a pair is two texts; drop it or convert it with str()")
    return [(first, second) for first, second in rows]


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
