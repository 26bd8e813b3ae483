"""Reads and writes JSON, and puts folders in place whole or not at all. Knows nothing of models."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import UnionType
from typing import Any

from safetensors import SafetensorError

from sbert.errors import BadInput, BadModel, ModelNotSaved


def read_json(path: Path) -> Any:
    """The contents of ``path``, which must exist."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadModel(f"{path} is missing; the folder is no complete model, download or save it again") from None
    except (OSError, ValueError) as error:
        raise BadModel(f"{path} cannot be read as JSON ({error}); download or save the model again") from error


def read_object(path: Path, optional: bool = False) -> dict[str, Any]:
    """The JSON object in ``path``; an empty one where ``optional`` and there is no such file."""
    if optional and not path.is_file():
        return {}
    value = read_json(path)
    if not isinstance(value, dict):
        raise BadModel(f"{path} holds a {type(value).__name__}, but a JSON object is expected; save the model again")
    return value


def entry(config: dict[str, Any], key: str, kind: type | UnionType, path: Path) -> Any:
    """What ``config``, read from ``path``, says of ``key``: of this kind, or None where it says nothing."""
    value = config.get(key)
    if value is not None and not isinstance(value, kind):
        raise BadModel(f"{path} has {key} {value!r}, but {_NAMES[kind]} is expected; download or save the model again")
    return value


_NAMES: dict[type | UnionType, str] = {
    int: "a whole number",
    int | float: "a number",
    str: "a text",
    list: "a list",
    str | list: "a text or a list of them",
    dict: "a JSON object",
}


def write_json(path: Path, value: object) -> None:
    """Store ``value``, readable by people of any language."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def real(folder: Path) -> Path:
    """Where ``folder`` lies and what it is called there: a link to it stays one, and "." has a name."""
    return Path(os.path.realpath(folder.expanduser()))


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A new folder to write into, which takes the place of ``target`` when the block ends without an error.

    Only an empty folder or one that holds a model is replaced, so that nobody's home is lost to a typing error.
    """
    target = real(target)
    draft = target.parent / f".{target.name}.{uuid.uuid4().hex}"
    try:
        _check_replaceable(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        draft.mkdir()
        yield draft
        _share(draft)
        _sync(draft)
        _replace(target, draft)
    except (OSError, SafetensorError) as error:
        shutil.rmtree(draft, ignore_errors=True)
        reason = getattr(error, "strerror", None) or error
        raise ModelNotSaved(
            f"no model can be saved to {target} ({reason}); make room there, or name another place"
        ) from error
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def tidy(target: Path) -> None:
    """Undo what a process killed while saving ``target`` left behind; for a folder that nobody else writes to."""
    target = real(target)
    for aside in target.parent.glob(f".{target.name}.*.old"):
        if not target.exists():  # killed between the two renames: the new one was whole, but the old one is at hand
            aside.rename(target)
    for draft in target.parent.glob(f".{target.name}.*"):
        shutil.rmtree(draft, ignore_errors=True)


def _check_replaceable(target: Path) -> None:
    for place in (target, *target.parents):
        if place.exists() and not place.is_dir():
            raise BadInput(f"{place} is a file, but a model is saved as a folder; name another place")
    if not target.is_dir() or not any(target.iterdir()):
        return
    if (target / ".git").exists():
        raise BadInput(f"{target} is a git repository, so it is not replaced; save next to it and copy the files")
    if not (target / "modules.json").is_file() and "model_type" not in read_object(target / "config.json", True):
        raise BadInput(f"{target} is not empty and holds no model, so it is not replaced; name a new or empty folder")


def _replace(target: Path, draft: Path) -> None:
    """POSIX swaps no two folders at once: the old one steps aside first and comes back if the new one cannot move."""
    if not target.exists():
        draft.rename(target)
        return
    aside = draft.with_name(draft.name + ".old")
    target.rename(aside)
    try:
        draft.rename(target)
    except OSError:
        aside.rename(target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _share(folder: Path) -> None:
    """Let everybody read the files who may read the folder: safetensors' own are for their owner alone."""
    allowed = folder.stat().st_mode & 0o666
    for path in folder.rglob("*"):
        if path.is_file():
            path.chmod(allowed)


def _sync(folder: Path) -> None:
    """Bring every file to the disk before the folder gets its name."""
    for path in [*folder.rglob("*"), folder]:
        if os.name == "posix" or path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
