"""Saves the state of a run to one file that exists either completely or not at all. Works on tensors and names only.

The name of a checkpoint contains the checksum of its contents. A file that was damaged on the disk is therefore
noticed, and the checkpoint before it is used instead.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from sbert.disk.digest import file_digest
from sbert.disk.drafts import draft, sweep
from sbert.disk.files import sync
from sbert.errors import CannotResume, CheckpointNotSaved

FORMAT = 1
_NAME = re.compile(r"step-(\d{8,})-([0-9a-f]{16})\.safetensors")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """The state of a run after a step."""

    step: int
    tensors: dict[str, Tensor]
    facts: dict[str, Any]
    """Everything else, as JSON values."""


def save(folder: Path, checkpoint: Checkpoint, keep: int) -> Path:
    """Write ``checkpoint`` into ``folder`` and remove all checkpoints except the newest ``keep``."""
    metadata = {"format": str(FORMAT), "facts": json.dumps(checkpoint.facts, ensure_ascii=False)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with draft(folder) as place:  # safetensors writes a temporary file of its own, which stays in there, too
            new = place / "new.safetensors"
            save_file({name: tensor.contiguous() for name, tensor in checkpoint.tensors.items()}, new, metadata)
            sync(new)
            path = folder / f"step-{checkpoint.step:08d}-{_checksum(new)}.safetensors"
            new.replace(path)
            sync(folder)
    except (OSError, SafetensorError) as error:
        raise CheckpointNotSaved(
            f"the checkpoint of step {checkpoint.step} could not be written to {folder} ({error}); the previous "
            "checkpoints are intact: free some disk space, then resume the run"
        ) from error
    saved = [each for *_, each in _newest_first(folder)]
    own = saved.index(path)
    for obsolete in saved[:own] + saved[own + keep :]:  # later steps belong to a run that was abandoned
        obsolete.unlink(missing_ok=True)
    return path


def newest(folder: Path) -> Checkpoint | None:
    """Read the newest intact checkpoint in ``folder``; None if there is no checkpoint at all."""
    sweep(folder)
    for leftover in [*folder.glob("*.draft"), *folder.glob(".tmp*")]:  # of versions that had no draft folders
        leftover.unlink(missing_ok=True)
    for step, checksum, path in _newest_first(folder):
        if _checksum(path) == checksum:
            return _read(path, step)
        logger.warning("%s is damaged; using the checkpoint before it", path)
        path.replace(path.with_suffix(".damaged"))
    if any(folder.glob("*.damaged")):
        raise CannotResume(f"every checkpoint in {folder} is damaged; start again in another folder")
    return None


def steps(folder: Path) -> list[int]:
    """The steps for which ``folder`` has a checkpoint, newest first."""
    return [step for step, *_ in _newest_first(folder)]


def _read(path: Path, step: int) -> Checkpoint:
    with safe_open(path, "pt") as file:
        metadata: Mapping[str, str] = file.metadata() or {}
        if metadata.get("format") != str(FORMAT):
            raise CannotResume(
                f"{path} has format {metadata.get('format')}, but this version of sbert reads {FORMAT}; resume with "
                "the version that wrote it, or start again in another folder"
            )
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is not a dict)
    return Checkpoint(step, tensors, json.loads(metadata["facts"]))


def _newest_first(folder: Path) -> list[tuple[int, str, Path]]:
    """The step, the checksum and the path of every checkpoint."""
    found = [(match, path) for path in folder.glob("step-*") if (match := _NAME.fullmatch(path.name))]
    return sorted(((int(match[1]), match[2], path) for match, path in found), reverse=True)


def _checksum(path: Path) -> str:
    return file_digest(path)[:16]
