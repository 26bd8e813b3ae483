"""AdamW and how its learning rate goes. Knows parameters and numbers only."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase

import torch
from torch import Tensor, nn

from sbert.errors import BadInput
from sbert.train.config import Schedule, TrainConfig

NamedParameters = dict[str, nn.Parameter]


def trainable(module: nn.Module, freeze: Iterable[str]) -> NamedParameters:
    """The parameters to train, by name; those that a pattern of ``freeze`` matches stop asking for gradients."""
    parameters = dict(module.named_parameters())
    for pattern in freeze:
        frozen = [name for name in parameters if fnmatchcase(name, pattern)]
        if not frozen:
            raise BadInput(f"freeze is {pattern!r}, which matches no parameter; there are {', '.join(parameters)}")
        for name in frozen:
            parameters.pop(name).requires_grad_(False)
    return {name: parameter for name, parameter in parameters.items() if parameter.requires_grad}


def adamw(parameters: NamedParameters, config: TrainConfig) -> torch.optim.AdamW:
    """AdamW in one fused kernel. Vectors (biases and norms) do not decay, matrices do."""
    matrices = [parameter for parameter in parameters.values() if parameter.ndim > 1]
    vectors = [parameter for parameter in parameters.values() if parameter.ndim <= 1]
    groups = [
        {"params": matrices, "weight_decay": config.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=config.learning_rate, fused=True)


def rate(step: int, total: int, warmup: int, schedule: Schedule) -> float:
    """The share of the highest learning rate that step ``step`` (from 0) of ``total`` takes.

    >>> [rate(step, total=6, warmup=2, schedule="linear") for step in range(6)]
    [0.0, 0.5, 1.0, 0.75, 0.5, 0.25]
    """
    if step < warmup:
        return step / warmup
    if schedule == "constant":
        return 1.0
    done = (step - warmup) / max(1, total - warmup)
    return 1.0 - done if schedule == "linear" else 0.5 * (1.0 + math.cos(math.pi * done))


def shorten(parameters: Iterable[Tensor], longest: float) -> float:
    """The length of all gradients together, which are scaled down where it is more than ``longest`` (0: never)."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    length = float(torch.nn.utils.get_total_norm(gradients))
    if 0 < longest < length:  # on a CPU, looking first is cheaper than multiplying everything by one
        torch._foreach_mul_(gradients, longest / length)
    return length


class Tables:
    """The gradients of embedding tables, of which a batch touches few rows.

    Left to itself, torch allocates, zeroes and frees a gradient as large as the whole table in every step. Here the
    rows that were touched are added to one buffer that stays, and cleared again afterwards: a tenth less time a step.
    """

    def __init__(self, model: nn.Module) -> None:
        self._tables = [module for module in model.modules() if isinstance(module, nn.Embedding)]
        self._buffers: dict[Tensor, Tensor] = {}
        self._touched: list[tuple[Tensor, Tensor]] = []

    @contextmanager
    def by_rows(self) -> Iterator[None]:
        """Within, the tables of a model on a CPU get gradients of their touched rows only."""
        for table in self._tables:
            table.sparse = table.weight.device.type == "cpu"
        try:
            yield
        finally:
            for table in self._tables:
                table.sparse = False

    def spread(self) -> None:
        """Replace gradients of rows by gradients of whole tables."""
        for table in self._tables:
            weight = table.weight
            if weight.grad is None or not weight.grad.is_sparse:
                continue
            rows, values = weight.grad._indices()[0], weight.grad._values()
            buffer = self._buffers.get(weight)
            if buffer is None:
                buffer = self._buffers[weight] = torch.zeros_like(weight)
            weight.grad = buffer.index_add_(0, rows, values)
            self._touched.append((buffer, rows))

    def clear(self) -> None:
        """Make the buffers zero again, once the gradients have been used."""
        for buffer, rows in self._touched:
            buffer[rows] = 0
        self._touched.clear()
