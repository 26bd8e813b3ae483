"""Reads filters: expressions such as ``lang = "ko" and year >= 2020``, or the same as Python values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, cast, get_args

from sbert.errors import BadInput, check_option, listed, shown
from sbert.search.filters.condition import ORDER, And, Comparison, Condition, Not, Operator, Or, Value

Filter = str | Mapping[str, Any] | Condition
"""A filter as users write it."""

MAX_DEPTH = 50
"""Number of levels to which conditions may be nested."""
MAX_VALUES = 5_000
"""Number of values that a filter may compare with; a database takes a limited number of parameters."""
_TOKEN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<number>[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))
    | (?P<sign><=|>=|!=|=|<|>|\(|\)|,)
    | (?P<name>`[^`]+`|[^\W\d][\w-]*(?:\.[\w-]+)*)
    """,
    re.VERBOSE | re.DOTALL,
)
_CONSTANTS: dict[str, Value] = {"true": True, "false": False, "null": None}
_WORDS = {"and", "or", "not", "in", "contains", "exists", *_CONSTANTS}
_KEYS: dict[str, Operator] = {
    "$eq": "in",
    "$lt": "<",
    "$lte": "<=",
    "$gt": ">",
    "$gte": ">=",
    "$in": "in",
    "$contains": "contains",
}
_NEGATED_KEYS: dict[str, Operator] = {"$ne": "in", "$nin": "in"}


def read_filter(filter: Filter) -> Condition:
    """Return the condition that an expression or a mapping stands for.

    Args:
        filter: An expression: ``=``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``in (...)``, ``not in (...)``,
            ``contains`` and ``exists`` test a field; ``and``, ``or``, ``not`` and parentheses combine tests. Or a
            mapping from fields to values, lists of values, or operators: ``$eq``, ``$ne``, ``$lt``, ``$lte``,
            ``$gt``, ``$gte``, ``$in``, ``$nin``, ``$contains``, ``$exists``; ``$and``, ``$or`` and ``$not`` combine.

    >>> read_filter('lang = "ko" and year >= 2020') == read_filter({"lang": "ko", "year": {"$gte": 2020}})
    True
    """
    if isinstance(filter, get_args(Condition)):
        condition = cast(Condition, filter)
    elif isinstance(filter, str):
        condition = _Parser(filter).parse()
    elif isinstance(filter, Mapping):
        condition = _from_mapping(filter, 0)
    else:
        raise BadInput(f"the filter is {shown(filter)}, but must be an expression or a mapping of fields to values")
    if (values := _values_in(condition)) > MAX_VALUES:
        raise BadInput(
            f"the filter compares with {values:,} values, but at most {MAX_VALUES:,} are possible; divide it"
        )
    return condition


def _values_in(condition: Condition) -> int:
    """Count the values that a condition compares with, and its tests without a value."""
    if isinstance(condition, Comparison):
        return max(1, len(condition.values))
    if isinstance(condition, Not):
        return _values_in(condition.condition)
    return sum(map(_values_in, condition.conditions))


class _Token(NamedTuple):
    kind: str
    text: str
    place: int


class _Parser:
    """A recursive descent parser: each method reads one rule of the grammar."""

    def __init__(self, expression: str) -> None:
        self.expression = expression
        self.tokens = self._tokens()
        self.next = 0

    def parse(self) -> Condition:
        condition = self._either(0)
        if self._token.kind != "end":
            raise self._error("'and', 'or' or the end of the filter")
        return condition

    def _either(self, depth: int) -> Condition:
        """Read conditions joined by "or"."""
        conditions = [self._both(depth)]
        while self._accept("or"):
            conditions.append(self._both(depth))
        return conditions[0] if len(conditions) == 1 else Or(tuple(conditions))

    def _both(self, depth: int) -> Condition:
        """Read conditions joined by "and"."""
        conditions = [self._one(depth)]
        while self._accept("and"):
            conditions.append(self._one(depth))
        return conditions[0] if len(conditions) == 1 else And(tuple(conditions))

    def _one(self, depth: int) -> Condition:
        """Read a test, a condition in parentheses, or the negation of one of them."""
        if depth > MAX_DEPTH:
            raise BadInput(_TOO_DEEP)
        if self._accept("not"):
            return Not(self._one(depth + 1))
        if self._accept("("):
            condition = self._either(depth + 1)
            self._expect(")")
            return condition
        return self._test()

    def _test(self) -> Condition:
        token = self._token
        if token.kind != "name" or token.text in _WORDS:
            raise self._error("a field, 'not' or '('")
        self.next += 1
        field = (token.text[1:-1],) if token.text.startswith("`") else tuple(token.text.split("."))
        if self._accept("exists"):
            return Comparison(field, "exists")
        if self._accept("contains"):
            return Comparison(field, "contains", (self._value(),))
        if self._accept("not"):
            self._expect("in")
            return Not(Comparison(field, "in", self._values()))
        if self._accept("in"):
            return Comparison(field, "in", self._values())
        sign = next((sign for sign in ("=", "!=", *ORDER) if self._accept(sign)), None)
        if sign is None:
            raise self._error("'=', '!=', '<', '<=', '>', '>=', 'in', 'not in', 'contains' or 'exists'")
        test = Comparison(field, cast(Operator, sign if sign in ORDER else "in"), (self._value(),))
        return Not(test) if sign == "!=" else test

    def _values(self) -> tuple[Value, ...]:
        self._expect("(")
        values = [self._value()]
        while self._accept(","):
            values.append(self._value())
        self._expect(")")
        return tuple(values)

    def _value(self) -> Value:
        kind, text, _ = self._token
        if kind == "text":
            value: Value = re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)
        elif kind == "number":
            value = int(text) if re.fullmatch(r"[-+]?\d{1,19}", text) else float(text)
        elif text in _CONSTANTS:
            value = _CONSTANTS[text]
        else:
            raise self._error('a value: "text" in quotes, a number, true, false or null')
        self.next += 1
        return value

    @property
    def _token(self) -> _Token:
        return self.tokens[self.next]

    def _accept(self, text: str) -> bool:
        """Skip the next token if it is ``text``, a word or a sign."""
        found = self._token.text == text and self._token.kind in ("name", "sign")
        self.next += found
        return found

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            raise self._error(repr(text))

    def _tokens(self) -> list[_Token]:
        tokens, place = [], 0
        while place < len(self.expression):
            match = _TOKEN.match(self.expression, place)
            if match is None:
                raise _error(_Token("other", self.expression[place], place), "a field, an operator or a value")
            if match.lastgroup != "space":
                tokens.append(_Token(str(match.lastgroup), match[0], place))
            place = match.end()
        return [*tokens, _Token("end", "", place)]

    def _error(self, expected: str) -> BadInput:
        return _error(self._token, expected)


def _error(token: _Token, expected: str) -> BadInput:
    got = "the end" if token.kind == "end" else shown(token.text)
    return BadInput(f"the filter has {got} at character {token.place + 1}, but {expected} is expected there")


_TOO_DEEP = f"the filter is nested more than {MAX_DEPTH} levels deep; simplify it"


def _from_mapping(mapping: object, depth: int) -> Condition:
    if not isinstance(mapping, Mapping) or not mapping:
        raise BadInput(f"the filter holds {shown(mapping)}, but a mapping of fields to values is expected there")
    if depth > MAX_DEPTH:
        raise BadInput(_TOO_DEEP)
    return _all([_from_entry(str(key), value, depth) for key, value in mapping.items()])


def _from_entry(key: str, value: Any, depth: int) -> Condition:
    if key == "$not":
        return Not(_from_mapping(value, depth + 1))
    if key in ("$and", "$or"):
        if not isinstance(value, list | tuple) or not value:
            raise BadInput(f"{key} has {shown(value)}, but needs a list of filters")
        conditions = [_from_mapping(part, depth + 1) for part in value]
        return _all(conditions) if key == "$and" or len(conditions) == 1 else Or(tuple(conditions))
    field = tuple(key.split("."))
    if isinstance(value, Mapping):
        if not value:
            raise BadInput(f"the field {shown(key)} has no operator, but needs one of {listed([*_KEYS, '$ne'])}")
        return _all([_from_operator(field, str(name), operand) for name, operand in value.items()])
    return Comparison(field, "in", tuple(value) if isinstance(value, list | tuple | set) else (value,))


def _from_operator(field: tuple[str, ...], name: str, operand: Any) -> Condition:
    if name == "$exists":
        test = Comparison(field, "exists")
        return test if operand else Not(test)
    check_option(f"the operator of {'.'.join(field)}", name, [*_KEYS, *_NEGATED_KEYS, "$exists"])
    several = name in ("$in", "$nin")
    if several and not isinstance(operand, list | tuple | set):
        raise BadInput(f"{name} has {shown(operand)}, but needs a list of values")
    test = Comparison(field, _KEYS.get(name) or _NEGATED_KEYS[name], tuple(operand) if several else (operand,))
    return Not(test) if name in _NEGATED_KEYS else test


def _all(conditions: list[Condition]) -> Condition:
    return conditions[0] if len(conditions) == 1 else And(tuple(conditions))
