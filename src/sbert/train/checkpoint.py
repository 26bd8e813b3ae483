"""A run's state in one file, there whole or not at all. Knows tensors and names, not what they mean.

A checkpoint is written under a temporary name, brought to the disk, and only then renamed: a process killed at any
instant leaves whole checkpoints and perhaps a draft. The name carries the checksum of the contents, so a file that
the disk damaged later is noticed and the one before it is taken.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from sbert.errors import CannotResume, CheckpointNotSaved

FORMAT = 1
_NAME = re.compile(r"step-(\d{8,})-([0-9a-f]{16})\.safetensors")
_DRAFT = ".draft"
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """A run's state after a step."""

    step: int
    tensors: dict[str, Tensor]
    facts: dict[str, Any]
    """Everything that is no tensor."""


def save(folder: Path, checkpoint: Checkpoint, keep: int) -> Path:
    """Write ``checkpoint`` into ``folder`` and remove all but the newest ``keep``."""
    draft = folder / f"step-{checkpoint.step:08d}{_DRAFT}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        metadata = {"format": str(FORMAT), "facts": json.dumps(checkpoint.facts, ensure_ascii=False)}
        save_file({name: tensor.contiguous() for name, tensor in checkpoint.tensors.items()}, draft, metadata)
        _to_disk(draft)
        path = draft.with_name(f"step-{checkpoint.step:08d}-{_checksum(draft)}.safetensors")
        draft.replace(path)
        _to_disk(folder)
    except (OSError, SafetensorError) as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise CheckpointNotSaved(
            f"the checkpoint of step {checkpoint.step} could not be written to {folder} ({error}); those before it "
            "are intact: make room, then resume"
        ) from error
    others = [other for other in _newest_first(folder) if other != path]
    behind = [other for other in others if other < path]
    for old in {*others} - {*behind[: keep - 1]}:  # what lies ahead belongs to a run that was given up
        old.unlink(missing_ok=True)
    return path


def newest(folder: Path) -> Checkpoint | None:
    """The newest whole checkpoint in ``folder``; None where there is none at all. Drafts are cleared away."""
    for draft in folder.glob(f"*{_DRAFT}"):
        draft.unlink(missing_ok=True)
    for path in _newest_first(folder):
        if _checksum(path) == _match(path)[2]:
            return _read(path)
        logger.warning("%s is damaged; going back to the checkpoint before it", path)
        path.replace(path.with_suffix(".damaged"))
    if any(folder.glob("*.damaged")):
        raise CannotResume(f"no checkpoint in {folder} is whole; start anew in another folder")
    return None


def steps(folder: Path) -> list[int]:
    """The steps that have a checkpoint, newest first."""
    return [int(_match(path)[1]) for path in _newest_first(folder)]


def _read(path: Path) -> Checkpoint:
    with safe_open(path, "pt") as file:
        metadata: Mapping[str, str] = file.metadata() or {}
        if metadata.get("format") != str(FORMAT):
            raise CannotResume(
                f"{path} has format {metadata.get('format')}, but this version of sbert reads {FORMAT}; resume with "
                "the version that wrote it, or start anew in another folder"
            )
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no dict)
    return Checkpoint(int(_match(path)[1]), tensors, json.loads(metadata["facts"]))


def _newest_first(folder: Path) -> list[Path]:
    return sorted((path for path in folder.glob("step-*") if _NAME.fullmatch(path.name)), reverse=True)


def _match(path: Path) -> re.Match[str]:
    match = _NAME.fullmatch(path.name)
    assert match is not None
    return match


def _checksum(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()[:16]


def _to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
