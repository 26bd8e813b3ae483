"""Files and folders that appear whole or not at all. Works on bytes and paths only.

Everything is written into a draft (see :mod:`sbert.disk.drafts`), brought to the disk with ``fsync``, and renamed; the
folder that holds the new name is brought to the disk, too. A process killed at any instant leaves the old file or the
new one. Symbolic links are followed, and the permissions of what is replaced are kept.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from sbert.disk.drafts import OLD, draft
from sbert.errors import BadInput, NotWritten

_DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file that takes its name when the block ends without an error.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder, "가.txt")) as file:
    ...         _ = file.write("나".encode())
    ...     Path(folder, "가.txt").read_text(encoding="utf-8")
    '나'
    """
    target = real(path)
    with _explained(target), draft(target.parent) as folder:
        new = folder / "new"
        with new.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _keep_mode(target, new)
        new.replace(target)
        sync(target.parent)


@contextmanager
def whole_folder(target: Path, check: Callable[[Path], None] | None = None) -> Iterator[Path]:
    """Create a folder to write into, which takes the place of ``target`` when the block ends without an error.

    Args:
        target: The folder to create or to replace; a file is refused. Missing parents are created.
        check: Called with the resolved target before anything is written; raises where it must not be replaced.
    """
    target = real(target)
    if check is not None:
        check(target)
    check_folder(target)
    with _explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with draft(target.parent) as folder:
            new = folder / "new"
            new.mkdir()
            yield new
            readable = new.stat().st_mode & 0o666
            _keep_mode(target, new)
            for path in new.rglob("*"):
                if path.is_file():
                    path.chmod(readable)  # some libraries create files for their owner alone
                sync(path)
            sync(new)
            _put_in_place(new, target, folder)
            sync(target.parent)


def check_folder(folder: Path) -> None:
    """Raise BadInput where a file stands in the way of ``folder`` or of one of its parents."""
    nearest = next((place for place in (folder, *folder.parents) if os.path.exists(place)), folder)
    if os.path.exists(nearest) and not os.path.isdir(nearest):
        raise BadInput(f"{nearest} is a file, but a folder is needed there; remove it, or name another output")


def write_bytes(path: Path, content: bytes) -> None:
    """Write a whole file."""
    with whole_file(path) as file:
        file.write(content)


def write_json(path: Path, value: object) -> None:
    """Write ``value`` as an indented JSON file in UTF-8."""
    write_bytes(path, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())


def check_writable(path: Path) -> None:
    """Raise BadInput unless a file can be written at ``path``, so that this is known before any work."""
    target = real(path)
    try:
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(target.stat().st_mode):
                raise BadInput(f"the output {str(path)!r} exists and is not a file; name another one")
        with draft(target.parent) as folder:
            (folder / "new").touch()
    except OSError as error:
        way = "choose another place" if target.parent.is_dir() else "create the folder first"
        raise BadInput(f"cannot write {str(path)!r}: {error.strerror} ({str(target.parent)!r}); {way}") from None


def real(path: Path) -> Path:
    """Resolve links and ``~``, so that a link to a target stays a link and "." has a name."""
    return Path(os.path.realpath(path.expanduser()))


def sync(path: Path) -> None:
    """Bring a file or a folder to the disk."""
    if os.name != "posix" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _explained(target: Path) -> Iterator[None]:
    """Say which file a full disk concerns, and that what was there is intact."""
    try:
        yield
    except OSError as error:
        if error.errno not in _DISK_FULL:
            raise
        raise NotWritten(
            f"{target} could not be written ({error.strerror}); nothing was changed: make room, or name another place"
        ) from error


def _keep_mode(target: Path, new: Path) -> None:
    with suppress(FileNotFoundError):
        new.chmod(stat.S_IMODE(target.stat().st_mode))


def _put_in_place(new: Path, target: Path, folder: Path) -> None:
    if not target.exists():
        new.rename(target)
        return
    if _exchange(new, target):
        return
    # The system cannot exchange two folders at once. The old folder waits in the draft under its own name, from where
    # it is restored if this process is killed between the two renames.
    aside = folder / OLD / target.name
    aside.parent.mkdir()
    target.rename(aside)
    try:
        new.rename(target)
    except OSError:
        aside.rename(target)
        raise


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two paths in one step, so that a reader sees one or the other; False where the system cannot."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if os.name == "posix" else None
    if rename is None:
        return False
    done: int = rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE)
    return done == 0
