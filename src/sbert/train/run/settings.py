"""Creates dataclasses from TOML tables and checks every key and type. Reads annotations, not their meaning."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, fields
from enum import Enum
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from sbert.data.files import not_utf8
from sbert.errors import BadInput, BadOption, shown

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Settings = TypeVar("Settings")
Table = dict[str, Any]

_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false", type(None): "'none'"}
_LONGEST_HINT = 100
"""Number of characters up to which a message repeats a value as it should be written."""
_PLURALS = {str: "texts", int: "whole numbers", float: "numbers"}


def read(path: str | Path) -> Table:
    """Read the tables of a TOML file."""
    try:
        return tomllib.loads(Path(path).expanduser().read_text(encoding="utf-8"))
    except (FileNotFoundError, IsADirectoryError):
        raise BadInput(f"there is no file {str(path)!r}, but a run file is needed; check the name") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); check its permissions") from None
    except UnicodeDecodeError as error:
        raise not_utf8(error, str(path)) from None
    except RecursionError:
        raise BadInput(f"{path} is nested too deeply, but a run file has tables of plain values; correct it") from None
    except ValueError as error:  # also numbers with thousands of digits, which are not a TOMLDecodeError
        if Path(path).suffix.lower() in (".tsv", ".csv", ".jsonl", ".json", ".txt", ".parquet", ".gz"):
            raise BadInput(f"{path} is a data file, but a run file is needed; use --data {path}") from None
        raise BadInput(f"{path} is not a valid TOML file ({error}); correct it there") from None


def put(table: Mapping[str, Any], key: str, value: object) -> Table:
    """Copy ``table`` with another value under a dotted key.

    >>> put({"train": {"seed": 1}}, "train.epochs", 2)
    {'train': {'seed': 1, 'epochs': 2}}
    """
    first, _, rest = key.partition(".")
    inner = table.get(first, {})
    if rest and not isinstance(inner, Mapping):
        raise BadInput(f"{key} cannot be set, because {first} is {shown(inner)} and not a table; check the name")
    return {**table, first: put(inner, rest, value) if rest else value}


def override(table: Mapping[str, Any], assignment: str) -> Table:
    """Copy ``table`` with the assignment ``a.b=v``, where ``v`` is written as in TOML; bare words are strings.

    >>> override({"model": {"name": "bert"}}, "train.freeze=['transformer.words.*']")
    {'model': {'name': 'bert'}, 'train': {'freeze': ['transformer.words.*']}}
    >>> override({}, "model.name=한국어/모형")
    {'model': {'name': '한국어/모형'}}
    """
    key, equals, value = assignment.partition("=")
    key = key.strip()
    if not equals or not all(key.split(".")):
        raise BadInput(f"got {shown(assignment)}, but a setting is written as table.key=value, such as train.epochs=2")
    return put(table, key, _value(value.strip()))


def build(cls: type[Settings], table: Mapping[str, Any], where: str) -> Settings:
    """Create an instance of the dataclass ``cls`` from ``table``, which error messages call ``where``."""
    kinds = get_type_hints(cls)
    known = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]  # cls is a dataclass
    for key in table:
        if key not in known:
            raise BadOption(f"a key of {where}", key, known)
    for name, field in known.items():
        if name not in table and field.default is MISSING and field.default_factory is MISSING:
            raise BadInput(f"{where}.{name} is missing; set {where}.{name}")
    values = {}
    for key, value in table.items():
        try:
            values[key] = _fit(kinds[key], value)
        except TypeError:
            must = f"{where}.{key} is {shown(value)}, but must be {_words(kinds[key])}"
            raise BadInput(must + _how_to_list(kinds[key], value, f"{where}.{key}")) from None
    return cls(**values)


def _fit(kind: Any, value: object) -> Any:
    """Convert ``value`` to the annotation ``kind``; raise TypeError if it does not fit."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _fit_any(parts, value)
    if origin is tuple and isinstance(value, (list, tuple)):
        kinds = parts[:1] * len(value) if parts[-1] is Ellipsis else parts
        if len(kinds) == len(value):
            return tuple(map(_fit, kinds, value))
    if origin is dict and isinstance(value, Mapping):
        return {str(key): _fit(parts[1], part) for key, part in value.items()}
    if kind is float and type(value) is int:
        return float(value)
    if kind is Any or type(value) is (str if origin is Literal else kind):  # not isinstance, because True is an int
        return value
    raise TypeError


def _fit_any(kinds: tuple[Any, ...], value: object) -> Any:
    """Accept "none" where None is allowed, because TOML has no null."""
    if type(None) in kinds and value in (None, "none"):
        return None
    for kind in kinds:
        with suppress(TypeError):
            return _fit(kind, value)
    raise TypeError


def _words(kind: Any) -> str:
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        kinds = [part for part in parts if not (isinstance(part, type) and issubclass(part, Enum))]  # defaults only
        return " or ".join(dict.fromkeys(map(_words, kinds)))
    if origin is Literal:
        return f"one of {', '.join(map(repr, parts))}"
    if origin is tuple and parts[-1] is Ellipsis:
        return f"a list of {_PLURALS[parts[0]]}" if parts[0] in _PLURALS else f"a list, each {_words(parts[0])}"
    if origin is tuple:
        return f"a list of {len(parts)} {_PLURALS[parts[0]]}"
    return _WORDS.get(kind, "a table")


def _how_to_list(kind: Any, value: object, key: str) -> str:
    """Say how to write a text with commas as the list that the annotation ``kind`` needs; empty if it needs none."""
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_HINT:
        return ""
    parts = [part.strip(" '\"") for part in value.strip("[] ").split(",")]
    for written in (f"[{', '.join(parts)}]", json.dumps(parts, ensure_ascii=False)):
        with suppress(TypeError):
            _fit(kind, _value(written))
            return f"; write it as in --set '{key}={written}'"
    return ""


def _value(text: str) -> object:
    try:
        found = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    value = found.pop("value")
    return value if not found and isinstance(value, (str, int, float, list, dict)) else text
