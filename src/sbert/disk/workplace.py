"""A folder that keeps the finished parts of one piece of work, so that the work goes on after any stop."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sbert.disk.files import whole_file, write_json
from sbert.disk.lock import locked
from sbert.errors import CannotResume
from sbert.types import Array


class Workplace:
    """Arrays by name, each computed once.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Workplace(Path(folder, "parts"))
    ...     with place.opened({"rows": 2}):
    ...         _ = place.once("scores-0", lambda: np.array([1.0, 2.0]))
    ...         place.once("scores-0", lambda: np.array([])).tolist(), place.count("scores-*")
    ([1.0, 2.0], 1)
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def opened(self, facts: dict[str, Any]) -> Iterator[None]:
        """Hold the folder for this process.

        Args:
            facts: What identifies the work, as plain JSON values. Raises CannotResume where the folder holds the
                parts of other work.
        """
        record = self.folder / "work.json"
        with locked(self.folder):
            kept = _read(record)
            if kept is None:  # nobody can tell what the arrays belong to
                for path in self.folder.glob("*.npy"):
                    path.unlink()
                write_json(record, facts)
            elif changed := [name for name in facts if kept.get(name) != facts[name]]:
                raise CannotResume(
                    f"{self.folder} holds the work of another command, which differs in {', '.join(changed)}; remove "
                    "the folder, or name another output"
                )
            yield

    def once(self, name: str, compute: Callable[[], Array]) -> Array:
        """Return the array of this name; compute and keep it unless it is there already and whole."""
        path = self.folder / f"{name}.npy"
        array: Array
        try:
            array = np.load(path)
        except (OSError, ValueError, EOFError):  # missing, or damaged by the disk
            array = compute()
            with whole_file(path) as file:
                np.save(file, array)
        return array

    def count(self, pattern: str) -> int:
        """Return how many arrays have a name that matches a pattern such as ``scores-*``."""
        return len(list(self.folder.glob(f"{pattern}.npy")))

    def remove(self) -> None:
        """Remove the folder once its contents are no longer needed."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _read(record: Path) -> dict[str, Any] | None:
    try:
        kept = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return kept if isinstance(kept, dict) else None
