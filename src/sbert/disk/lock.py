"""Reserves a folder for one process at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from sbert.disk.files import check_folder
from sbert.errors import BadInput, RunInUse


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Create ``folder`` and hold it for this process; the system releases it when the process ends, however it ends.

    A folder that was created here is removed again if nothing was written to it. Raises RunInUse with
    the number of the process that holds the folder already.
    """
    check_folder(folder)
    created = not os.path.exists(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{folder} cannot be created ({error.strerror}); name another place") from None
    owner = folder / "run.pid"
    try:
        with FileLock(folder / "run.lock", timeout=0):
            owner.write_text(f"{os.getpid()}\n")
            try:
                yield
            finally:
                owner.unlink(missing_ok=True)
                if created and [path.name for path in folder.iterdir()] == ["run.lock"]:
                    (folder / "run.lock").unlink()
                    folder.rmdir()
    except Timeout:
        pid = owner.read_text().strip() if owner.is_file() else "unknown"
        raise RunInUse(f"{folder} is in use by process {pid}; wait for it, stop it, or name another folder") from None
