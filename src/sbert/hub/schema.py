"""Checks what a configuration file says against a description of it: types, ranges and defaults.

A key that the description does not name is ignored. A value of another type or out of range is refused before
anything is built or allocated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sbert.errors import shown
from sbert.hub.files import read_object, refusal

LARGEST = (1 << 31) - 1
"""The largest whole number anywhere: a size of a vocabulary, a position, a token id."""
_REQUIRED: Any = object()


@dataclass(frozen=True, slots=True)
class Field:
    """One key of a configuration file."""

    expected: str
    """Names what is accepted, as part of a sentence."""
    accepts: Callable[[Any], bool]
    default: Any = _REQUIRED
    """The value where the key is missing or null."""

    def otherwise(self, default: Any) -> Field:
        """Return the same description with a default, so that the key may be missing."""
        return replace(self, default=default)


Schema = Mapping[str, Field]


def read_settings(path: Path, schema: Schema, optional: bool = False) -> dict[str, Any]:
    """Return the value of every key of ``schema`` in a JSON file, which may be missing where ``optional``."""
    return checked(read_object(path, optional), schema, path)


def checked(config: Mapping[str, Any], schema: Schema, path: Path) -> dict[str, Any]:
    """Return the value of every key of ``schema``.

    Args:
        config: What was read from ``path``.
        schema: The keys to return.
        path: The file to name in errors.
    """
    values = {}
    for key, field in schema.items():
        value = config.get(key)
        if value is None and field.default is _REQUIRED:
            raise refusal(path, f"lacks {key!r}")
        if value is not None and not field.accepts(value):
            raise refusal(path, f"has {key} {shown(value)}, but {field.expected} is expected")
        values[key] = field.default if value is None else value
    return values


def whole(lowest: int, highest: float = LARGEST) -> Field:
    """Describe a whole number in a range."""
    up_to = f"from {lowest} on" if highest >= LARGEST else f"from {lowest} to {highest:,}"
    return Field(f"a whole number {up_to}", lambda value: type(value) is int and lowest <= value <= highest)


def number(lowest: float = -math.inf, highest: float = math.inf) -> Field:
    """Describe a finite number in a range."""
    bounds = "" if math.isinf(lowest) else f" from {lowest:g} to {highest:g}"
    return Field(
        f"a number{bounds}", lambda v: type(v) in (int, float) and lowest <= v <= highest and abs(v) < math.inf
    )


def choice(names: Collection[str]) -> Field:
    """Describe one of several texts."""
    return Field(f"one of {', '.join(names)}", lambda value: isinstance(value, str) and value in names)


def _all(kinds: Any, values: Collection[Any]) -> bool:
    return all(isinstance(value, kinds) for value in values)


FLAG = Field("true or false", lambda value: isinstance(value, bool))
TEXT = Field("a text", lambda value: isinstance(value, str))
TEXTS = Field("a list of texts", lambda value: isinstance(value, list) and _all(str, value))
TEXT_OR_TEXTS = Field("a text or a list of texts", lambda value: TEXT.accepts(value) or TEXTS.accepts(value))
TABLE = Field("a JSON object of texts", lambda value: isinstance(value, dict) and _all(str | None, value.values()))
CLASS_NAME = Field("the name of a class", lambda v: isinstance(v, str) and v.isidentifier() and len(v) <= 60)
