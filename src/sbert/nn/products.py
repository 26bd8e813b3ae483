"""Computes linear layers in inference with the library that is fastest on this processor. Works on tensors only.

On AMD processors with AVX-512, MKL uses vectors of half the size, and oneDNN, which is part of torch as well,
multiplies up to twice as fast. torch calls oneDNN for float32 only through an operator that its compiler uses. Both
libraries keep rule 3 of :mod:`sbert.nn.stable`; their bits differ, so the choice depends on the processor alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from sbert.disk.machine import cpu_name

_SCHEMA = "mkldnn::_linear_pointwise.binary(Tensor X, Tensor other, Tensor W, Tensor? B, str attr) -> Tensor Y"


def _onednn() -> Any:
    """Return the operator of oneDNN, or None if this build of torch has another one."""
    try:
        operator = torch.ops.mkldnn._linear_pointwise
        return operator if str(operator.binary._schema) == _SCHEMA else None
    except AttributeError:
        return None


_OPERATOR = _onednn()
USES_ONEDNN = _OPERATOR is not None and torch.backends.cpu.get_cpu_capability() == "AVX512" and "AMD" in cpu_name()
"""Whether linear layers are computed by oneDNN instead of MKL."""
BY_ROWS: dict[Callable[..., Any], tuple[int, ...]] = (
    {} if _OPERATOR is None else {_OPERATOR.default: (0,), _OPERATOR.binary: (0, 1)}
)
"""The functions of oneDNN, and which of their arguments have one row per token."""


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Compute ``x @ weight.T + bias`` with oneDNN: (N, K), (L, K), (L,) -> (N, L)."""
    result: Tensor = _OPERATOR.default(x, weight, bias, "none", [], "")
    return result


def add_linear(target: Tensor, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Compute ``target + x @ weight.T + bias`` with oneDNN: (N, L), (N, K), (L, K), (L,) -> (N, L)."""
    result: Tensor = _OPERATOR.binary(x, target, weight, bias, "add")
    return result
