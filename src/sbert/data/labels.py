"""Turns a column of labels into numbers. Knows values and where they stand, for messages: no texts, no files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from sbert.errors import BadInput
from sbert.types import Array, FloatArray, LabelKind

LabelMap = Mapping[str, str | int]
Where = Callable[[int], str]

NLI = ("contradiction", "entailment", "neutral")


class Labels(NamedTuple):
    """The labels of N rows."""

    values: Array
    """(N,) int64 for "class" and "binary", (N,) float32 for "score", (N, k) float32 for "vector" and "scores"."""
    kind: LabelKind
    names: tuple[str, ...] = ()
    """The classes by their id."""


def labels(
    values: Sequence[Any],
    where: Where,
    kind: LabelKind,
    label_map: LabelMap | None = None,
    score_range: tuple[float, float] | None = None,
) -> Labels:
    """N raw labels as numbers.

    Args:
        values: as they were read: numbers, or text that holds one, or the names of classes.
        where: the place of each row, for messages.
        kind: what they are; see :func:`infer`.
        label_map: from what was read to a class's name or id.
        score_range: scores from here to there become scores from 0 to 1; None leaves them as they are.
    """
    if kind == "class":
        return _classes(values, where, label_map)
    if kind == "binary":
        return _binary(values, where, label_map)
    if kind == "score":
        return Labels(_scores(values, where, score_range), kind)
    return Labels(_lists(values, where), kind)


def infer(values: Sequence[Any], text_columns: int, where: Where) -> LabelKind:
    """What the labels are when nobody says: floats are scores; 0 and 1 beside two texts binary; all else classes."""
    if isinstance(values[0], (list, tuple)):
        raise BadInput(f"{where(0)}: the label is a list; say what it is with label_kind 'vector' or 'scores'")
    if {float} <= {type(value) for value in values} <= {float, int}:
        return "score"
    return "binary" if text_columns == 2 and {_key(value) for value in values} <= {"0", "1"} else "class"


def _key(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _classes(values: Sequence[Any], where: Where, label_map: LabelMap | None) -> Labels:
    keys = [_key(value) for value in values]
    first: dict[str, int] = {}
    for row, key in enumerate(keys):
        first.setdefault(key, row)
    ids, names = _mapped(label_map) if label_map is not None else _by_name(set(first))
    for key, row in first.items():
        if key not in ids:
            known = ", ".join(map(repr, ids))
            raise BadInput(f"{where(row)}: the label is {key!r}, but must be one of {known}; or give a label_map")
    return Labels(np.array([ids[key] for key in keys], np.int64), "class", names)


def _by_name(seen: set[str]) -> tuple[dict[str, int], tuple[str, ...]]:
    """Alphabetical, or by size where all are numbers; where labels of NLI are, those three and no others."""
    names = NLI if _are_of_nli(seen) else _ordered(seen)
    return {name: number for number, name in enumerate(names)}, names


def _are_of_nli(seen: set[str]) -> bool:
    """Two of the three names settle it; so does one that somebody mistyped."""
    others = seen - set(NLI)
    return not others or len(seen & set(NLI)) > 1 or any(get_close_matches(name, NLI, 1, 0.9) for name in others)


def _ordered(names: Iterable[str]) -> tuple[str, ...]:
    names = sorted(names)
    return tuple(sorted(names, key=int) if all(map(_is_integer, names)) else names)


def _is_integer(name: str) -> bool:
    return name.removeprefix("-").isdecimal()


def _mapped(label_map: LabelMap) -> tuple[dict[str, int], tuple[str, ...]]:
    targets = list(dict.fromkeys(label_map.values()))
    if targets and all(isinstance(target, str) for target in targets):
        names = _ordered(map(str, targets))
        return {key: names.index(str(target)) for key, target in label_map.items()}, names
    if not targets or sorted(map(repr, targets)) != sorted(map(repr, range(len(targets)))):
        raise BadInput(
            f"label_map has the values {targets}, but must have names, or the ids 0, 1, 2, ... without gaps"
        )
    ids = {key: int(target) for key, target in label_map.items()}
    by_id = {number: key for key, number in reversed(ids.items())}  # of several names of one id, the first
    return ids, tuple(by_id[number] for number in range(len(by_id)))


def _binary(values: Sequence[Any], where: Where, label_map: LabelMap | None) -> Labels:
    label_map = {"0": 0, "1": 1} if label_map is None else label_map
    if not set(label_map.values()) <= {0, 1}:
        raise BadInput(f"label_map has the values {list(label_map.values())}, but binary labels are 0 and 1")
    keys = [_key(value) for value in values]
    for row, key in enumerate(keys):
        if key not in label_map:
            known = ", ".join(map(repr, label_map))
            raise BadInput(f"{where(row)}: the label is {key!r}, but must be one of {known}; or give a label_map")
    return Labels(np.array([label_map[key] for key in keys], np.int64), "binary")


def _scores(values: Sequence[Any], where: Where, score_range: tuple[float, float] | None) -> FloatArray:
    scores = np.array([_number(value, where, row) for row, value in enumerate(values)], np.float64)
    if score_range is None:
        return scores.astype(np.float32)
    low, high = score_range
    if not low < high:
        raise BadInput(f"score_range is {score_range}, but must go from a lower to a higher number")
    for row in np.flatnonzero((scores < low) | (scores > high))[:1]:
        raise BadInput(f"{where(row)}: the score is {scores[row]:g}, but score_range goes from {low:g} to {high:g}")
    scaled: FloatArray = ((scores - low) / (high - low)).astype(np.float32)
    return scaled


def _number(value: object, where: Where, row: int) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]  # what is no number is refused here
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        raise BadInput(f"{where(row)}: the score is {value!r}, but must be a number")
    return number


def _lists(values: Sequence[Any], where: Where) -> FloatArray:
    """(N, k): every row as long as the first."""
    width = np.size(values[0])
    for row, value in enumerate(values):
        if not isinstance(value, (list, tuple)) or len(value) != width or not width:
            raise BadInput(
                f"{where(row)}: the label is no list of {width or 'at least one'} numbers, as every row needs"
            )
    return np.array([[_number(part, where, row) for part in value] for row, value in enumerate(values)], np.float32)
