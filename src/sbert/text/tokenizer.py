"""Turns texts, or pairs of texts, into token ids and counts the tokens that did not fit. Works on strings only."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np
import tokenizers
from tokenizers.normalizers import Lowercase
from tokenizers.normalizers import Sequence as NormalizerSequence

from sbert.errors import BadInput, BadModel, SbertError, TextTooLong, check_option, shown
from sbert.text.forms import with_form
from sbert.text.slices import MAX_COUNTED, Head, head, is_long, pair_heads
from sbert.types import IntArray, OnTruncate, OnTruncateWhole, UnicodeForm

logger = logging.getLogger(__name__)

# Encodings hold offsets and masks that are not needed. Tokenising some texts at a time keeps only a few alive.
_TEXTS_AT_ONCE = 4096


@dataclass(frozen=True, slots=True)
class Truncation:
    """The number of texts and tokens that a call truncated. Special tokens and prompts count as tokens."""

    texts: int
    truncated: int
    max_length: int
    tokens: int
    lost: int
    longest: int
    unit: Literal["texts", "pairs"] = "texts"
    exact: bool = True
    """Whether all tokens were counted. If not, ``tokens``, ``lost`` and ``longest`` are lower bounds."""

    def __str__(self) -> str:
        """Return the warning, in one line."""
        bound = "" if self.exact else "at least "
        return (
            f"{self.truncated:,} of {self.texts:,} {self.unit} truncated at {self.max_length:,} tokens, {bound}"
            f"{self.lost / max(self.tokens, 1):.1%} of all tokens dropped; the longest has {bound}{self.longest:,}"
        )

    @classmethod
    def total(cls, parts: Iterable[Truncation]) -> Truncation:
        """Return the totals of one or more calls with the same model."""
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
            exact=self.exact and other.exact,
        )

    def report(self, on_truncate: OnTruncate) -> None:
        """Warn in one line or raise, unless the caller chose to ignore truncation or to process texts in chunks."""
        choices = get_args(OnTruncate if self.unit == "texts" else OnTruncateWhole)
        check_option("on_truncate", on_truncate, choices)
        if self.truncated and on_truncate == "raise":
            way_out = "'chunk' or 'warn'" if "chunk" in choices else "'warn'"
            raise TextTooLong(f"{self}; shorten the texts or choose on_truncate={way_out}")
        if self.truncated and on_truncate == "warn":
            logger.warning("%s", self)


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The token ids of many rows in one flat array. A row is a text, a window of a text, or a pair of texts."""

    ids: IntArray
    """The ids of all rows, end to end, as int32."""
    lengths: IntArray
    """(rows,) Number of tokens of each row."""
    owners: IntArray
    """(rows,) Number of the text that each row belongs to, in ascending order."""
    truncation: Truncation
    prompt_length: int = 0
    """Number of leading tokens of every row that come from the prompt."""
    types: IntArray | None = None
    """For pairs, the segment of each token: which of the two texts it belongs to."""


class Tokenizer:
    """A tokenizer of the ``tokenizers`` library with a maximum length. It never changes, so threads may share it.

    Args:
        backend: The tokenizer to copy.
        max_length: Number of tokens at which texts are truncated.
        lower_case: Whether to convert texts to lower case first.
        types: Whether pairs of texts have segments.
    """

    def __init__(
        self, backend: tokenizers.Tokenizer, max_length: int, lower_case: bool = False, types: bool = True
    ) -> None:
        self.max_length = max_length
        self.lower_case = lower_case
        self.types = types
        self._plain = tokenizers.Tokenizer.from_str(backend.to_str())
        self._plain.no_padding()
        self._plain.no_truncation()
        self._special = self._plain.num_special_tokens_to_add(False)
        self._check_max_length(self._special)
        # An empty text has no token if the tokenizer adds no special tokens. It gets the unknown token instead.
        unknown = getattr(self._plain.model, "unk_token", None)
        self._empty = [(self._plain.token_to_id(unknown) if unknown else None) or 0]
        self._uncut = self._plain
        if lower_case:
            self._uncut = tokenizers.Tokenizer.from_str(self._plain.to_str())
            self._uncut.normalizer = NormalizerSequence(
                [Lowercase(), *([self._plain.normalizer] if self._plain.normalizer else [])]
            )
        self._backend = tokenizers.Tokenizer.from_str(self._uncut.to_str())
        self._backend.enable_truncation(max_length)

    def with_max_length(self, max_length: int) -> Tokenizer:
        """Return the same tokenizer with another maximum length."""
        return Tokenizer(self._plain, max_length, self.lower_case, self.types)

    def with_unicode_form(self, form: UnicodeForm) -> Tokenizer:
        """Return a tokenizer that brings texts to a normalization form first. It is saved with the form.

        With NFKC, single letters of Hangul stay as keyboards type them ("ㅋㅋ") instead of becoming conjoining. The
        form is added once only.
        """
        check_option("unicode_form", form, get_args(UnicodeForm))
        backend = self.backend
        backend.normalizer = with_form(backend.normalizer, form)
        return Tokenizer(backend, self.max_length, self.lower_case, self.types)

    @property
    def backend(self) -> tokenizers.Tokenizer:
        """A copy of the tokenizer as it was published, without truncation and padding."""
        return tokenizers.Tokenizer.from_str(self._plain.to_str())

    @property
    def uncut(self) -> tokenizers.Tokenizer:
        """The tokenizer itself, as it reads texts before they are truncated; it must not be changed."""
        return self._uncut

    def __call__(self, texts: Sequence[str], prompt: str = "", windows: bool = False) -> Tokens:
        """Tokenise ``prompt + text`` for every text. With ``windows``, tokens that do not fit become further rows."""
        rows: list[IntArray] = []
        lengths: list[int] = []
        owners: list[int] = []
        truncated = lost = longest = 0
        exact = True
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            part = [prompt + text for text in texts[start : start + _TEXTS_AT_ONCE]]
            beginnings = self._shorten(part, start) if not windows else {}
            exact &= all(beginning.exact for beginning in beginnings.values())
            kept = []
            for owner, encoding in enumerate(self._encode(self._backend, part, start), start):
                rest = encoding.overflowing
                dropped = sum(len(window) - self._special for window in rest)
                dropped += beginnings[owner].dropped if owner in beginnings else 0
                truncated += bool(rest)
                lost += dropped
                longest = max(longest, len(encoding) + dropped)
                for window in [encoding, *rest] if windows else [encoding]:
                    kept.append(window)
                    owners.append(owner)
            sizes = [len(encoding) or 1 for encoding in kept]
            lengths += sizes
            ids = chain.from_iterable(encoding.ids or self._empty for encoding in kept)
            rows.append(np.fromiter(ids, np.int32, count=sum(sizes)))
        total = sum(lengths) + (0 if windows else lost)
        return Tokens(
            ids=np.concatenate(rows) if rows else np.empty(0, np.int32),
            lengths=np.asarray(lengths, np.int64),
            owners=np.asarray(owners, np.int64),
            truncation=Truncation(len(texts), truncated, self.max_length, total, lost, longest, exact=exact),
            prompt_length=self.prompt_length(prompt) if prompt else 0,
        )

    def _shorten(self, part: list[str], start: int) -> dict[int, Head]:
        """Replace each long text of ``part`` by a beginning that fills the maximum length; return the beginnings."""
        beginnings = {}
        for place, text in enumerate(part):
            if is_long(text):
                row = start + place
                with _one_sentence([text], row):
                    beginnings[row] = head(text, self.max_length, self._uncut, row, MAX_COUNTED)
                part[place] = beginnings[row].text
        return beginnings

    def prompt_length(self, prompt: str) -> int:
        """Return the number of tokens that ``prompt`` puts before a text, including an opening special token."""
        encoding = self._backend.encode(prompt)
        closing = bool(encoding.special_tokens_mask and encoding.special_tokens_mask[-1])
        return len(encoding) - closing

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> Tokens:
        """Tokenise each pair of texts as one row. If it does not fit, the longer text is truncated first."""
        self._check_max_length(self._plain.num_special_tokens_to_add(True))
        ids, types = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        whole: list[int] = []
        lengths: list[int] = []
        for start in range(0, len(pairs), _TEXTS_AT_ONCE):
            part = list(pairs[start : start + _TEXTS_AT_ONCE])
            dropped = self._shorten_pairs(part, start)
            kept = self._encode(self._uncut, part, start)
            sizes = [(len(encoding) or 1) + dropped.get(place, 0) for place, encoding in enumerate(kept)]
            long = [row for row, size in enumerate(sizes) if size > self.max_length]
            for row, encoding in zip(long, self._encode(self._backend, [part[row] for row in long], 0), strict=True):
                kept[row] = encoding
            whole += sizes
            lengths += [len(encoding) or 1 for encoding in kept]
            ids.append(np.fromiter(chain.from_iterable(e.ids or self._empty for e in kept), np.int32))
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

    def _shorten_pairs(self, part: list[tuple[str, str]], start: int) -> dict[int, int]:
        """Replace long texts by beginnings that give the same row; return the number of tokens dropped from each."""
        dropped = {}
        for place, pair in enumerate(part):
            if any(map(is_long, pair)):
                with _one_sentence([pair], start + place):
                    first, second = pair_heads(pair, self.max_length, self._uncut, start + place)
                part[place] = first.text, second.text
                dropped[place] = first.dropped + second.dropped
        return dropped

    def _check_max_length(self, special: int) -> None:
        if self.max_length <= special:
            raise BadInput(
                f"max_seq_length is {self.max_length}, but the tokenizer alone adds {special} special tokens; "
                f"ask for at least {special + 1}"
            )

    def _encode(self, backend: tokenizers.Tokenizer, rows: list[Any], start: int) -> list[tokenizers.Encoding]:
        """Return the encodings of texts or pairs. ``start`` is the number of the first row, for error messages."""
        with _one_sentence(rows, start):
            return list(backend.encode_batch_fast(rows))
        raise AssertionError  # The context never suppresses an exception.


@contextmanager
def _one_sentence(rows: list[Any], start: int) -> Iterator[None]:
    """Convert every error of the tokenizer library, panics included, to an error of one sentence.

    Args:
        rows: The texts or pairs of texts that are being tokenised.
        start: The number of the first of them.
    """
    try:
        yield
    except (SbertError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # A panic is not an Exception.
        for row, texts in enumerate(rows, start):
            if not _is_unicode("".join(texts)):
                raise BadInput(
                    f"text {row} holds a lone surrogate, which is no Unicode character; "
                    "decode the source with errors='replace'"
                ) from None
        raise BadModel(
            f"the tokenizer fails on a text: {shown(str(error))}; tokenizer.json is damaged or incomplete; fetch "
            "the model again"
        ) from None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
