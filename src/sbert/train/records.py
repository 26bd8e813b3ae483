"""What a run says of itself and asks of others: its place, its end, its events, its evaluator. Plain records only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from sbert.data import Cursor


class Evaluator(Protocol):
    """Says how good a model is. Higher is better."""

    @property
    def primary(self) -> str:
        """Which of the figures decides which model is best."""
        ...

    def __call__(self, model: Any, /) -> Mapping[str, float]:
        """All figures by name."""
        ...


@dataclass(frozen=True, slots=True)
class Event:
    """Something a callback may want to know."""

    kind: Literal["step", "evaluation", "checkpoint"]
    step: int
    values: Mapping[str, float] = field(default_factory=dict)


Callback = Callable[[Event], None]


@dataclass(slots=True)
class Position:
    """How far a run is: what a checkpoint holds beside tensors."""

    step: int = 0
    cursor: Cursor = field(default_factory=Cursor)
    best_score: float | None = None
    best_step: int = 0
    worse_since: int = 0
    """Evaluations since the best one."""


@dataclass(frozen=True, slots=True)
class Result:
    """How a run ended."""

    steps: int
    best_score: float | None
    best_step: int
    seconds: float
    model: Path
    """The folder of the trained model."""
