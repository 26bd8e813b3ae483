"""What a run says of itself: its place, its end, its events. Plain records only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from sbert.data import Cursor
from sbert.types import Evaluator as Evaluator


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
