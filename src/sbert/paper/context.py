"""What the tables share in one run: the materials, what is missing, and the one model that is in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from sbert.disk.digest import digest, files_digest
from sbert.disk.machine import versions
from sbert.errors import SbertError
from sbert.evaluate.suites.task import Model, Task
from sbert.paper.budgets import Settings
from sbert.paper.materials import Materials
from sbert.paper.rows import Contestant, Makers, Row, named

T = TypeVar("T")


class Context:
    """The state of one run of the tables."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.materials = settings, Materials(settings)
        self._named = named(settings.models, self.materials.device)
        self._missing: dict[str, dict[str, None]] = {}
        self._held: tuple[Row, Model] | None = None

    @property
    def missing(self) -> list[str]:
        """One line for each reason why something is missing, with the rows and columns it concerns."""
        return [f"{', '.join(places)}: {reason}" for reason, places in self._missing.items()]

    def lacks(self, place: str, reason: object) -> None:
        """Note that a row, a column or a table cannot be measured."""
        self._missing.setdefault(str(reason), {})[place] = None

    def contestants(self, makers: Makers) -> list[Contestant]:
        """Make the contestants whose data and packages exist, followed by the models given by name."""
        return self.made(makers | self._named)

    def made(self, makers: Mapping[str, Callable[[], T]]) -> list[T]:
        """Call each function; note as missing those that raise because of missing data, packages or models."""
        found = []
        for name, make in makers.items():
            try:
                found.append(make())
            except SbertError as error:
                self.lacks(name, error)
        return found

    def fits(self, row: Row, task: Task[Any], column: str) -> bool:
        """Whether the task can measure the row's model; where it cannot, the cell is noted as missing."""
        if reason := task.refusal(row.capability):
            self.lacks(f"{row.name} on {column}", reason)
        return not reason

    def model(self, contestant: Contestant) -> Model:
        """Load a contestant's model and keep it until another one is needed."""
        if self._held is None or self._held[0] != contestant.row:
            self._held = None  # so that two large models are never in memory at once
            self._held = contestant.row, contestant.load()
        return self._held[1]

    def key(self, table: str, row: Row, column: str, paths: Sequence[Path]) -> str:
        """Return a key that identifies everything a cell depends on."""
        limits = self.materials.limits
        made_of = (row.note, row.made_of, asdict(limits), files_digest(paths), versions())
        return f"{table}/{row.name}/{column}/{self.settings.budget}/{digest(made_of)[:10]}"
