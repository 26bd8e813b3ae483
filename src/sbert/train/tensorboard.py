"""A run's figures for TensorBoard. Knows events only."""

from __future__ import annotations

from pathlib import Path

from sbert.errors import BadInput
from sbert.train.records import Callback, Event

_GROUPS = {"step": "train", "evaluation": "dev"}


def tensorboard(folder: str | Path) -> Callback:
    """A callback that writes every figure of every step and evaluation where ``tensorboard --logdir`` finds it."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise BadInput(
            "figures for TensorBoard were asked for, but it is not installed; run: pip install tensorboard"
        ) from None
    writers: list[SummaryWriter] = []

    def write(event: Event) -> None:
        if not writers:  # no folder before the run starts; and what a killed run wrote from here on is void
            writers.append(SummaryWriter(str(folder), purge_step=event.step))
        for name, value in event.values.items():
            writers[0].add_scalar(f"{_GROUPS[event.kind]}/{name}", value, event.step)
        if event.kind != "step":
            writers[0].flush()

    return write
