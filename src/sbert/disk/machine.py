"""Facts about the machine and the installed packages."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from importlib import metadata
from pathlib import Path

_PACKAGES = ("sbert", "torch", "transformers", "tokenizers", "numpy")
"""The packages that can change a result."""


def cpu_name() -> str:
    """Return the processor's name, or its architecture where the system does not tell the name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()


def core_count() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that can change a result."""
    return {"python": platform.python_version()} | {package: version(package) for package in _PACKAGES}


def version(package: str) -> str:
    """Return the version of an installed package, or "not installed"."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def peak_memory() -> int | None:
    """Return the largest number of bytes this process has had in memory; None where the system does not tell it."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def release_memory() -> None:
    """Return freed memory to the system. The C library of Linux keeps it otherwise, in pieces that it cannot use."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)
