"""Turns a column of labels into numbers. Works on values and their positions, which messages name, but no texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from math import isfinite
from typing import Any

import numpy as np

from sbert.errors import BadInput, listed, shown
from sbert.types import Array, FloatArray, LabelKind

LabelMap = Mapping[str, str | int] | Mapping[int, str | int]
Where = Callable[[int], str]
_ByKey = Mapping[str, str | int]

NLI = ("contradiction", "entailment", "neutral")
_LARGEST = float(np.finfo(np.float32).max)


def labels(
    values: Sequence[Any],
    where: Where,
    kind: LabelKind,
    label_map: LabelMap | None = None,
    score_range: tuple[float, float] | None = None,
) -> tuple[Array, tuple[str, ...]]:
    """Turn N labels into numbers, and return them with the name of each class, by its id.

    The numbers are (N,) int64 for "class" and "binary", (N,) float32 for "score", and (N, k) float32 for "vector" and
    "scores". Only "class" has names.

    Args:
        values: The labels as they were read: numbers, texts that hold a number, or names of classes.
        where: Returns the position of a row, for messages.
        kind: What the labels are; see :func:`infer`.
        label_map: From labels to names or ids of classes.
        score_range: The lowest and the highest score, which become 0 and 1. By default, scores are left as they are.
    """
    if kind == "score":
        return _scores(values, where, score_range), ()
    if kind not in ("class", "binary"):
        return _lists(values, where), ()
    by_key = None if label_map is None else {_key(label): target for label, target in label_map.items()}
    keys = [_key(value) for value in values]
    ids, names = _binary(by_key) if kind == "binary" else _classes(set(keys), by_key)
    for row, key in enumerate(keys):
        if key not in ids:
            raise BadInput(
                f"{where(row)}: the label is {shown(key)}, but must be one of {listed(ids)}; or give a label_map"
            )
    return np.array([ids[key] for key in keys], np.int64), names


def infer(
    values: Sequence[Any],
    text_columns: int,
    where: Where,
    label_map: LabelMap | None = None,
    *,
    untyped: bool = False,
) -> LabelKind:
    """Return what labels are if nobody says: floats are scores, 0 and 1 beside two texts are binary, others classes.

    Values from an ``untyped`` format, where numbers are texts, are scores if all are numbers and one has a decimal
    point. With a ``label_map``, labels are classes, except for 0 and 1 beside two texts that it maps to 0 and 1.
    """
    if label_map is None and isinstance(values[0], (list, tuple)):
        raise BadInput(f"{where(0)}: the label is a list; say what it is with label_kind 'vector' or 'scores'")
    if label_map is None and {float} <= {type(value) for value in values} <= {float, int}:
        return "score"
    if label_map is None and untyped and any("." in value for value in values) and are_numbers(values):
        return "score"
    stays = label_map is None or _are_ids(label_map.values(), 2)
    return "binary" if stays and text_columns == 2 and {_key(value) for value in values} <= {"0", "1"} else "class"


def are_numbers(texts: Iterable[str]) -> bool:
    """Return whether every text is a finite number.

    >>> are_numbers(["4.5", "-1", "1e-3"]), are_numbers(["4.5", "nan"]), are_numbers(["1_0"])
    (True, False, False)
    """
    try:
        return all(isfinite(float(text)) and "_" not in text for text in set(texts))
    except ValueError:
        return False


def _key(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _are_ids(targets: Iterable[object], count: int) -> bool:
    return all(type(target) is int and 0 <= target < count for target in targets)


def _binary(label_map: _ByKey | None) -> tuple[_ByKey, tuple[str, ...]]:
    label_map = {"0": 0, "1": 1} if label_map is None else label_map
    if not set(label_map.values()) <= {0, 1}:
        raise BadInput(f"label_map has the values {shown(list(label_map.values()))}, but binary labels are 0 and 1")
    return label_map, ()


def _classes(seen: set[str], label_map: _ByKey | None) -> tuple[_ByKey, tuple[str, ...]]:
    """Number classes by ``label_map``, else by name, or by size if all are numbers. Those of NLI are always three."""
    if label_map is not None:
        return _mapped(label_map)
    names = NLI if _are_of_nli(seen) else _ordered(seen)
    return {name: number for number, name in enumerate(names)}, names


def _are_of_nli(seen: set[str]) -> bool:
    """Return whether at least two names of NLI are there, or no others, or one that is misspelt."""
    others = seen - set(NLI)
    return not others or len(seen & set(NLI)) > 1 or any(get_close_matches(name[:50], NLI, 1, 0.9) for name in others)


def _ordered(names: Iterable[str]) -> tuple[str, ...]:
    names = sorted(names)
    # Python refuses to read numbers that are much longer.
    numbers = all(name.removeprefix("-").isdecimal() and len(name) < 1000 for name in names)
    return tuple(sorted(names, key=int) if numbers else names)


def _mapped(label_map: _ByKey) -> tuple[_ByKey, tuple[str, ...]]:
    targets = list(dict.fromkeys(label_map.values()))
    if targets and all(isinstance(target, str) for target in targets):
        names = _ordered(map(str, targets))
        return {key: names.index(str(target)) for key, target in label_map.items()}, names
    if not targets or not _are_ids(targets, len(targets)):
        raise BadInput(
            f"label_map has the values {shown(targets)}, but must have names, or the ids 0, 1, 2, ... without gaps"
        )
    ids = {key: int(target) for key, target in label_map.items()}
    by_id = {number: key for key, number in reversed(ids.items())}  # the first of several names of one id
    return ids, tuple(by_id[number] for number in range(len(by_id)))


def _scores(values: Sequence[Any], where: Where, score_range: tuple[float, float] | None) -> FloatArray:
    scores = np.array([_number(value, where, row) for row, value in enumerate(values)], np.float64)
    if score_range is None:
        return scores.astype(np.float32)
    low, high = score_range
    if not low < high:
        raise BadInput(f"score_range is {score_range}, but must go from a lower to a higher number")
    for row in np.flatnonzero((scores < low) | (scores > high))[:1]:
        raise BadInput(
            f"{where(row)}: the score is {scores[row]:g}, but score_range goes from {low:g} to {high:g}; set another"
        )
    scaled: FloatArray = ((scores - low) / (high - low)).astype(np.float32)
    return scaled


def _number(value: object, where: Where, row: int) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]  # the errors of other types are caught here
    except (TypeError, ValueError, OverflowError):
        number = np.nan
    if not abs(number) <= _LARGEST:
        raise BadInput(f"{where(row)}: the score is {shown(value)}, but must be a number")
    return number


def _lists(values: Sequence[Any], where: Where) -> FloatArray:
    """Return (N, k) numbers; every row must be as long as the first."""
    width = len(values[0]) if isinstance(values[0], (list, tuple)) else 1
    for row, value in enumerate(values):
        if not isinstance(value, (list, tuple)) or len(value) != width or not width:
            raise BadInput(
                f"{where(row)}: the label is no list of {width or 'at least one'} numbers, as every row needs"
            )
    return np.array([[_number(part, where, row) for part in value] for row, value in enumerate(values)], np.float32)
