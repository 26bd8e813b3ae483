"""Compiles conditions to SQL with parameters, for SQLite and for PostgreSQL. Executes nothing.

Both dialects select exactly the rows that :meth:`Comparison.matches` selects: every test is true or false, never NULL,
and values of different types are never compared. SQLite compares names as they stand in the JSON text, which must hold
letters such as "가" themselves, not their escapes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import zip_longest
from typing import NamedTuple

from sbert.search.filters.condition import And, Comparison, Condition, Not, Value, kind_of

Parameter = str | int | float | list[int] | list[str] | None


class Sql(NamedTuple):
    """A condition for WHERE, and its parameters in order."""

    text: str
    parameters: tuple[Parameter, ...] = ()


class Dialect(NamedTuple):
    """How a database tests a column ``metadata`` of JSON objects."""

    test: Callable[[Comparison], Sql]
    true: str
    false: str


def to_sql(condition: Condition, dialect: Dialect) -> Sql:
    """Return the SQL of a condition.

    >>> from sbert.search.filters.read import read_filter
    >>> to_sql(read_filter("not year >= 2020"), POSTGRES).parameters
    ('year', 'year', '2020')
    """
    if isinstance(condition, Comparison):
        return dialect.test(condition)
    if isinstance(condition, Not):
        inner = to_sql(condition.condition, dialect)
        return Sql(f"NOT {inner.text}", inner.parameters)
    parts = [to_sql(part, dialect) for part in condition.conditions]
    return _joined("AND", parts, dialect.true) if isinstance(condition, And) else _joined("OR", parts, dialect.false)


def _joined(word: str, parts: list[Sql], otherwise: str) -> Sql:
    """Join tests pair by pair, because SQLite nests a row of them, and refuses more than a thousand levels."""
    if not parts:
        return Sql(otherwise)
    texts = [part.text for part in parts]
    while len(texts) > 1:
        pairs = zip_longest(texts[::2], texts[1::2])
        texts = [one if other is None else f"({one} {word} {other})" for one, other in pairs]
    return Sql(f"({texts[0]})", tuple(parameter for part in parts for parameter in part.parameters))


def _sqlite_test(test: Comparison) -> Sql:
    path = "$" + "".join(f'."{name}"' for name in test.field)
    if test.operator == "exists":
        return Sql("(json_type(metadata, ?) IS NOT NULL)", (path,))
    if test.operator == "contains":
        (value,) = test.values
        types, comparison, operands = _sqlite_value("value", "=", value)
        tests = [
            Sql(
                "(json_type(metadata, ?) IS 'array' AND EXISTS "
                f"(SELECT 1 FROM json_each(metadata, ?) WHERE type IN ({types}){comparison}))",
                (path, path, *operands),
            )
        ]
        if isinstance(value, str):
            part = "(json_type(metadata, ?) IS 'text' AND instr(json_extract(metadata, ?), ?) > 0)"
            tests.append(Sql(part, (path, path, value)))
        return _joined("OR", tests, "0")
    sign = "=" if test.operator == "in" else test.operator
    return _joined("OR", [_sqlite_compare(path, sign, value) for value in test.values], "0")


def _sqlite_compare(path: str, sign: str, value: Value) -> Sql:
    types, comparison, operands = _sqlite_value("json_extract(metadata, ?)", sign, value)
    paths = (path, path) if comparison else (path,)
    return Sql(f"(ifnull(json_type(metadata, ?), '') IN ({types}){comparison})", (*paths, *operands))


def _sqlite_value(place: str, sign: str, value: Value) -> tuple[str, str, tuple[Parameter, ...]]:
    """Return the JSON types that can pass a comparison, and the rest of the comparison with its parameters."""
    kind = kind_of(value)
    if kind in ("null", "boolean"):
        return f"'{json.dumps(value)}'", "", ()
    types = "'integer', 'real'" if kind == "number" else "'text'"
    return types, f" AND {place} {sign} ?", (value,)


def _postgres_test(test: Comparison) -> Sql:
    place, path = "(metadata" + " -> %s::text" * len(test.field) + ")", test.field  # -> finds nothing in a list
    if test.operator == "exists":
        return Sql(f"({place} IS NOT NULL)", path)
    if test.operator == "in":
        return Sql(f"coalesce({place} = ANY(%s::text[]::jsonb[]), false)", (*path, list(map(json.dumps, test.values))))
    (value,) = test.values
    text = f"({place} #>> '{{}}')"
    if test.operator == "contains":
        element = (
            f"EXISTS (SELECT 1 FROM jsonb_array_elements({place}) AS element WHERE element = %s::jsonb)",
            (*path, json.dumps(value)),
        )
        tests = [_postgres_case("array", place, path, Sql(*element))]
        if isinstance(value, str):
            tests.append(_postgres_case("string", place, path, Sql(f"position(%s in {text}) > 0", (value, *path))))
        return _joined("OR", tests, "false")
    if isinstance(value, str):
        compared = Sql(f'{text} COLLATE "C" {test.operator} %s', (*path, value))
        return _postgres_case("string", place, path, compared)
    compared = Sql(f"{text}::numeric {test.operator} %s::numeric", (*path, json.dumps(value)))  # not rounded, as text
    return _postgres_case("number", place, path, compared)


def _postgres_case(kind: str, place: str, path: tuple[str, ...], test: Sql) -> Sql:
    """Return a test of fields of one JSON type, which is not evaluated for others: a cast would fail."""
    text = f"(CASE WHEN jsonb_typeof({place}) = '{kind}' THEN {test.text} ELSE false END)"
    return Sql(text, (*path, *test.parameters))


SQLITE = Dialect(_sqlite_test, "1", "0")
POSTGRES = Dialect(_postgres_test, "true", "false")
