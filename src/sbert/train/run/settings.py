"""Frozen dataclasses from TOML: every key known, every value of its type. Knows annotations, not what they mean."""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from sbert.data.files import not_utf8
from sbert.errors import BadInput, BadOption

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Settings = TypeVar("Settings")
Table = dict[str, Any]

_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false", type(None): "'none'"}
_SEVERAL = {str: "texts", int: "whole numbers", float: "numbers"}


def read(path: str | Path) -> Table:
    """The tables of a TOML file."""
    try:
        return tomllib.loads(Path(path).expanduser().read_text(encoding="utf-8"))
    except (FileNotFoundError, IsADirectoryError):
        raise BadInput(f"there is no file {str(path)!r}, but a run file is needed; check the name") from None
    except UnicodeDecodeError as error:
        raise not_utf8(error, str(path)) from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path} is no TOML file ({error}); correct it there") from None


def put(table: Mapping[str, Any], key: str, value: object) -> Table:
    """A copy of ``table`` with another value under a dotted key.

    >>> put({"train": {"seed": 1}}, "train.epochs", 2)
    {'train': {'seed': 1, 'epochs': 2}}
    """
    first, _, rest = key.partition(".")
    inner = table.get(first, {})
    if rest and not isinstance(inner, Mapping):
        raise BadInput(f"{key} is to be set, but {first} is {inner!r} and holds no keys; check the name")
    return {**table, first: put(inner, rest, value) if rest else value}


def override(table: Mapping[str, Any], assignment: str) -> Table:
    """A copy of ``table`` after ``a.b=v``, where ``v`` is written as in TOML; bare words are text.

    >>> override({"model": {"name": "bert"}}, "train.freeze=['transformer.words.*']")
    {'model': {'name': 'bert'}, 'train': {'freeze': ['transformer.words.*']}}
    >>> override({}, "model.name=한국어/모형")
    {'model': {'name': '한국어/모형'}}
    """
    key, equals, value = assignment.partition("=")
    key = key.strip()
    if not equals or not all(key.split(".")):
        raise BadInput(f"got {assignment!r}, but a setting is written as table.key=value, such as train.epochs=2")
    return put(table, key, _value(value.strip()))


def build(cls: type[Settings], table: Mapping[str, Any], where: str) -> Settings:
    """``cls`` made of ``table``, which messages call ``where``."""
    kinds = get_type_hints(cls)
    known = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]  # which is a dataclass
    for key in table:
        if key not in known:
            raise BadOption(f"a key of {where}", key, known)
    for name, field in known.items():
        if name not in table and field.default is MISSING and field.default_factory is MISSING:
            raise BadInput(f"{where} has no {name}, which it needs; set {where}.{name}")
    return cls(**{key: _read(kinds[key], value, f"{where}.{key}") for key, value in table.items()})


def _read(kind: Any, value: object, name: str) -> Any:
    """``value`` as the annotation ``kind`` wants it; which of several texts are allowed, the class itself checks."""
    made = _fit(kind, value)
    if made is _UNFIT:
        raise BadInput(f"{name} is {value!r}, but must be {_words(kind)}")
    return made


_UNFIT = object()


def _fit(kind: Any, value: object) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin in (Union, types.UnionType):
        return _fit_any(parts, value)
    if origin is Literal:
        return value if isinstance(value, str) else _UNFIT
    if origin is tuple:
        return _fit_tuple(parts, value)
    if origin is dict:
        return _fit_dict(parts[1], value)
    if kind is float and type(value) is int:
        return float(value)
    return value if type(value) is kind else _UNFIT  # True is no whole number


def _fit_any(kinds: tuple[Any, ...], value: object) -> Any:
    """TOML has no null: "none" says it wherever None is allowed."""
    if type(None) in kinds and value in (None, "none"):
        return None
    return next((made for kind in kinds if (made := _fit(kind, value)) is not _UNFIT), _UNFIT)


def _fit_tuple(kinds: tuple[Any, ...], value: object) -> Any:
    if not isinstance(value, (list, tuple)):
        return _UNFIT
    wanted = kinds[:1] * len(value) if kinds[-1] is Ellipsis else kinds
    if len(wanted) != len(value):
        return _UNFIT
    made = tuple(_fit(kind, part) for kind, part in zip(wanted, value, strict=True))
    return _UNFIT if _UNFIT in made else made


def _fit_dict(kind: Any, value: object) -> Any:
    if not isinstance(value, Mapping):
        return _UNFIT
    made = {str(key): _fit(kind, part) for key, part in value.items()}
    return _UNFIT if _UNFIT in made.values() else made


def _words(kind: Any) -> str:
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(_words, parts)))
    if origin is Literal:
        return f"one of {', '.join(map(repr, parts))}"
    if origin is tuple and parts[-1] is Ellipsis:
        return f"a list of {_SEVERAL[parts[0]]}" if parts[0] in _SEVERAL else f"a list, each {_words(parts[0])}"
    if origin is tuple:
        return f"a list of {len(parts)} {_SEVERAL[parts[0]]}"
    return _WORDS.get(kind, "a table")


def _value(text: str) -> object:
    try:
        found = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    value = found.pop("value")
    return value if not found and isinstance(value, (str, int, float, list, dict)) else text
