"""What a run writes down about itself: run.json, metrics.jsonl, and who is at work. Knows files, no tensors."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from sbert.errors import BadInput, RunInUse

Record = dict[str, Any]


def check_place(folder: Path) -> None:
    """Refuse, before any work, a folder where a file is in the way."""
    nearest = next((place for place in (folder, *folder.parents) if os.path.exists(place)), folder)
    if nearest.is_file():
        raise BadInput(f"{nearest} is a file, but a folder is needed there; remove it, or name another output")


@contextmanager
def occupied(folder: Path) -> Iterator[None]:
    """Hold ``folder`` for this process; the system lets go when the process ends, however it ends."""
    check_place(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{folder} cannot be made a run's folder ({error.strerror}); name another place") from None
    owner = folder / "run.pid"
    try:
        with FileLock(folder / "run.lock", timeout=0):
            owner.write_text(f"{os.getpid()}\n")
            try:
                yield
            finally:
                owner.unlink(missing_ok=True)
    except Timeout:
        pid = owner.read_text().strip() if owner.is_file() else "unknown"
        raise RunInUse(
            f"{folder} is in use by process {pid}, which trains there; wait for it, stop it, or name another folder"
        ) from None


class Metrics:
    """metrics.jsonl: one line for every so many steps and for every evaluation."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, **values: float | int) -> None:
        """Append a line and hand it to the system at once."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")

    def read(self) -> list[Record]:
        """All whole lines; a process killed while writing may leave half of one at the end."""
        if not self.path.is_file():
            return []
        lines = self.path.read_text(encoding="utf-8").split("\n")
        return [json.loads(line) for line in lines[:-1]]

    def keep_until(self, step: int) -> None:
        """Forget what lies behind the checkpoint that a run goes on from."""
        kept = [record for record in self.read() if record["step"] <= step]
        draft = self.path.with_suffix(".draft")
        draft.write_text("".join(json.dumps(record) + "\n" for record in kept), encoding="utf-8")
        draft.replace(self.path)


def write_run(path: Path, settings: Mapping[str, Any]) -> None:
    """run.json: all that is needed to do the same again."""
    record = {**settings, "versions": versions(), "machine": {"system": platform.platform(), "cores": os.cpu_count()}}
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    draft.replace(path)


def versions() -> dict[str, str]:
    """Of whatever may change the numbers."""
    found = {"python": platform.python_version()}
    for package in ("sbert", "torch", "transformers", "tokenizers", "numpy"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found
