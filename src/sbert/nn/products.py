"""Computes linear layers in inference with the library that is fastest on this processor. Works on tensors only.

On AMD processors with AVX-512, MKL uses vectors of half the width, and oneDNN, which is also part of torch, is up to
twice as fast. torch calls oneDNN for float32 only through an operator of its compiler. Both libraries follow rule 3 of
:mod:`sbert.nn.stable`, but their results differ in the last bits, so the choice depends only on the processor.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from sbert.disk.machine import cpu_name
from sbert.nn.stable import MIN_ROWS

_SCHEMA = "mkldnn::_linear_pointwise.binary(Tensor X, Tensor other, Tensor W, Tensor? B, str attr) -> Tensor Y"


def _onednn() -> Any:
    """Return the operator of oneDNN, or None if this build of torch does not have it in this form."""
    try:
        operator = torch.ops.mkldnn._linear_pointwise
        return operator if str(operator.binary._schema) == _SCHEMA else None
    except AttributeError:
        return None


_OPERATOR = _onednn()
USES_ONEDNN = _OPERATOR is not None and torch.backends.cpu.get_cpu_capability() == "AVX512" and "AMD" in cpu_name()
"""Whether linear layers of float32 are computed by oneDNN instead of MKL."""
BY_ROWS: dict[Any, tuple[int, ...]] = {} if _OPERATOR is None else {_OPERATOR.default: (0,), _OPERATOR.binary: (0, 1)}
"""The operators of oneDNN, and the positions of their arguments that have one row per token."""


def rounded_rows(rows: int) -> int:
    """Round up to one of a few numbers of rows, by less than 16 rows or 1/32, whichever is more.

    oneDNN prepares a kernel for every new number of rows, and memory can be reused only for results of the same size.

    >>> rounded_rows(20), rounded_rows(1100), rounded_rows(2063)
    (32, 1120, 2112)
    """
    step = max(MIN_ROWS, 1 << max(0, rows.bit_length() - 6))
    return rows + -rows % step


def multiplied_by_onednn(weight: Tensor) -> bool:
    """Return whether oneDNN computes the products with a weight: it does for float32 only, and on the CPU."""
    return USES_ONEDNN and weight.dtype == torch.float32 and weight.device.type == "cpu"


def matrix_product(left: Tensor, right: Tensor) -> Tensor:
    """Compute ``left @ right.T`` as linear layers do on this processor: (N, K), (L, K) -> (N, L)."""
    if multiplied_by_onednn(right):
        return linear(left, right, None)
    return torch.mm(left, right.T)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Compute ``x @ weight.T + bias`` with oneDNN: (N, K), (L, K), (L,) -> (N, L)."""
    result: Tensor = _OPERATOR.default(x, weight, bias, "none", [], "")
    return result


def add_linear(target: Tensor, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Compute ``target + x @ weight.T + bias`` with oneDNN: (N, L), (N, K), (L, K), (L,) -> (N, L)."""
    result: Tensor = _OPERATOR.binary(x, target, weight, bias, "add")
    return result
