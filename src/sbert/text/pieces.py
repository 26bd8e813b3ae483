"""Turns texts into the numbers of word pieces, for tables of vectors that a subword tokenizer belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import tokenizers

from sbert.text.tokenizer import Tokenizer, Tokens

MAX_LENGTH = 1 << 20
"""The default number of pieces at which texts are truncated."""


class PieceTokenizer:
    """Numbers the pieces of a text from 1, without special tokens. A text without a piece becomes a single 0.

    Args:
        backend: A tokenizer of the library tokenizers.
        max_length: Number of pieces at which texts are truncated.

    Attributes:
        lower_case: Always False; the tokenizer itself says what it does with letters.
    """

    lower_case = False

    def __init__(self, backend: tokenizers.Tokenizer, max_length: int = MAX_LENGTH) -> None:
        self._published = tokenizers.Tokenizer.from_str(backend.to_str())
        bare = tokenizers.Tokenizer.from_str(backend.to_str())
        bare.post_processor = tokenizers.processors.Sequence([])  # which would add special tokens
        self._tokenizer = Tokenizer(bare, max_length)
        self._tokenizer._empty = [-1]
        self._size = 1 + max(backend.get_vocab().values(), default=-1)

    def __len__(self) -> int:
        """Return the number of rows of a table that has a vector for every piece."""
        return self._size

    @property
    def backend(self) -> tokenizers.Tokenizer:
        """A copy of the tokenizer as it was published."""
        return tokenizers.Tokenizer.from_str(self._published.to_str())

    @property
    def max_length(self) -> int:
        """Number of pieces at which texts are truncated."""
        return self._tokenizer.max_length

    def with_max_length(self, max_length: int) -> PieceTokenizer:
        """Return the same tokenizer with another maximum length."""
        return PieceTokenizer(self._published, max_length)

    def __call__(self, texts: Sequence[str], windows: bool = False) -> Tokens:
        """Return the piece numbers of every text. With ``windows``, pieces that do not fit become further rows."""
        tokens = self._tokenizer(texts, windows=windows)
        return replace(tokens, ids=tokens.ids + 1)
