"""Checks what a configuration file says against a description of it: types, ranges and defaults.

A key that the description does not name is ignored. A value of another type or out of range is refused before
anything is built or allocated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sbert.errors import BadModel, shown

WIDEST = 1 << 20
"""The largest size of a vector or a hidden state."""
DEEPEST = 1_000
"""The largest number of layers."""
LARGEST = (1 << 31) - 1
"""The largest whole number anywhere: a size of a vocabulary, a position, a token id."""
_REQUIRED: Any = object()


@dataclass(frozen=True, slots=True)
class Field:
    """One key of a configuration file."""

    expected: str
    """Names what is accepted, as part of a sentence."""
    accepts: Callable[[Any], bool]
    default: Any
    """The value where the key is missing or null."""


Schema = Mapping[str, Field]


def checked(config: Mapping[str, Any], schema: Schema, path: Path) -> dict[str, Any]:
    """Return the value of every key of ``schema``.

    Args:
        config: What was read from ``path``.
        schema: The keys to return.
        path: The file to name in errors.
    """
    return {key: _value(config.get(key), key, field, path) for key, field in schema.items()}


def _value(value: Any, key: str, field: Field, path: Path) -> Any:
    if value is None and field.default is _REQUIRED:
        raise BadModel(f"{path} lacks {key!r}; download or save the model again")
    if value is None:
        return field.default
    if not field.accepts(value):
        raise BadModel(
            f"{path} has {key} {shown(value)}, but {field.expected} is expected; download or save the model again"
        )
    return value


def whole(lowest: int, highest: float = LARGEST, default: Any = _REQUIRED) -> Field:
    """Describe a whole number in a range."""
    up_to = f"from {lowest} on" if highest >= LARGEST else f"from {lowest} to {highest:,}"
    return Field(f"a whole number {up_to}", lambda value: type(value) is int and lowest <= value <= highest, default)


def number(lowest: float = -math.inf, highest: float = math.inf, default: Any = _REQUIRED) -> Field:
    """Describe a finite number in a range."""
    bounds = "" if math.isinf(lowest) else f" from {lowest:g} to {highest:g}"

    def accepts(value: Any) -> bool:
        return type(value) in (int, float) and lowest <= value <= highest and abs(value) < math.inf

    return Field(f"a number{bounds}", accepts, default)


def text(default: Any = _REQUIRED) -> Field:
    """Describe a text."""
    return Field("a text", lambda value: isinstance(value, str), default)


def class_name(default: Any = _REQUIRED) -> Field:
    """Describe the name of a Python class."""
    return Field("the name of a class", lambda v: isinstance(v, str) and v.isidentifier() and len(v) <= 60, default)


def flag(default: Any = _REQUIRED) -> Field:
    """Describe true or false."""
    return Field("true or false", lambda value: isinstance(value, bool), default)


def choice(names: Collection[str], default: Any = _REQUIRED) -> Field:
    """Describe one of several texts."""
    known = ", ".join(names)
    return Field(f"one of {known}", lambda value: isinstance(value, str) and value in names, default)


def texts(default: Any = _REQUIRED) -> Field:
    """Describe a list of texts."""
    return Field("a list of texts", _are_texts, default)


def table(default: Any = _REQUIRED) -> Field:
    """Describe a JSON object whose values are texts or null."""
    return Field(
        "a JSON object of texts",
        lambda value: isinstance(value, dict) and all(isinstance(v, str | None) for v in value.values()),
        default,
    )


def text_or_texts(default: Any = _REQUIRED) -> Field:
    """Describe a text or a list of texts."""
    return Field("a text or a list of texts", lambda value: isinstance(value, str) or _are_texts(value), default)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
