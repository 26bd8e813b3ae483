"""Turns texts into the numbers of known words. Knows strings only: no tensors, no files."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterable, Sequence

import numpy as np

from sbert.errors import BadInput, check_count
from sbert.text.batching import lay
from sbert.text.tokenizer import Tokens, Truncation
from sbert.types import IntArray

MAX_LENGTH = 512
"""Words a text is cut at unless said otherwise."""
# The Penn Treebank's way, which GloVe's vocabulary follows: do n't, it 's.
_GLUED = re.compile(r"(?<=\w)(n't|'(?:s|re|ve|ll|d|m))\b")
_WORD = re.compile(
    r"""
      (?:[^\W\d_]\.){2,}          # u.s., p.m.
    | \d+(?:[.,]\d+)+             # 1,234.56
    | \w+(?:-\w+|'[A-Za-z]\w*)*   # well-known, o'clock, n't; but '비'가 is quoted
    | '(?:s|re|ve|ll|d|m)\b
    | [^\w\s]                     # each sign by itself
    """,
    re.VERBOSE,
)


def split_words(text: str, lower_case: bool = True) -> list[str]:
    """The words and signs of ``text``, composed (NFC), in the spelling of GloVe's vocabulary.

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
    """Numbers the words it knows from 1 on and leaves out the others; a text without any becomes a single 0.

    Args:
        words: the known ones, in the order of their numbers.
        max_length: texts are cut at so many known words.
        lower_case: whether the known words are in lower case.

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
                raise BadInput(f"word {number}, {word!r}, is word {self._numbers[word]} already; name each word once")

    @property
    def words(self) -> tuple[str, ...]:
        """The known words, number 1 first."""
        return tuple(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def with_max_length(self, max_length: int) -> WordTokenizer:
        """The same tokenizer, cutting at another length."""
        other = WordTokenizer((), max_length, self.lower_case)
        other._numbers = self._numbers
        return other

    def __call__(self, texts: Sequence[str], windows: bool = False) -> Tokens:
        """The numbers of every text's words; with ``windows`` what does not fit becomes further rows."""
        ids, whole = self._known(texts)
        lengths = np.minimum(whole, self.max_length)
        owners: IntArray = np.arange(len(whole))
        words, lost = int(whole.sum()), int((whole - lengths).sum())
        truncation = Truncation(
            len(texts), int((whole > lengths).sum()), self.max_length, words, lost, int(whole.max(initial=0))
        )
        if lost and windows:  # which lie one behind the other as the text does
            lengths, owners = _windows(whole, self.max_length)
        elif lost:
            ids = lay(ids, np.cumsum(whole) - whole + lengths, lengths)
        return Tokens(ids, lengths, owners, truncation)

    def _known(self, texts: Sequence[str]) -> tuple[IntArray, IntArray]:
        """The numbers of all texts' known words end to end, and how many each text has."""
        numbers, counts = array("i"), array("q")
        for text in texts:
            before = len(numbers)
            numbers.extend(filter(None, map(self._numbers.get, split_words(text, self.lower_case))))
            if len(numbers) == before:
                numbers.append(0)
            counts.append(len(numbers) - before)
        return np.array(numbers, np.int32), np.array(counts, np.int64)


def _windows(whole: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """The lengths of all texts' windows of ``size`` words, and the text each belongs to.

    >>> lengths, owners = _windows(np.array([2, 5]), size=2)
    >>> lengths.tolist(), owners.tolist()
    ([2, 2, 2, 1], [0, 1, 1, 1])
    """
    counts = -(-whole // size)
    owners = np.repeat(np.arange(len(whole)), counts)
    place = np.arange(len(owners)) - (np.cumsum(counts) - counts)[owners]
    return np.minimum(size, whole[owners] - place * size), owners
