"""The boundary where model folders are read, and where they are replaced.

Whatever a folder holds, reading it ends with a value or with one BadModel sentence.
"""

from __future__ import annotations

import functools
import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PureWindowsPath
from typing import Any, Concatenate, ParamSpec, TypeVar

from safetensors import SafetensorError

from sbert.disk.files import real, whole_folder
from sbert.errors import BadInput, BadModel, ModelNotSaved, SbertError, shown
from sbert.hub.limits import LARGEST_FILE

P = ParamSpec("P")
T = TypeVar("T")

_LONGEST_REASON = 200
"""Characters that a message quotes of another library's message."""
_ATTEMPTS = 100
_PAUSE = 0.01
"""Seconds to wait where a folder is missing because another process is replacing it."""


def reads_folder(read: Callable[Concatenate[Path, P], T]) -> Callable[Concatenate[Path, P], T]:
    """Protect a function that reads a model folder, given as its first argument.

    Whatever the libraries below raise becomes BadModel. A folder that another process replaces in the meantime is
    read again, so that the result is the old model or the new one, never a mix.
    """

    @functools.wraps(read)
    def protected(folder: Path, /, *args: P.args, **options: P.kwargs) -> T:
        for _ in range(_ATTEMPTS):
            before = _identity(folder)
            if before is None:
                time.sleep(_PAUSE)
            try:
                with reading(folder):
                    result = read(folder, *args, **options)
            except BadModel:
                if before is not None and _identity(folder) == before:
                    raise
            else:
                if _identity(folder) == before:
                    return result
        raise BadModel(f"{folder} is missing or was replaced {_ATTEMPTS} times while it was read; load it again")

    return protected


def _identity(folder: Path) -> tuple[int, ...] | None:
    """Return what differs between a folder and the one that replaces it, or None where there is no folder."""
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn whatever is raised while ``path`` is read into one BadModel sentence.

    Interrupts and a real lack of memory pass. A panic of a library written in Rust is a BaseException, but only a
    consequence of what the file holds.
    """
    try:
        yield
    except (BadModel, MemoryError):
        raise
    except BaseException as error:
        panic = type(error).__name__ == "PanicException"
        if not isinstance(error, Exception) and not panic:
            raise
        if isinstance(error, SbertError) and not isinstance(error, BadInput):
            raise
        raise refusal(path, f"is damaged or its files do not fit together ({_reason(error)})") from error


def _reason(error: BaseException) -> str:
    """Return the message of another library as one short line of printable characters."""
    said = getattr(error, "strerror", None) or str(error)
    text = "".join(sign if sign.isprintable() else " " for sign in said[: 10 * _LONGEST_REASON])
    line = " ".join(text.split()) or type(error).__name__
    if isinstance(error, KeyError):
        line = f"{line} is missing"
    return line if len(line) <= _LONGEST_REASON else f"{line[: _LONGEST_REASON - 3]}..."


def refusal(path: Path, why: str) -> BadModel:
    """Return the error for a file or folder that cannot be used; ``why`` continues the sentence after its path."""
    return BadModel(f"{path} {why}; download or save the model again")


def check_file(path: Path, largest: float = math.inf) -> None:
    """Raise BadModel unless ``path`` is a regular file of at most ``largest`` bytes."""
    if path.exists() and not path.is_file():
        raise refusal(path, "is a folder, a pipe or a device, but must be a file")
    if not path.is_file():
        raise BadModel(f"{path.resolve()} is missing; the folder is no complete model, download or save it again")
    if (size := path.stat().st_size) > largest:
        raise refusal(path, f"has {size:,} bytes, but at most {largest:,} are read")


def read_json(path: Path) -> Any:
    """Return the contents of a JSON file, which must exist."""
    check_file(path, LARGEST_FILE)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise refusal(path, f"cannot be read as JSON ({_reason(error)})") from error


def read_object(path: Path, optional: bool = False) -> dict[str, Any]:
    """Return the JSON object in ``path``, or an empty one where ``optional`` and there is no such file."""
    if optional and not path.is_file():
        return {}
    value = read_json(path)
    if not isinstance(value, dict):
        raise refusal(path, f"holds a {type(value).__name__}, but a JSON object is expected")
    return value


def inside(folder: Path, place: str, named_by: Path) -> Path:
    """Return a path that a file of the model names, which must lie in ``folder``."""
    parts = PureWindowsPath(place)  # knows the separators and drives of every system
    if parts.anchor or ".." in parts.parts or "\0" in place:
        raise BadModel(f"{named_by} points to {shown(place)}, outside of the model folder")
    return folder.joinpath(*parts.parts)


@contextmanager
def whole_model(target: Path) -> Iterator[Path]:
    """Create a folder to write into, which replaces ``target`` when the block ends without an error.

    Only an empty folder or one that holds a model is replaced, so that a typing error destroys nothing.
    """
    try:
        with whole_folder(target, _check_replaceable) as draft:
            yield draft
    except (OSError, SafetensorError) as error:
        if isinstance(error, SbertError) and not isinstance(error.__cause__, OSError):
            raise
        cause = error.__cause__ or error
        reason = getattr(cause, "strerror", None) or cause
        raise ModelNotSaved(
            f"no model can be saved to {real(target)} ({reason}); make room there, or name another place"
        ) from error


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
