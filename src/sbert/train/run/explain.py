"""Describes a run before it starts: what the loss sees, and how long the run takes. Changes nothing."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import nn

from sbert.data import Columns, Cursor
from sbert.disk.machine import peak_memory
from sbert.errors import counted
from sbert.losses import Loss, objective_of
from sbert.train.trainer import Trainer
from sbert.train.update import Update

SAMPLE = 2000
"""Maximum number of rows that are tokenized."""
MEASURED_STEPS = 20
_MAX_TRUNCATED = 0.05
"""Fraction of truncated texts above which there is a warning."""


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """Lengths of texts or pairs in a sample, in tokens with the special ones."""

    mean: float
    longest: int
    """Before truncation."""
    truncated: float
    """Fraction of texts that are truncated."""


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """A column of texts."""

    name: str
    role: str
    """The role of the column in the loss."""
    first: str
    """Text of the first row."""
    tokens: TokenFacts | None
    """Lengths of the texts. For a cross-encoder: of the pairs with the first column, which has none itself."""
    repeated: int
    """Number of rows whose text occurs in an earlier row of the column."""


@dataclass(frozen=True, slots=True)
class DataFacts:
    """A data set as its loss sees it."""

    name: str
    rows: int
    skipped: int
    """Number of rows that were skipped because they have no gold label."""
    sample: int
    """Number of rows whose tokens were counted, evenly spaced."""
    loss: str
    columns: tuple[ColumnFacts, ...]
    unit: str
    """What the model reads: "texts", or "pairs" of the first column with each other column."""
    label_kind: str
    first_label: str
    """Label of the first row; empty without labels."""
    balance: dict[str, int]
    """Number of rows of each class by name, or of 0 and 1."""
    scores: tuple[float, float, float] | None
    """Minimum, mean and maximum, if the labels are scores."""
    duplicates: int
    """Number of rows that equal an earlier one, label included."""
    negatives: int | None
    """Number of negatives of each anchor, if the loss uses in-batch negatives."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The description of a run before it starts."""

    data: tuple[DataFacts, ...]
    max_seq_length: int
    parameters: int
    """Number of trained parameters, including those of the loss."""
    epochs: int
    batch_size: int
    steps: int
    warmup_steps: int
    evaluator: str | None
    """The metric that decides which model is best."""
    measured_steps: int
    seconds: float
    """Estimated time of all steps, without evaluations and checkpoints."""
    peak_memory: int | None
    """Peak memory of this process in bytes; None if the system does not report it."""
    notes: tuple[str, ...]
    """Warnings about settings that do not suit the data."""


def explain(trainer: Trainer) -> Explanation:
    """Examine the data, and measure a few steps, which are undone afterwards."""
    data = tuple(_data(trainer, columns, loss) for columns, loss in zip(trainer.datasets, trainer.losses, strict=True))
    update = Update(trainer.model, trainer.objective, trainer.config, trainer.total_steps, trainer.team)
    weights = [*trainer.model.parameters(), *trainer.objective.parameters()]
    measured, seconds = _measure(trainer, update)
    device = trainer.model.device
    return Explanation(
        data=data,
        max_seq_length=trainer.model.max_seq_length,
        parameters=sum(weight.numel() for weight in weights if weight.requires_grad),
        epochs=trainer.config.epochs,
        batch_size=trainer.config.batch_size,
        steps=trainer.total_steps,
        warmup_steps=update.warmup,
        evaluator=trainer.metric,
        measured_steps=measured,
        seconds=seconds,
        peak_memory=torch.cuda.max_memory_allocated(device) if device.type == "cuda" else peak_memory(),
        notes=tuple(_notes(trainer, data)),
    )


def _measure(trainer: Trainer, update: Update) -> tuple[int, float]:
    """The number of measured steps, and the estimated seconds of all steps. The weights are restored."""
    modules, training = nn.ModuleList([trainer.model, trainer.objective]), trainer.model.training
    before = {name: tensor.clone() for name, tensor in modules.state_dict().items()}
    times = []
    trainer.model.train()
    try:
        # One step more than is measured, because the first one also allocates memory.
        steps = min(MEASURED_STEPS + 1, trainer.total_steps)
        for number, step in enumerate(islice(trainer.plan.steps(Cursor()), steps)):
            start = time.perf_counter()
            update(number, step.batches)
            times.append(time.perf_counter() - start)
    finally:
        modules.load_state_dict(before)
        trainer.model.train(training)
    times = times[1:] or times
    return len(times), trainer.total_steps * math.fsum(times) / len(times)


def _data(trainer: Trainer, columns: Columns, loss: Loss) -> DataFacts:
    objective = objective_of(loss)
    sample = columns.take(np.linspace(0, len(columns) - 1, min(SAMPLE, len(columns))).astype(np.int64))
    roles = [objective.role(place) if objective else name for place, name in enumerate(columns.texts)]
    inputs = trainer.model.items(list(sample.texts.values()))
    truncations = [trainer.model.tokenize(items).truncation for items in inputs]
    lengths = [TokenFacts(each.tokens / each.texts, each.longest, each.truncated / each.texts) for each in truncations]
    tokens = [None] * (len(roles) - len(lengths)) + lengths
    labels = [] if columns.labels is None else columns.labels.tolist()
    rows = zip(*columns.texts.values(), *([map(str, labels)] if labels else []), strict=True)
    counts = Counter(labels if columns.label_kind in ("class", "binary") else ())
    negatives = None
    if objective is not None and objective.in_batch_negatives:  # the other positives, and the hard ones of all rows
        negatives = min(trainer.config.batch_size, len(columns)) * (len(columns.texts) - 1) - 1
    return DataFacts(
        name=columns.name,
        rows=len(columns),
        skipped=columns.skipped,
        sample=len(sample),
        loss=objective.name if objective else getattr(loss, "__name__", type(loss).__name__),
        columns=tuple(
            ColumnFacts(name, role, texts[0], facts, len(texts) - len(set(texts)))
            for (name, texts), role, facts in zip(columns.texts.items(), roles, tokens, strict=True)
        ),
        unit=truncations[0].unit,
        label_kind=columns.label_kind,
        first_label=_label(columns, labels[0]) if labels else "",
        balance={_label(columns, label): counts[label] for label in sorted(counts)},
        scores=(min(labels), math.fsum(labels) / len(labels), max(labels)) if columns.label_kind == "score" else None,
        duplicates=len(columns) - len(set(rows)),
        negatives=negatives,
    )


def _label(columns: Columns, label: Any) -> str:
    if isinstance(label, list):
        return counted(len(label), "number")
    return columns.label_names[int(label)] if columns.label_kind == "class" else f"{label:g}"


def _notes(trainer: Trainer, data: Iterable[DataFacts]) -> Iterable[str]:
    sampler = trainer.config.sampler
    for facts, loss in zip(data, trainer.losses, strict=True):
        repeated = sum(column.repeated for column in facts.columns)
        if facts.negatives is not None and repeated and sampler != "no-duplicates":
            yield (
                f"{facts.name}: {counted(repeated, 'repeated text')}, and equal texts in one batch are used as "
                'negatives of each other; set train.sampler="no-duplicates"'
            )
        objective = objective_of(loss)
        if objective is not None and objective.sampler not in (None, sampler):
            needed = f'set train.sampler="{objective.sampler}"'
            yield f"{facts.name}: {facts.loss} needs several rows of a label in a batch; {needed}"
        truncated = max(column.tokens.truncated for column in facts.columns if column.tokens)
        if truncated > _MAX_TRUNCATED:
            length = trainer.model.max_seq_length
            yield f"{facts.name}: {truncated:.0%} of the {facts.unit} of a column are truncated to {length} tokens"
