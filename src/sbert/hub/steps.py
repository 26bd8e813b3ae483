"""Checks the steps of a tokenizer.json before they are built: none may panic, or make a short text endless."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sbert.errors import shown
from sbert.hub.files import refusal
from sbert.hub.limits import LARGEST_CHARSMAP, MOST_GROWTH, MOST_STEPS

_GROWTH = {"ByteLevel": 4, "NFC": 3, "NFD": 4, "NFKC": 18, "NFKD": 18, "Lowercase": 2, "BertNormalizer": 4}
"""Characters that a normalizer makes of one at most, by Unicode's tables; others make one or are looked at."""
_TEMPLATES = {"single": ["A"], "pair": ["A", "B"]}
"""The texts that each template of a post-processor has, once each."""
_MOST_LENGTHENING = 2
"""Pre-tokenizers that may lengthen a text, ByteLevel and Metaspace: each of them can double it. Models have one."""


def check_steps(tokenizer: Mapping[str, Any], path: Path) -> None:
    """Raise BadModel for steps that panic, allocate gigabytes or make a text thousands of times longer.

    Args:
        tokenizer: What was read from a tokenizer.json.
        path: The file to name in errors.
    """
    _check_normalizers(tokenizer.get("normalizer"), path)
    splits = _steps(tokenizer.get("pre_tokenizer"), "pretokenizers", path)
    lengthening = [step for step in splits if step.get("type") in ("ByteLevel", "Metaspace")]
    if len(lengthening) > _MOST_LENGTHENING:
        said = f"has {len(lengthening)} pre-tokenizers ByteLevel or Metaspace"
        raise refusal(path, f"{said}, but at most {_MOST_LENGTHENING} are allowed")
    for step in _steps(tokenizer.get("post_processor"), "processors", path):
        for name in _TEMPLATES.keys() & step.keys():
            used = sorted(piece["Sequence"]["id"] for piece in step[name] if "Sequence" in piece)
            if used != _TEMPLATES[name]:
                expected = " and ".join(_TEMPLATES[name])
                raise refusal(path, f"has a template {name!r} of the texts {shown(used)}, but {expected} is expected")


def _steps(step: Any, key: str, path: Path) -> list[dict[str, Any]]:
    """Return a step and all steps inside of it, which a sequence has under ``key``."""
    found: list[dict[str, Any]] = []
    waiting = [step]
    while waiting:
        step = waiting.pop()
        if isinstance(step, dict):
            found.append(step)
            waiting += step.get(key) or []
    if len(found) > MOST_STEPS:
        raise refusal(path, f"has {len(found):,} {key}, but at most {MOST_STEPS:,} are allowed")
    return found


def _check_normalizers(normalizer: Any, path: Path) -> None:
    growth, prepended = 1, 0
    for step in _steps(normalizer, "normalizers", path):
        for factor in _factors(step, path):
            growth *= factor
        prepended += len(step.get("prepend", ""))
    if growth * (1 + prepended) > MOST_GROWTH:
        raise refusal(path, f"makes more than {MOST_GROWTH:,} characters of one, which no tokenizer needs")


def _factors(step: Mapping[str, Any], path: Path) -> Iterator[int]:
    """Yield upper bounds, which must be multiplied, of the number of characters that a normalizer makes of one."""
    yield _GROWTH.get(step.get("type", ""), 1)
    if "pattern" in step:
        if "" in step["pattern"].values():
            raise refusal(path, "replaces an empty pattern, which has no end")
        # A regular expression may match between characters and leave them as they are.
        yield max(1, len(step["content"]) + ("Regex" in step["pattern"]))
    if "precompiled_charsmap" in step:
        yield _longest_replacement(step["precompiled_charsmap"], path)


def _longest_replacement(charsmap: str, path: Path) -> int:
    """Return the length of the longest text in a precompiled_charsmap: the size of a trie, the trie, and texts."""
    if len(charsmap) > LARGEST_CHARSMAP:
        raise refusal(path, f"has a precompiled_charsmap of more than {LARGEST_CHARSMAP:,} characters")
    table = base64.b64decode(charsmap)
    end = 4 + int.from_bytes(table[:4], "little")
    if end > len(table):
        raise refusal(path, "has a precompiled_charsmap that is cut short")
    return max(1, *map(len, table[end:].decode(errors="replace").split("\0")))
