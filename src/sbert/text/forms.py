"""Unicode forms of texts, as steps of a tokenizer."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

from tokenizers.normalizers import NFC, NFKC, Normalizer, Replace, Sequence

from sbert.types import UnicodeForm

# NFKC turns the letters in "ㅋㅋ" and "ㅠㅠ", as keyboards type them, into conjoining ones, which vocabularies lack.
_HANGUL_LETTERS = {unicodedata.normalize("NFKC", letter): letter for letter in map(chr, range(0x3131, 0x3164))}


def with_form(normalizer: Normalizer | None, form: UnicodeForm) -> Normalizer:
    """Return a normalizer that brings texts to a form first, and then does what ``normalizer`` does."""
    restored = [Replace(*letters) for letters in _HANGUL_LETTERS.items()]
    first = [NFC()] if form == "NFC" else [NFKC(), *restored]
    if normalizer is None:
        return Sequence(first)
    steps = _steps(Sequence(first))
    return normalizer if _steps(normalizer)[: len(steps)] == steps else Sequence([*first, normalizer])


def _steps(normalizer: Normalizer) -> list[Any]:
    """Return the steps of a normalizer as plain values."""
    state = json.loads(normalizer.__getstate__())
    return state["normalizers"] if state["type"] == "Sequence" else [state]
