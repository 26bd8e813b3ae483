"""Turns texts into the numbers of known words. Works on strings only."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterable, Sequence

import numpy as np

from sbert.errors import BadInput, check_count, shown
from sbert.text.batching import lay
from sbert.text.tokenizer import Tokens, Truncation
from sbert.types import IntArray

MAX_LENGTH = 512
"""The default number of words at which texts are truncated."""
# Contractions are divided as in the Penn Treebank, which GloVe follows: do n't, it 's.
_GLUED = re.compile(r"(?<=\w)(n't|'(?:s|re|ve|ll|d|m))\b")
_WORD = re.compile(
    r"""
      (?:[^\W\d_]\.){2,}          # u.s., p.m.
    | \d+(?:[.,]\d+)+             # 1,234.56
    | \w+(?:-\w+|'[A-Za-z]\w*)*   # well-known, o'clock, n't; but '비'가 has quotation marks
    | '(?:s|re|ve|ll|d|m)\b
    | [^\w\s]                     # each punctuation mark by itself
    """,
    re.VERBOSE,
)


def split_words(text: str, lower_case: bool = True) -> list[str]:
    """Return the words and punctuation marks of ``text`` in NFC, spelled as in the vocabulary of GloVe.

    >>> split_words("They don't sell T-shirts in the U.S., 박물관은 월요일에 쉰다.")
    ['they', 'do', "n't", 'sell', 't-shirts', 'in', 'the', 'u.s.', ',', '박물관은', '월요일에', '쉰다', '.']
    """
    text = unicodedata.normalize("NFC", text.lower() if lower_case else text)
    if "’" in text:
        text = text.replace("’", "'")
    if "'" in text:
        text = _GLUED.sub(r" \1", text)
    return _WORD.findall(text)


class WordTokenizer:
    """Numbers known words from 1 and skips the others. A text without a known word becomes a single 0.

    Args:
        words: The known words, in the order of their numbers.
        max_length: Number of known words at which texts are truncated.
        lower_case: Whether the known words are in lower case.

    >>> WordTokenizer(["고양이", "sleeps"])(["A 고양이 sleeps", "unheard of"]).ids.tolist()
    [1, 2, 0]
    """

    def __init__(self, words: Iterable[str], max_length: int = MAX_LENGTH, lower_case: bool = True) -> None:
        check_count("max_length", max_length)
        self.max_length = max_length
        self.lower_case = lower_case
        self._numbers: dict[str, int] = {}
        for number, word in enumerate(words, 1):
            if self._numbers.setdefault(word, number) != number:
                raise BadInput(
                    f"word {number}, {shown(word)}, is word {self._numbers[word]} already; name each word once"
                )

    @property
    def words(self) -> tuple[str, ...]:
        """The known words, in the order of their numbers."""
        return tuple(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def with_max_length(self, max_length: int) -> WordTokenizer:
        """Return the same tokenizer with another maximum length."""
        other = WordTokenizer((), max_length, self.lower_case)
        other._numbers = self._numbers
        return other

    def __call__(self, texts: Sequence[str], windows: bool = False) -> Tokens:
        """Return the word numbers of every text. With ``windows``, words that do not fit become further rows."""
        ids, whole = self._known(texts)
        lengths = np.minimum(whole, self.max_length)
        owners: IntArray = np.arange(len(whole))
        words, lost = int(whole.sum()), int((whole - lengths).sum())
        truncation = Truncation(
            len(texts), int((whole > lengths).sum()), self.max_length, words, lost, int(whole.max(initial=0))
        )
        if lost and windows:  # The ids do not change: windows follow each other as in the text.
            lengths, owners = _windows(whole, self.max_length)
        elif lost:
            ids = lay(ids, np.cumsum(whole) - whole + lengths, lengths)
        return Tokens(ids, lengths, owners, truncation)

    def _known(self, texts: Sequence[str]) -> tuple[IntArray, IntArray]:
        """Return the numbers of the known words of all texts, end to end, and their count per text."""
        numbers, counts = array("i"), array("q")
        for text in texts:
            before = len(numbers)
            numbers.extend(filter(None, map(self._numbers.get, split_words(text, self.lower_case))))
            if len(numbers) == before:
                numbers.append(0)
            counts.append(len(numbers) - before)
        return np.array(numbers, np.int32), np.array(counts, np.int64)


def _windows(whole: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Return the lengths of the windows of all texts, and the number of the text that each belongs to.

    >>> lengths, owners = _windows(np.array([2, 5]), size=2)
    >>> lengths.tolist(), owners.tolist()
    ([2, 2, 2, 1], [0, 1, 1, 1])
    """
    counts = -(-whole // size)
    owners = np.repeat(np.arange(len(whole)), counts)
    place = np.arange(len(owners)) - (np.cumsum(counts) - counts)[owners]
    return np.minimum(size, whole[owners] - place * size), owners
