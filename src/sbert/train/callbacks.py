"""Events of a training run, and the callback that writes them for TensorBoard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from sbert.errors import BadInput

EventKind = Literal["step", "evaluation", "checkpoint"]
_GROUPS = {"step": "train", "evaluation": "dev"}


@dataclass(frozen=True, slots=True)
class Event:
    """A completed step, evaluation or checkpoint."""

    kind: EventKind
    step: int
    values: Mapping[str, float] = field(default_factory=dict)
    """Metrics by name."""


Callback = Callable[[Event], None]


def tensorboard(folder: str | Path) -> Callback:
    """Create a callback that writes the metrics of every step and evaluation for ``tensorboard --logdir``."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise BadInput(
            "TensorBoard output was requested, but TensorBoard is not installed; run: pip install tensorboard"
        ) from None
    writers: list[SummaryWriter] = []

    def write(event: Event) -> None:
        if not writers:  # the folder must not exist before the run starts; later steps of a killed run are discarded
            writers.append(SummaryWriter(str(folder), purge_step=event.step))
        for name, value in event.values.items():
            writers[0].add_scalar(f"{_GROUPS[event.kind]}/{name}", value, event.step)
        if event.kind != "step":
            writers[0].flush()

    return write
