"""What rows and data are called in tables and notes. Knows strings and paths."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from pathlib import Path


def counted(rows: Sized, name: str) -> str:
    """How many, for a note."""
    return f"{len(rows):,} {name}{'' if len(rows) == 1 else 's'}"


def short(names: Sequence[str]) -> list[tuple[str, str]]:
    """Models by the last part of their names, and by as many parts more as tell one from another.

    >>> short(["hub/model", "runs/cross/model", "runs/poly/", "runs/poly"])
    [('hub/model', 'hub/model'), ('runs/cross/model', 'cross/model'), ('runs/poly/', 'poly')]
    """
    parts = {_parts(name): name for name in reversed(names)}  # of two spellings the first

    def ending(own: tuple[str, ...]) -> str:
        counts = range(1, len(own))
        enough = (n for n in counts if all(own[-n:] != other[-n:] for other in parts if other != own))
        return "/".join(own[-next(enough, len(own)) :])

    return [(name, ending(own)) for own, name in reversed(parts.items())]


def _parts(name: str) -> tuple[str, ...]:
    path = Path(name).expanduser()
    return path.resolve().parts[1:] if path.is_dir() else path.parts
