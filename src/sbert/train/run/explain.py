"""What a run is going to do, before it does it: what the loss sees, and how long it takes. Changes nothing."""

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
from sbert.losses import OBJECTIVES, Loss, Objective, objective_of
from sbert.text import Truncation
from sbert.train.trainer import Trainer
from sbert.train.update import Update

SAMPLE = 2000
"""Rows that are tokenised for the figures."""
MEASURED_STEPS = 20


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """How long texts or pairs are, counted in a sample; special tokens count."""

    mean: float
    longest: int
    """Of all, uncut."""
    truncated: float
    """The share that is cut."""


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """One column of texts. Repetitions are counted in all rows."""

    name: str
    role: str
    """What the loss takes it for."""
    first: str
    """The text of the first row."""
    tokens: TokenFacts | None
    """Of the column's texts; of a cross-encoder those of the pairs with the first column, which has none itself."""
    repeated: int
    """Rows whose text stood in the column before."""


@dataclass(frozen=True, slots=True)
class DataFacts:
    """One data set as its loss sees it."""

    name: str
    rows: int
    skipped: int
    """Rows left out because they have no gold label."""
    sample: int
    """Rows whose tokens were counted, evenly spread."""
    loss: str
    columns: tuple[ColumnFacts, ...]
    unit: str
    """What goes through the network: "texts", or "pairs" of the first column's with each other one's."""
    label_kind: str
    first_label: str
    """Of the first row; empty without labels."""
    balance: dict[str, int]
    """Rows of each class, by its name in the order of ids, or of 0 and 1."""
    scores: tuple[float, float, float] | None
    """The least, the mean and the highest, where labels are scores."""
    duplicates: int
    """Rows that equal an earlier one in everything."""
    negatives: int | None
    """With how many other texts an anchor is compared, where the loss takes them from the batch."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A run before it runs."""

    data: tuple[DataFacts, ...]
    max_seq_length: int
    parameters: int
    """How many are trained, the objective's own included."""
    epochs: int
    batch_size: int
    steps: int
    warmup_steps: int
    evaluator: str | None
    """What decides which model is best."""
    measured_steps: int
    seconds: float
    """For all steps, going by those measured; evaluations and checkpoints come on top."""
    peak_memory: int | None
    """Bytes this process has used at most; None where the system does not say."""
    notes: tuple[str, ...]
    """What should be looked at before starting."""


def explain(trainer: Trainer) -> Explanation:
    """Look at the data, and measure a few steps whose effect is taken back."""
    data = tuple(_data(trainer, columns, loss) for columns, loss in zip(trainer.datasets, trainer.losses, strict=True))
    update = Update(trainer.model, trainer.objective, trainer.config, trainer.total_steps, trainer.team)
    weights = [*trainer.model.parameters(), *trainer.objective.parameters()]
    measured, seconds = _measure(trainer, update)
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
        peak_memory=_peak_memory(trainer.model.device),
        notes=tuple(_notes(trainer, data)),
    )


def _measure(trainer: Trainer, update: Update) -> tuple[int, float]:
    """How many steps were measured, and the seconds that all steps will take. The weights are as before."""
    modules, training = nn.ModuleList([trainer.model, trainer.objective]), trainer.model.training
    before = {name: tensor.clone() for name, tensor in modules.state_dict().items()}
    times = []
    trainer.model.train()
    try:
        # One more than is measured: the first step also pays for what is made only once.
        steps = min(MEASURED_STEPS + 1, trainer.total_steps)
        for number, step in enumerate(islice(trainer.plan.steps(Cursor()), steps)):
            start = time.perf_counter()
            update(number, trainer.plan.load(step, trainer.model.device))
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
    accounts = [trainer.model.tokenize(items).truncation for items in trainer.model.items(list(sample.texts.values()))]
    tokens = [None] * (len(roles) - len(accounts)) + [_tokens(account) for account in accounts]
    labels = [] if columns.labels is None else columns.labels.tolist()
    rows = zip(*columns.texts.values(), *([map(str, labels)] if labels else []), strict=True)
    counts = Counter(labels) if columns.label_kind in ("class", "binary") else Counter()
    return DataFacts(
        name=columns.name,
        rows=len(columns),
        skipped=columns.skipped,
        sample=len(sample),
        loss=objective.name if objective else getattr(loss, "__name__", type(loss).__name__),
        columns=tuple(
            ColumnFacts(name, role, texts[0], facts, _repeated(texts))
            for (name, texts), role, facts in zip(columns.texts.items(), roles, tokens, strict=True)
        ),
        unit=accounts[0].unit,
        label_kind=columns.label_kind,
        first_label=_label(columns, labels[0]) if labels else "",
        balance={_label(columns, label): counts[label] for label in sorted(counts)},
        scores=(min(labels), math.fsum(labels) / len(labels), max(labels)) if columns.label_kind == "score" else None,
        duplicates=_repeated(rows),
        negatives=_negatives(objective, len(columns.texts), min(trainer.config.batch_size, len(columns))),
    )


def _tokens(account: Truncation) -> TokenFacts:
    return TokenFacts(account.tokens / account.texts, account.longest, account.truncated / account.texts)


def _label(columns: Columns, label: Any) -> str:
    if isinstance(label, list):
        return counted(len(label), "number")
    return columns.label_names[int(label)] if columns.label_kind == "class" else f"{label:g}"


def _repeated(values: Iterable[Any]) -> int:
    kept = list(values)
    return len(kept) - len(set(kept))


def _negatives(objective: Objective | None, text_columns: int, batch: int) -> int | None:
    """The other positives of the batch, and everybody's hard negatives."""
    if objective is None or not objective.in_batch_negatives:
        return None
    return batch * (text_columns - 1) - 1


def _notes(trainer: Trainer, data: Iterable[DataFacts]) -> Iterable[str]:
    sampler = trainer.config.sampler
    for facts in data:
        repeated = sum(column.repeated for column in facts.columns)
        if facts.negatives is not None and repeated and sampler != "no-duplicates":
            yield (
                f"{facts.name}: {counted(repeated, 'repeated text')}, and two equal ones in one batch are taken for "
                'negatives of each other; set train.sampler="no-duplicates"'
            )
        objective = OBJECTIVES.get(facts.loss)
        if objective is not None and objective.sampler not in (None, sampler):
            needed = f'set train.sampler="{objective.sampler}"'
            yield f"{facts.name}: {facts.loss} needs several rows of a label in a batch; {needed}"
        cut = max(column.tokens.truncated for column in facts.columns if column.tokens)
        if cut > 0.05:
            length = trainer.model.max_seq_length
            yield f"{facts.name}: {cut:.0%} of a column's {facts.unit} are cut at {length} tokens"


def _peak_memory(device: torch.device) -> int | None:
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    return peak_memory()
