"""The settings of a training run. Knows numbers and names only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from sbert.data.sampling import Mix
from sbert.errors import BadInput, check_option, counted
from sbert.types import Sampling

Schedule = Literal["linear", "cosine", "constant"]
TrainPrecision = Literal["float32", "bf16", "fp16"]

_CHOICES = {"schedule": Schedule, "sampler": Sampling, "mix": Mix, "precision": TrainPrecision}
_AT_LEAST_ONE = (
    "epochs",
    "max_steps",
    "batch_size",
    "gradient_accumulation_steps",
    "mini_batch_tokens",
    "eval_steps",
    "checkpoint_steps",
    "keep_checkpoints",
    "patience",
    "log_steps",
)
_NOT_NEGATIVE = ("learning_rate", "warmup_ratio", "warmup_steps", "weight_decay", "max_grad_norm", "seed")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainConfig:
    """How to train. The defaults are the paper's recipe for NLI.

    >>> TrainConfig(output_dir="runs/nli", schedule="lineer")
    Traceback (most recent call last):
    sbert.errors.BadOption: schedule is 'lineer', but must be one of 'linear', 'cosine', 'constant'; did you mean \
'linear'?
    """

    output_dir: str
    """The run's folder: checkpoints, metrics, pictures and the trained model."""
    epochs: int = 1
    """How often every row is seen."""
    max_steps: int | None = None
    """Stop after so many steps, however many epochs that makes."""
    batch_size: int = 16
    """Rows in one batch: pairs, triplets or single texts."""
    gradient_accumulation_steps: int = 1
    """Batches whose gradients add up to one step."""
    mini_batch_tokens: int | None = None
    """Tokens held in memory at once. A larger batch is computed twice, in parts, with the same result: in-batch
    losses may have thousands of negatives on a small machine."""
    learning_rate: float = 2e-5
    """The highest, reached when the warm-up ends."""
    warmup_ratio: float = 0.1
    """Share of all steps over which the learning rate rises from zero."""
    warmup_steps: int | None = None
    """The same as a number of steps; wins over the ratio."""
    schedule: Schedule = "linear"
    """How the learning rate falls to zero after the warm-up; ``constant`` does not fall."""
    weight_decay: float = 0.01
    """AdamW's; biases and norms have none."""
    max_grad_norm: float = 1.0
    """Longer gradients are shortened to this length; 0 leaves them."""
    precision: TrainPrecision = "float32"
    """``bf16`` or ``fp16``: multiply in half precision, on devices that can."""
    freeze: tuple[str, ...] = ()
    """Parameters not to train, by name: ``transformer.words.*``, ``transformer.layers.[0-3].*``."""
    sampler: Sampling = "shuffled"
    """``no-duplicates``: no text twice in a batch, for in-batch negatives; ``by-label``: several rows of each label
    in a batch, for triplets mined within it."""
    mix: Mix = "proportional"
    """How batches of several data sets follow each other: every row once, or in turn until the smallest ends."""
    seed: int = 42
    """Of the order, the dropout and new weights. The same seed gives the same weights, bit for bit."""
    eval_steps: int | None = None
    """Evaluate every so many steps; once an epoch unless given."""
    checkpoint_steps: int | None = None
    """Save every so many steps; once an epoch unless given."""
    keep_checkpoints: int = 2
    """How many of the newest checkpoints stay."""
    keep_best: bool = True
    """Whether the trained model is the one with the best score, not the last."""
    patience: int | None = None
    """Stop when so many evaluations in a row brought no better score."""
    log_steps: int = 10
    """Write a line of metrics every so many steps."""

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        for name, choices in _CHOICES.items():
            check_option(name, getattr(self, name), get_args(choices))
        for name in _AT_LEAST_ONE:
            _check_least(name, getattr(self, name), 1)
        for name in _NOT_NEGATIVE:
            _check_least(name, getattr(self, name), 0)
        if self.warmup_ratio > 1:
            raise BadInput(f"warmup_ratio is {self.warmup_ratio}, but is a share of all steps: give 0 to 1")


# What may differ between a checkpoint and the run that goes on from it: it decides what is kept, not what is learned.
FREE_TO_CHANGE = frozenset({"output_dir", "checkpoint_steps", "keep_checkpoints", "log_steps"})


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What changed between the facts of two runs that matters to what is learned, in words."""
    names = [field.name for field in fields(TrainConfig) if field.name not in FREE_TO_CHANGE]
    settings = [(name, before["config"].get(name), now["config"][name]) for name in names]
    torch = ("torch", before["versions"]["torch"], now["versions"]["torch"])
    aims = [(what, before[what], now[what]) for what in ("loss", "evaluator")]
    data = [(f"data set {number}", *pair) for number, pair in enumerate(zip(*map(_data, (before, now)), strict=False))]
    count = ("the number of data sets", len(before["data"]), len(now["data"]))
    return [f"{name} was {old}, is {new}" for name, old, new in [*settings, *aims, torch, count, *data] if old != new]


def _data(facts: Mapping[str, Any]) -> list[str]:
    return [f"{counted(data['rows'], 'row')} with checksum {data['sha256'][:8]}" for data in facts["data"]]


def _check_least(name: str, value: float | None, least: int) -> None:
    if value is not None and not value >= least:  # which refuses NaN too
        raise BadInput(f"{name} is {value}, but must be at least {least}")
