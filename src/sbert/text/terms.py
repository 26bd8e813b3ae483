"""Turns texts into the terms of a full-text index: words, and pairs of letters for Korean, Chinese and Japanese.

Korean attaches particles to its words (결제가, 결제를), and Chinese and Japanese write no spaces between words. Every
two adjacent letters are therefore one term. Korean morphemes can be added if kiwipiepy is installed.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Any

from sbert.errors import BadInput

# Hangul syllables and letters, Chinese characters, and the two Japanese syllabaries with their long vowel mark.
_CJK = (
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u3040-\u30ff"
)
_RUN = re.compile(rf"(?P<cjk>[{_CJK}]+)|(?:(?![{_CJK}])[^\W_])+")
# Nouns, roots, verbs, adjectives, adverbs, foreign words and numbers; no particles, endings or punctuation.
_MORPHEMES = ("NN", "NR", "XR", "VV", "VA", "MAG", "SL", "SH", "SN")


def document_terms(text: str, morphemes: bool = False) -> list[str]:
    """Return the terms under which a text can be found.

    Args:
        text: Any text.
        morphemes: Whether to add the Korean morphemes, which needs kiwipiepy.

    >>> document_terms("KTX를 결제")
    ['ktx', '를', '결', '결제', '제']
    """
    return _terms(text, morphemes, single_letters=True)


def query_terms(text: str, morphemes: bool = False) -> list[str]:
    """Return the terms to look for. A single letter is a term only if it stands alone.

    >>> query_terms("부산 KTX 결제는?")
    ['부산', 'ktx', '결제', '제는']
    """
    return _terms(text, morphemes, single_letters=False)


def has_morphemes() -> bool:
    """Return whether kiwipiepy is installed."""
    from importlib.util import find_spec

    return find_spec("kiwipiepy") is not None


def _terms(text: str, morphemes: bool, single_letters: bool) -> list[str]:
    text = unicodedata.normalize("NFKC", text).lower()
    terms: list[str] = []
    for run in _RUN.finditer(text):
        letters = run[0]
        if run["cjk"] is None:
            terms.append(letters)
            continue
        for place, letter in enumerate(letters):
            if single_letters or len(letters) == 1:
                terms.append(letter)
            if place + 1 < len(letters):
                terms.append(letters[place : place + 2])
    # The mark keeps a morpheme apart from a pair of letters that is spelled the same.
    return [*terms, *(f"{form}0m" for form in _morphemes(text))] if morphemes else terms


def _morphemes(text: str) -> list[str]:
    return [token.form for token in analyzer().tokenize(text) if token.tag.startswith(_MORPHEMES)]


@cache
def analyzer() -> Any:
    """Return the Korean morphological analyser, which kiwipiepy brings."""
    try:
        from kiwipiepy import Kiwi
    except ImportError:
        raise BadInput(
            "the full-text index of this store holds Korean morphemes, but kiwipiepy is not installed; run: "
            "pip install 'sbert[ko]'"
        ) from None
    return Kiwi(num_workers=1)
