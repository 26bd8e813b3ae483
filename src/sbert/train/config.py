"""The settings of a training run. Contains numbers and names only."""

from __future__ import annotations

from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Literal, get_args

from sbert.data.sampling import Mix
from sbert.errors import BadInput, check_option, shown
from sbert.types import Sampling

Schedule = Literal["linear", "cosine", "constant"]
TrainPrecision = Literal["float32", "bf16", "fp16"]

_CHOICES = {"schedule": Schedule, "sampler": Sampling, "mix": Mix, "precision": TrainPrecision}
_NUMBERS = ("learning_rate", "warmup_ratio", "weight_decay", "max_grad_norm")
_WHOLE_NUMBERS = {
    "epochs": 1,
    "max_steps": 1,
    "batch_size": 1,
    "gradient_accumulation_steps": 1,
    "mini_batch_tokens": 1,
    "warmup_steps": 0,
    "seed": 0,
    "eval_steps": 1,
    "checkpoint_steps": 1,
    "keep_checkpoints": 1,
    "patience": 1,
    "log_steps": 1,
}
"""The least value of every setting that is a whole number."""
_LARGEST_SEED = 2**64 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainConfig:
    """The settings of a training run. The defaults are those of the paper for NLI.

    >>> TrainConfig(output_dir="runs/nli", schedule="lineer")
    Traceback (most recent call last):
    sbert.errors.BadOption: schedule is 'lineer', but must be one of 'linear', 'cosine', 'constant'; did you mean \
'linear'?
    """

    output_dir: str
    """Folder of the run: checkpoints, metrics, charts and the trained model."""
    epochs: int = 1
    """Number of passes over the data."""
    max_steps: int | None = None
    """Number of steps after which to stop, even in the middle of an epoch."""
    batch_size: int = 16
    """Number of rows in a batch: pairs, triplets or single texts."""
    gradient_accumulation_steps: int = 1
    """Number of batches whose gradients are accumulated for one step."""
    mini_batch_tokens: int | None = None
    """Number of tokens to keep in memory at once. A larger batch is computed twice, in parts, with the same result,
    so that losses with in-batch negatives can use thousands of negatives on a small machine."""
    learning_rate: float = 2e-5
    """Peak learning rate, reached at the end of the warm-up."""
    warmup_ratio: float = 0.1
    """Fraction of all steps over which the learning rate rises from zero."""
    warmup_steps: int | None = None
    """Number of warm-up steps; takes precedence over ``warmup_ratio``."""
    schedule: Schedule = "linear"
    """How the learning rate decreases to zero after the warm-up; ``constant`` keeps it."""
    weight_decay: float = 0.01
    """Weight decay of AdamW; biases and norms have none."""
    max_grad_norm: float = 1.0
    """Gradients are clipped to this norm; 0 disables clipping."""
    precision: TrainPrecision = "float32"
    """``bf16`` or ``fp16`` use mixed precision on devices that support it."""
    freeze: tuple[str, ...] = ()
    """Name patterns of the parameters not to train: ``transformer.words.*``, ``transformer.layers.[0-3].*``."""
    sampler: Sampling = "shuffled"
    """``no-duplicates`` never puts a text twice into a batch, for in-batch negatives; ``by-label`` puts several rows
    of each label into a batch, for triplets that are mined within it."""
    mix: Mix = "proportional"
    """How batches of several data sets alternate: ``proportional`` uses every row once, ``round-robin`` takes one
    batch of each in turn until the smallest data set ends."""
    seed: int = 42
    """Random seed of the row order, the dropout and new weights. The same seed gives the same weights, bit for bit."""
    eval_steps: int | None = None
    """Number of steps between two evaluations; defaults to once per epoch."""
    checkpoint_steps: int | None = None
    """Number of steps between two checkpoints; defaults to once per epoch."""
    keep_checkpoints: int = 2
    """Number of newest checkpoints to keep."""
    keep_best: bool = True
    """Whether the trained model is the one with the best score instead of the last one."""
    patience: int | None = None
    """Number of consecutive evaluations without a better score after which to stop."""
    log_steps: int = 10
    """Number of steps between two lines of metrics."""

    def __post_init__(self) -> None:
        """Check every value; numbers of numpy become those of Python."""
        for name, choices in _CHOICES.items():
            check_option(name, getattr(self, name), get_args(choices))
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None and field.default is None:
                continue
            if field.name in _NUMBERS:
                object.__setattr__(self, field.name, _number(field.name, value))
            elif field.name in _WHOLE_NUMBERS:
                object.__setattr__(self, field.name, _whole_number(field.name, value, _WHOLE_NUMBERS[field.name]))
        if self.warmup_ratio > 1:
            raise BadInput(f"warmup_ratio is {self.warmup_ratio}, but is a fraction of all steps: give 0 to 1")
        if self.seed > _LARGEST_SEED:
            raise BadInput(f"seed is {shown(self.seed)}, but must be less than 2**64")
        if isinstance(self.freeze, str):
            raise BadInput(f"freeze is {shown(self.freeze)}, but must be a list of patterns, such as ['*.bias']")


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise BadInput(f"{name} is {shown(value)}, but must be a number")
    if not float(value) >= 0:  # also refuses NaN
        raise BadInput(f"{name} is {value}, but must be at least 0")
    return float(value)


def _whole_number(name: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise BadInput(f"{name} is {shown(value)}, but must be a whole number")
    if value < least:
        raise BadInput(f"{name} is {shown(value)}, but must be at least {least}")
    return int(value)
