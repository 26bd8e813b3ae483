"""The cells of the tables, the jobs that fill them, and the file that keeps what is done. Knows no model, no data."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a table."""

    table: str
    """Such as "table1"."""
    row: str
    """As the paper calls it, or the model's name."""
    column: str
    """Such as "STS12"."""
    value: float
    """Times 100, or sentences per second."""
    low: float | None
    """The 95 % confidence interval, where there is one."""
    high: float | None
    items: int
    """How many pairs, texts or triplets it rests on."""
    note: str
    """What differs from the paper: data, backbone, budget."""
    paper: float | None
    """The paper's number for the same place, where there is one."""
    scatter: tuple[tuple[float, float], ...] = ()
    """Some (gold, predicted) points, where a plot makes sense."""
    beside: str = ""
    """The paper's row for it."""
    seconds: float = 0.0
    """What its job took, training included; of several cells of one job each has an equal part."""


@dataclass(frozen=True, slots=True)
class Job:
    """Cells that are measured together: done whole, or not at all."""

    key: str
    """Names everything that the result depends on."""
    label: str
    """For people."""
    run: Callable[[], list[Cell]]


class Cells:
    """The finished cells of a folder, in ``cells.jsonl``: one line a job, on the disk before the next job begins.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Cells(folder).add("가", [Cell("table1", "SBERT", "STSb", 77.0, None, None, 1379, "", 77.03)])
    ...     [cell.value for cell in Cells(folder).done("가")], Cells(folder).done("나")
    ([77.0], None)
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / "cells.jsonl"
        self._done: dict[str, list[Cell]] = {}
        for line in self._whole_lines():
            record = json.loads(line)
            self._done[record["key"]] = [_cell(cell) for cell in record["cells"]]

    def done(self, key: str) -> list[Cell] | None:
        """The cells of a finished job, or None."""
        return self._done.get(key)

    def add(self, key: str, cells: Sequence[Cell]) -> None:
        """Keep the cells of a job that is done."""
        line = json.dumps({"key": key, "cells": [asdict(cell) for cell in cells]}, ensure_ascii=False)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(f"{line}\n".encode())
            file.flush()
            os.fsync(file.fileno())
        self._done[key] = list(cells)

    def _whole_lines(self) -> list[bytes]:
        """All lines; what a killed process left of its last one is cut off, so that the next line starts anew."""
        if not self.path.is_file():
            return []
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            os.truncate(self.path, len(whole))
        return whole.splitlines()


def _cell(record: dict[str, Any]) -> Cell:
    scatter = tuple((gold, predicted) for gold, predicted in record.pop("scatter"))
    return Cell(**record, scatter=scatter)
