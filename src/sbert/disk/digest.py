"""SHA-256 digests of files and of plain values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_BLOCK = 1 << 20


def digest(value: object) -> str:
    """Return the digest of the ``repr`` of plain values: texts, numbers, and tuples, lists or dictionaries of them.

    >>> digest(("가", 1))[:10]
    'b92a81b5a3'
    """
    return hashlib.sha256(repr(value).encode()).hexdigest()


def file_digest(path: Path) -> str:
    """Return the digest of a file's contents. A file is read again in the same process only after it has changed."""
    status = path.stat()
    return _read(path, status.st_mtime_ns, status.st_size)


def files_digest(paths: Iterable[Path]) -> str:
    """Return one digest of the names and contents of several files, which does not depend on their order."""
    return digest(sorted((path.name, file_digest(path)) for path in paths))


@cache
def _read(path: Path, _modified: int, _size: int) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()
