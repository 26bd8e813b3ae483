"""Hidden folders in which files are written before they get their names.

A draft lies beside its target, so that a rename within one file system puts the result in place. The process that
writes holds a lock on its draft, and the system releases the lock when the process ends, however it ends: a draft
that nobody holds was left by a dead process, and the next writer in the same folder removes it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

_PREFIX, _SUFFIX = ".sbert-", ".tmp"
_STALE_SECONDS = 24 * 60 * 60
"""Age from which a draft counts as abandoned on systems without file locks."""
OLD = "old"
"""Subfolder of a draft that holds a folder which is being replaced, under its own name."""


@contextmanager
def draft(parent: Path) -> Iterator[Path]:
    """Create a locked, private folder in ``parent`` and remove it with all its contents at the end."""
    sweep(parent)
    with ExitStack() as locks:
        folder = _create(parent, locks)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def sweep(parent: Path) -> None:
    """Remove the drafts in ``parent`` that dead processes left, and restore folders they had set aside."""
    for folder in parent.glob(f"{_PREFIX}*{_SUFFIX}"):
        is_file = folder.is_file()  # written by versions before drafts were folders
        if (is_file or fcntl is None) and not _is_stale(folder):
            continue
        if is_file:
            folder.unlink(missing_ok=True)
            continue
        with suppress(OSError), held(folder, wait=False):
            for old in (folder / OLD).glob("*"):  # set aside by a process that was killed between two renames
                if not (parent / old.name).exists():
                    old.rename(parent / old.name)
            shutil.rmtree(folder, ignore_errors=True)


def _create(parent: Path, locks: ExitStack) -> Path:
    while True:
        folder = parent / f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"
        folder.mkdir(mode=0o700)
        with suppress(FileNotFoundError):  # another process may sweep the folder before it is locked
            locks.enter_context(held(folder, wait=True))
            if folder.exists():
                return folder


@contextmanager
def held(folder: Path, wait: bool) -> Iterator[None]:
    """Hold a folder; raise OSError if it is gone or, unless ``wait``, if another process holds it."""
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _is_stale(path: Path) -> bool:
    with suppress(FileNotFoundError):
        return time.time() - path.stat().st_mtime > _STALE_SECONDS
    return False
