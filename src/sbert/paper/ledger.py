"""The cells of the tables, the jobs that fill them, and the file that keeps the finished ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sbert.disk.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a table."""

    table: str
    """Such as "table1"."""
    row: str
    """The paper's name for the row, or the model's name."""
    column: str
    """Such as "STS12"."""
    value: float
    """A score times 100, or sentences per second."""
    low: float | None
    """Lower bound of the 95 % confidence interval, if there is one."""
    high: float | None
    """Upper bound of the 95 % confidence interval, if there is one."""
    items: int
    """Number of pairs, texts or triplets that the value is computed from."""
    note: str
    """What differs from the paper: data, backbone, budget."""
    paper: float | None
    """The paper's number for the same cell, if there is one."""
    scatter: tuple[tuple[float, float], ...] = ()
    """Some (gold, predicted) points, where a plot makes sense."""
    beside: str = ""
    """The paper's row that the cell is compared with."""
    seconds: float = 0.0
    """Duration of the cell's job, training included; the cells of one job share it equally."""

    comparable: bool = True
    """Whether a difference to the paper's number has a meaning."""

    @property
    def difference(self) -> float | None:
        """Our number minus the paper's, if there is one and the two are comparable."""
        return self.value - self.paper if self.paper is not None and self.comparable else None


@dataclass(frozen=True, slots=True)
class Job:
    """Cells that are measured together."""

    key: str
    """Identifies everything that the result depends on."""
    label: str
    """Name of the job for people."""
    run: Callable[[], list[Cell]]


class CellLedger:
    """The finished cells of a folder, in ``cells.jsonl``, one line for each job.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     CellLedger(folder).add("가", [Cell("table1", "SBERT", "STSb", 77.0, None, None, 1379, "", 77.03)])
    ...     [cell.value for cell in CellLedger(folder).done("가")], CellLedger(folder).done("나")
    ([77.0], None)
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / "cells.jsonl"
        self._ledger = Ledger(self.path)
        self._done: dict[str, list[Cell]] = {}
        for record in self._ledger.read():
            if {"key", "cells"} <= record.keys():
                cells = [{**cell, "scatter": tuple(map(tuple, cell["scatter"]))} for cell in record["cells"]]
                self._done[record["key"]] = [Cell(**cell) for cell in cells]

    def done(self, key: str) -> list[Cell] | None:
        """Return the cells of a finished job, or None."""
        return self._done.get(key)

    def add(self, key: str, cells: Sequence[Cell]) -> None:
        """Keep the cells of a job; they are on the disk when this returns."""
        self._ledger.append({"key": key, "cells": [asdict(cell) for cell in cells]})
        self._done[key] = list(cells)
