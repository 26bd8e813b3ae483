"""Short names for models, which tell them apart in tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path


def short(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return each model with the shortest ending of its path that tells it from the models before it.

    A short name does not depend on the models that follow, so that finished cells are found again when a model is
    added. A model that is named twice is returned once.

    >>> short(["hub/model", "runs/cross/model", "runs/poly/", "runs/poly"])
    [('hub/model', 'model'), ('runs/cross/model', 'cross/model'), ('runs/poly/', 'poly')]
    """
    found: dict[tuple[str, ...], tuple[str, str]] = {}
    for name in names:
        own = _parts(name)
        if own not in found:
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
