"""Which processor a speed was measured on. Knows where systems write its name."""

from __future__ import annotations

import platform
from pathlib import Path


def cpu_name() -> str:
    """As its maker calls it, where the system says so."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()
