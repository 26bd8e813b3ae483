"""Whether a device can train with a precision. Knows torch only."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import torch

from sbert.errors import BadInput
from sbert.train.config import TrainPrecision

_PRODUCT = "import torch; a = torch.ones(64, 64, dtype=torch.bfloat16); print(float((a @ a).sum()))"


def check_precision(precision: TrainPrecision, device: torch.device) -> None:
    """Raise unless ``device`` can multiply so."""
    if device.type != "cpu" or precision == "float32":
        return
    if precision == "fp16":
        raise BadInput("precision is 'fp16', which a CPU cannot train with; choose 'bf16' or 'float32'")
    if not multiplies_in_bf16():
        raise BadInput(
            "precision is 'bf16', but this processor stops a program that multiplies so, as some virtual machines do "
            "that promise AMX and forbid it; choose 'float32', or set ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16"
        )


@cache
def multiplies_in_bf16() -> bool:
    """Tried in a process of its own: an instruction that is not allowed ends the process that uses it."""
    return subprocess.run([sys.executable, "-c", _PRODUCT], capture_output=True, check=False).returncode == 0
