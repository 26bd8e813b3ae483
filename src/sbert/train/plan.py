"""Divides the data of a run into steps. Works on rows and losses, not on models or files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sbert.data import Columns, Cursor, Sampler
from sbert.errors import BadInput, shown
from sbert.losses import Loss
from sbert.train.config import TrainConfig


@dataclass(frozen=True, slots=True, eq=False)
class PlannedStep:
    """The batches of one step."""

    batches: list[tuple[Loss, Columns]]
    """The rows of each batch, and the loss to compute on them."""
    end: Cursor
    """Position in the data after the step."""

    def __len__(self) -> int:
        return sum(len(columns) for _, columns in self.batches)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as dictionaries, to be looked at by a person."""
        for _, columns in self.batches:
            labels = [None] * len(columns) if columns.labels is None else columns.labels.tolist()
            for *texts, label in zip(*columns.texts.values(), labels, strict=True):
                yield {**dict(zip(columns.texts, texts, strict=True)), "label": label}


class Plan:
    """The batches of every step of a run.

    The batches follow from the data, the settings and the position alone, so that a resumed run sees the same ones.

    Args:
        train: The rows to train on, or several data sets.
        loss: The loss of all data sets, or one for each.
        config: The settings of the run.
    """

    def __init__(self, train: Columns | Sequence[Columns], loss: Loss | Sequence[Loss], config: TrainConfig) -> None:
        self.datasets = _datasets(train)
        self.losses = _losses(loss, len(self.datasets))
        self._config = config
        self._sampler = Sampler(self.datasets, config.batch_size, config.seed, config.sampler, config.mix)
        batches = sum(self._sampler.steps(epoch) for epoch in range(config.epochs))
        steps = math.ceil(batches / config.gradient_accumulation_steps)
        self.total_steps = min(steps, config.max_steps or steps)

    def steps(self, start: Cursor) -> Iterator[PlannedStep]:
        """Yield the steps from ``start`` on. Does not stop at ``total_steps``."""
        batches: list[tuple[Loss, Columns]] = []
        for after, dataset, rows in self._sampler.from_(start):
            batches.append((self.losses[dataset], self.datasets[dataset].take(rows)))
            if len(batches) == self._config.gradient_accumulation_steps or after.epoch >= self._config.epochs:
                yield PlannedStep(batches, after)
                batches = []


def _datasets(train: Columns | Sequence[Columns]) -> tuple[Columns, ...]:
    datasets = (train,) if isinstance(train, Columns) else train
    if not isinstance(datasets, (list, tuple)) or not all(isinstance(data, Columns) for data in datasets):
        raise BadInput(f"train is {shown(train)}, but must be Columns or a list of them; use Columns.of or data.read")
    return tuple(datasets)


def _losses(loss: Loss | Sequence[Loss], count: int) -> tuple[Loss, ...]:
    """One loss per data set."""
    losses: tuple[Any, ...] = tuple(loss) if isinstance(loss, (list, tuple)) else (loss,) * count
    if wrong := [each for each in losses if not callable(each) or isinstance(each, type)]:
        raise BadInput(
            f"loss is {shown(wrong[0])}, but must be a function of embeddings and labels, such as losses.info_nce; "
            "losses.make finds a loss by its name"
        )
    if len(losses) != count or not losses:
        raise BadInput(f"got {count} data sets and {len(losses)} losses, but each needs one")
    return losses
