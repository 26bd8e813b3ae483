"""Defines the conditions that metadata can meet. Works on JSON values only.

A test of a field that a row does not have is false, and so is a test that compares a text with a number. ``not`` turns
false into true: ``lang != "ko"`` is the same as ``not lang = "ko"`` and selects rows without a language, too.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sbert.errors import BadInput, shown

Value = str | int | float | bool | None
"""What a field can be compared with."""
Operator = Literal["in", "<", "<=", ">", ">=", "contains", "exists"]

ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MISSING = object()
_LARGEST_INTEGER = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison of one field.

    Args:
        field: The name of the field, or the names that lead to a nested one.
        operator: "in" tests whether the field equals one of the values, "contains" whether it is a text with the
            value as a part or a list with the value as an element, "exists" whether a row has the field.
        values: One value, any number for "in", none for "exists".

    >>> Comparison(("tags",), "contains", ("비",)).matches({"tags": ["눈", "비"]})
    True
    """

    field: tuple[str, ...]
    operator: Operator
    values: tuple[Value, ...] = ()

    def __post_init__(self) -> None:
        for name in self.field:
            if not name or not name.isprintable() or {'"', "\\"} & set(name):
                raise BadInput(
                    f"the filter names the field {shown('.'.join(self.field))}, but a name has no quotes, "
                    "backslashes or control characters, and is not empty"
                )
        for value in self.values:
            _check_value(value)
            if self.operator in ORDER and kind_of(value) not in ("number", "text"):
                raise BadInput(
                    f"the filter compares {'.'.join(self.field)} by {self.operator} with {shown(value)}, but only "
                    "numbers and texts have an order"
                )

    def matches(self, metadata: Mapping[str, object]) -> bool:
        """Return whether the metadata of a row pass the test."""
        found: object = metadata
        for name in self.field:
            found = found.get(name, _MISSING) if isinstance(found, Mapping) else _MISSING
        if found is _MISSING or self.operator == "exists":
            return found is not _MISSING
        if self.operator == "in":
            return any(_equal(found, value) for value in self.values)
        (value,) = self.values
        if self.operator == "contains" and isinstance(found, list | tuple):
            return any(_equal(element, value) for element in found)
        if self.operator == "contains":
            return isinstance(found, str) and isinstance(value, str) and value in found
        return kind_of(found) == kind_of(value) and ORDER[self.operator](found, value)


@dataclass(frozen=True, slots=True)
class Not:
    """True where ``condition`` is false."""

    condition: Condition

    def matches(self, metadata: Mapping[str, object]) -> bool:
        """Return whether the metadata of a row do not meet the condition."""
        return not self.condition.matches(metadata)


@dataclass(frozen=True, slots=True)
class And:
    """True where every one of ``conditions`` is true."""

    conditions: tuple[Condition, ...]

    def matches(self, metadata: Mapping[str, object]) -> bool:
        """Return whether the metadata of a row meet every condition."""
        return all(condition.matches(metadata) for condition in self.conditions)


@dataclass(frozen=True, slots=True)
class Or:
    """True where at least one of ``conditions`` is true."""

    conditions: tuple[Condition, ...]

    def matches(self, metadata: Mapping[str, object]) -> bool:
        """Return whether the metadata of a row meet one of the conditions."""
        return any(condition.matches(metadata) for condition in self.conditions)


Condition = Comparison | Not | And | Or


def kind_of(value: object) -> str:
    """Return the JSON type of a value; integers are numbers like all others.

    >>> [kind_of(value) for value in (True, 1, 1.5, "비", None, [1])]
    ['boolean', 'number', 'number', 'text', 'null', 'other']
    """
    if value is None:
        return "null"
    if isinstance(value, bool):  # bool is a subclass of int
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else "other"


def _equal(found: object, value: object) -> bool:
    return kind_of(found) == kind_of(value) != "other" and found == value


def _check_value(value: object) -> None:
    too_large = isinstance(value, int) and abs(value) > _LARGEST_INTEGER
    if kind_of(value) == "other" or too_large or value in (float("inf"), -float("inf")) or value != value:
        raise BadInput(
            f"the filter compares with {shown(value)}, but a value is a text, a number of at most 64 bits, true, "
            "false or null"
        )
    if isinstance(value, str) and any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in value):
        raise BadInput(f"the filter compares with {shown(value)}, which holds NUL or a lone surrogate; remove it")
