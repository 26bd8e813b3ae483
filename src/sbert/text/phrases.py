"""Finds the words and phrases of a text that may be its keywords, in English, Korean and other languages with spaces.

A phrase is a run of adjacent words that are not stop words, without punctuation in between. Korean words lose their
particles: with kiwipiepy, which knows the parts of speech, only nouns are left; without it, the usual particles are
cut off, and words that look like verbs are left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from functools import cache
from typing import NamedTuple

from sbert.errors import check_count
from sbert.text.stopwords import ENDINGS, PARTICLES, STOP_WORDS
from sbert.text.terms import analyzer, has_morphemes

_WORD = re.compile(r"[^\W_]+(?:['’·-][^\W_]+)*")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_NOUNS = ("NNG", "NNP", "XR", "SL", "SH", "SN")
_SHORTEST = 2


class _Word(NamedTuple):
    form: str
    start: int
    stop: int


def phrases(text: str, longest: int = 2, stop_words: Collection[str] = STOP_WORDS) -> list[str]:
    """Return the candidates for keywords, each once, in the order of their first appearance.

    Args:
        text: Any text.
        longest: Largest number of words of a phrase.
        stop_words: Words in lower case that no phrase contains.

    >>> phrases("The index answers queries; 색인은 질의에 답한다.")
    ['index', 'index answers', 'answers', 'answers queries', 'queries', '색인', '색인 질의', '질의']
    """
    check_count("longest", longest)
    text = unicodedata.normalize("NFKC", text).lower()
    found: dict[str, None] = {}
    for run in _runs(text, _words(text), stop_words):
        for start in range(len(run)):
            for stop in range(start + 1, min(start + longest, len(run)) + 1):
                found[" ".join(run[start:stop])] = None
    return list(found)


def _runs(text: str, words: list[_Word], stop_words: Collection[str]) -> Iterator[list[str]]:
    """Yield the words between two stop words or punctuation marks."""
    run: list[str] = []
    end = 0
    for word in words:
        if run and text[end : word.start].strip():
            yield run
            run = []
        if word.form in stop_words or len(word.form) < _SHORTEST or word.form.isnumeric():
            if run:
                yield run
            run = []
        else:
            run.append(word.form)
        end = word.stop
    if run:
        yield run


def _words(text: str) -> list[_Word]:
    """Return the words of a text; of Korean, the nouns. What follows a noun is part of its place."""
    if has_morphemes() and _HANGUL.search(text):
        return _analyzed(text)
    found = []
    for match in _WORD.finditer(text):
        form = stem(match[0]) if _HANGUL.search(match[0]) else match[0]
        found.append(_Word(form, match.start(), match.end()))
    return found


def _analyzed(text: str) -> list[_Word]:
    """Return the nouns that kiwipiepy finds; nouns that are written together are one word."""
    found: list[_Word] = []
    for match in _WORD.finditer(text):
        if not _HANGUL.search(match[0]):
            found.append(_Word(match[0], match.start(), match.end()))
            continue
        nouns = [token.form for token in analyzer().tokenize(match[0]) if token.tag in _NOUNS]
        found.append(_Word("".join(nouns), match.start(), match.end()))
    return found


@cache
def stem(word: str) -> str:
    """Cut the particles off a Korean word; a word that looks like a verb becomes empty.

    >>> stem("결제를"), stem("서울에서는"), stem("먹었습니다"), stem("나무")
    ('결제', '서울', '', '나무')
    """
    for particle in PARTICLES:
        if word.endswith(particle) and len(word) - len(particle) >= _SHORTEST:
            return word[: -len(particle)]
    return "" if len(word) > _SHORTEST and word.endswith(ENDINGS) else word
