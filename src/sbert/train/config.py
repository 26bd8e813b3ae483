"""The settings of a training run. Contains numbers and names only."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, get_args, get_origin, get_type_hints

from sbert.data.sampling import Mix
from sbert.errors import BadInput, check_option, shown
from sbert.porting import explained_class
from sbert.types import Sampling

Schedule = Literal["linear", "cosine", "constant"]
TrainPrecision = Literal["float32", "bf16", "fp16"]

_FROM_ZERO = ("warmup_steps", "seed")
"""The whole numbers that may be 0; all others are at least 1."""
_LARGEST_SEED = 2**64 - 1


@explained_class
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
        for name, kind in get_type_hints(TrainConfig).items():
            object.__setattr__(self, name, _checked(name, kind, getattr(self, name)))
        if self.warmup_ratio > 1:
            raise BadInput(f"warmup_ratio is {self.warmup_ratio}, but is a fraction of all steps: give 0 to 1")
        if self.seed > _LARGEST_SEED:
            raise BadInput(f"seed is {shown(self.seed)}, but must be less than 2**64")
        if isinstance(self.freeze, str):
            raise BadInput(f"freeze is {shown(self.freeze)}, but must be a list of patterns, such as ['*.bias']")


def _checked(name: str, kind: Any, value: Any) -> Any:
    """Check a value against the annotation of its setting; numbers of numpy become those of Python."""
    if get_origin(kind) is Literal:
        check_option(name, value, get_args(kind))
    if kind not in (float, int, int | None) or (value is None and kind == int | None):
        return value
    accepted: Any = Real if kind is float else Integral
    if isinstance(value, bool) or not isinstance(value, accepted):
        raise BadInput(f"{name} is {shown(value)}, but must be a {'' if kind is float else 'whole '}number")
    number = float(value) if kind is float else int(value)
    least = 0 if kind is float or name in _FROM_ZERO else 1
    if not number >= least:  # also refuses NaN
        raise BadInput(f"{name} is {shown(number)}, but must be at least {least}")
    return number
