"""The optimizer: AdamW, its learning rate, gradient clipping and mixed precision. Works on parameters only."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import cache

import torch
from torch import Tensor, nn

from sbert.errors import BadInput
from sbert.train.config import Schedule, TrainConfig, TrainPrecision

NamedParameters = dict[str, nn.Parameter]


def trainable(module: nn.Module, freeze: Iterable[str]) -> NamedParameters:
    """Select the parameters to train, by name, and freeze those that match a pattern of ``freeze``."""
    parameters = dict(module.named_parameters())
    for pattern in freeze:
        frozen = [name for name in parameters if fnmatchcase(name, pattern)]
        if not frozen:
            raise BadInput(f"freeze is {pattern!r}, which matches no parameter; there are {', '.join(parameters)}")
        for name in frozen:
            parameters.pop(name).requires_grad_(False)
    return {name: parameter for name, parameter in parameters.items() if parameter.requires_grad}


def adamw(parameters: NamedParameters, config: TrainConfig) -> torch.optim.AdamW:
    """Create a fused AdamW with weight decay for matrices, but not for vectors (biases and norms)."""
    weights = list(parameters.values())
    groups = [
        {"params": [weight for weight in weights if weight.ndim > 1], "weight_decay": config.weight_decay},
        {"params": [weight for weight in weights if weight.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=config.learning_rate, fused=True)


def learning_rate_factor(step: int, total: int, warmup: int, schedule: Schedule) -> float:
    """The factor by which to multiply the peak learning rate in step ``step`` (from 0) of ``total``.

    >>> [learning_rate_factor(step, total=6, warmup=2, schedule="linear") for step in range(6)]
    [0.0, 0.5, 1.0, 0.75, 0.5, 0.25]
    """
    if step < warmup:
        return step / warmup
    if schedule == "constant":
        return 1.0
    done = (step - warmup) / max(1, total - warmup)
    return 1.0 - done if schedule == "linear" else 0.5 * (1.0 + math.cos(math.pi * done))


def clip_gradients(parameters: Iterable[Tensor], max_norm: float) -> float:
    """Scale all gradients down to ``max_norm`` (0: never), and return the norm they had."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = float(torch.nn.utils.get_total_norm(gradients))
    if 0 < max_norm < norm:  # on a CPU, this check is cheaper than multiplying every gradient by one
        torch._foreach_mul_(gradients, max_norm / norm)
    return norm


def grad_scaler(precision: TrainPrecision, device: torch.device) -> torch.amp.GradScaler:
    """Create the gradient scaler of ``precision``; raise BadInput if ``device`` does not support the precision."""
    if device.type == "cpu" and precision == "fp16":
        raise BadInput("precision is 'fp16', but a CPU cannot train with it; choose 'bf16' or 'float32'")
    if device.type == "cpu" and precision == "bf16" and not supports_bf16():
        raise BadInput(
            "precision is 'bf16', but this processor kills programs that multiply in it, as some virtual machines do "
            "that announce AMX and forbid it; choose 'float32', or set ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16"
        )
    return torch.amp.GradScaler(device.type, enabled=precision == "fp16")


@cache
def supports_bf16() -> bool:
    """Whether this processor can multiply in bf16; tried in another process, because a forbidden instruction kills."""
    product = "import torch; a = torch.ones(64, 64, dtype=torch.bfloat16); print(float((a @ a).sum()))"
    return subprocess.run([sys.executable, "-c", product], capture_output=True, check=False).returncode == 0


class EmbeddingGradients:
    """Sparse gradients of the embedding tables, of which a batch uses few rows.

    By default torch allocates, zeroes and frees a gradient as large as the whole table in every step. This class adds
    the used rows to a buffer that is kept, and clears those rows afterwards, which makes a step 10 % faster.
    """

    def __init__(self, model: nn.Module) -> None:
        self._tables = [module for module in model.modules() if isinstance(module, nn.Embedding)]
        self._buffers: dict[Tensor, Tensor] = {}
        self._used: list[tuple[Tensor, Tensor]] = []

    @contextmanager
    def sparse(self) -> Iterator[None]:
        """Within this context, the tables of a model on a CPU get sparse gradients."""
        for table in self._tables:
            table.sparse = table.weight.device.type == "cpu"
        try:
            yield
        finally:
            for table in self._tables:
                table.sparse = False

    def make_dense(self) -> None:
        """Replace the sparse gradients by dense ones."""
        for table in self._tables:
            weight = table.weight
            if weight.grad is None or not weight.grad.is_sparse:
                continue
            rows, values = weight.grad._indices()[0], weight.grad._values()
            buffer = self._buffers.get(weight)
            if buffer is None:
                buffer = self._buffers[weight] = torch.zeros_like(weight)
            weight.grad = buffer.index_add_(0, rows, values)
            self._used.append((buffer, rows))

    def clear(self) -> None:
        """Reset the buffers to zero once the gradients have been applied."""
        for buffer, rows in self._used:
            buffer[rows] = 0
        self._used.clear()
