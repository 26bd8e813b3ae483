"""Turns texts into token ids and keeps account of what did not fit. Knows strings only: no tensors, no files."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import tokenizers
from tokenizers.normalizers import Lowercase
from tokenizers.normalizers import Sequence as NormalizerSequence

from sbert.errors import BadInput, TextTooLong, check_option
from sbert.types import IntArray, OnTruncate

logger = logging.getLogger(__name__)

ON_TRUNCATE: tuple[OnTruncate, ...] = ("warn", "raise", "ignore", "chunk")
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

    def __str__(self) -> str:
        """The one-line warning."""
        return (
            f"{self.truncated:,} of {self.texts:,} texts truncated at {self.max_length:,} tokens, "
            f"{self.lost / max(self.tokens, 1):.1%} of all tokens dropped; the longest has {self.longest:,}"
        )

    def report(self, on_truncate: OnTruncate) -> None:
        """Never silent: warn in one line or raise, unless the caller chose to ignore or to chunk."""
        check_option("on_truncate", on_truncate, ON_TRUNCATE)
        if self.truncated and on_truncate == "raise":
            raise TextTooLong(f"{self}; shorten the texts or choose on_truncate='chunk' or 'warn'")
        if self.truncated and on_truncate == "warn":
            logger.warning("%s", self)


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The token ids of many rows in one flat array. A row is a text, or a window of one where texts were chunked."""

    ids: IntArray
    """All rows end to end, int32."""
    lengths: IntArray
    """(rows,) tokens of each row."""
    owners: IntArray
    """(rows,) the text each row belongs to, ascending."""
    truncation: Truncation
    prompt_length: int = 0
    """Leading tokens of every row that come from the prompt."""


class Tokenizer:
    """A ``tokenizers`` tokenizer, configured once and never changed again, so any number of threads may share it."""

    def __init__(self, backend: tokenizers.Tokenizer, max_length: int, lower_case: bool = False) -> None:
        """Keep a private copy of ``backend`` that cuts every text at ``max_length`` tokens."""
        self.max_length = max_length
        self.lower_case = lower_case
        self._plain = tokenizers.Tokenizer.from_str(backend.to_str())
        self._plain.no_padding()
        self._plain.no_truncation()
        self._special = self._plain.num_special_tokens_to_add(False)
        if max_length <= self._special:
            raise BadInput(
                f"max_length is {max_length}, but the tokenizer alone adds {self._special} special tokens; "
                f"ask for at least {self._special + 1}"
            )
        self._backend = tokenizers.Tokenizer.from_str(self._plain.to_str())
        if lower_case:
            self._backend.normalizer = NormalizerSequence(
                [Lowercase(), *([self._backend.normalizer] if self._backend.normalizer else [])]
            )
        self._backend.enable_truncation(max_length)

    def with_max_length(self, max_length: int) -> Tokenizer:
        """The same tokenizer, cutting at another length."""
        return Tokenizer(self._plain, max_length, self.lower_case)

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
            encodings = self._encode([prompt + text for text in texts[start : start + _SLICE]], start)
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
            sizes = [len(encoding) for encoding in kept]
            lengths += sizes
            rows.append(np.fromiter(chain.from_iterable(e.ids for e in kept), np.int32, count=sum(sizes)))
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

    def _encode(self, texts: list[str], start: int) -> list[tokenizers.Encoding]:
        try:
            return list(self._backend.encode_batch_fast(texts))
        except (TypeError, UnicodeEncodeError):
            row = next(row for row, text in enumerate(texts) if not _is_unicode(text))
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
    if isinstance(sentences, bytes) or not isinstance(sentences, Iterable):
        raise BadInput(f"got {type(sentences).__name__}, but a text or a sequence of texts is needed")
    texts = list(sentences)
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise BadInput(
                f"row {row} is {type(text).__name__}, but every row must be text; drop it or convert it with str()"
            )
    return texts


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
