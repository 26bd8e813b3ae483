"""What rows and data are called in tables and notes. Knows strings and paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path


def short(names: Sequence[str]) -> list[tuple[str, str]]:
    """Models by the last part of their names, and by as many parts more as tell one from those before it.

    No model's name depends on those after it: where one is added, the finished cells of the others are still found.

    >>> short(["hub/model", "runs/cross/model", "runs/poly/", "runs/poly"])
    [('hub/model', 'model'), ('runs/cross/model', 'cross/model'), ('runs/poly/', 'poly')]
    """
    found: dict[tuple[str, ...], tuple[str, str]] = {}
    for name in names:
        own = _parts(name)
        if own not in found:  # of two spellings the first
            found[own] = name, _ending(own, found)
    return list(found.values())


def _ending(own: tuple[str, ...], before: Mapping[tuple[str, ...], tuple[str, str]]) -> str:
    enough = (n for n in range(1, len(own)) if all(own[-n:] != other[-n:] for other in before))
    shown = "/".join(own[-next(enough, len(own)) :])
    taken = any(shown == other for _, other in before.values())
    return f"{shown} (2)" if taken else shown


def _parts(name: str) -> tuple[str, ...]:
    path = Path(name).expanduser()
    return path.resolve().parts[1:] if path.is_dir() else path.parts
