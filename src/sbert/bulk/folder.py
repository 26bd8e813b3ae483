"""The folder that a job writes: a local one, or one in object storage, with the record of finished shards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Protocol

from sbert.bulk.inputs import is_address, located
from sbert.bulk.job import Entry
from sbert.disk.digest import digest, file_digest
from sbert.disk.drafts import sweep
from sbert.disk.files import whole_file
from sbert.disk.ledger import Ledger, Record
from sbert.disk.lock import locked
from sbert.errors import NotWritten

LEDGER = "shards.jsonl"
"""The file that records finished shards until the job is finished, one JSON object per line."""
_SEAL = "digest_of_record"
_LOCKS = {"run.lock", "run.pid"}


class Folder(Protocol):
    """The operations that a job needs on its output folder. Every file appears complete or not at all."""

    def held(self) -> AbstractContextManager[None]:
        """Create the folder, and lock it for this process if possible."""
        ...

    def location(self, name: str) -> str:
        """Return the path or the address of a file."""
        ...

    def names(self) -> set[str]:
        """Return the names of all files."""
        ...

    def write(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """Open a new file that takes its name when the block ends without an error."""
        ...

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """Open a seekable file for reading."""
        ...

    def digest(self, name: str) -> str:
        """Return the SHA-256 of a file."""
        ...

    def size(self, name: str) -> int:
        """Return the number of bytes of a file."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file if it exists."""
        ...

    def append(self, entry: Entry) -> None:
        """Record a finished shard; the record is durable when this returns."""
        ...

    def entries(self) -> list[Entry]:
        """Return the records of finished shards."""
        ...

    def forget(self) -> None:
        """Remove the records of finished shards."""
        ...


class LocalFolder:
    """A folder on a local disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ledger = Ledger(path / LEDGER)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Create and lock the folder, and remove drafts that dead processes left."""
        with locked(self.path):
            sweep(self.path)
            try:
                yield
            finally:
                sweep(self.path)

    def location(self, name: str) -> str:
        """Return the path of a file."""
        return str((self.path / name).absolute())

    def names(self) -> set[str]:
        """Return the names of all files except those of the lock."""
        if not self.path.is_dir():
            return set()
        return {path.name for path in self.path.iterdir()} - _LOCKS

    def write(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """Open a new file that takes its name when the block ends without an error."""
        return whole_file(self.path / name)

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """Open a file."""
        return (self.path / name).open("rb")

    def digest(self, name: str) -> str:
        """Return the SHA-256 of a file."""
        return file_digest(self.path / name)

    def size(self, name: str) -> int:
        """Return the number of bytes of a file."""
        return (self.path / name).stat().st_size

    def remove(self, name: str) -> None:
        """Remove a file if it exists."""
        (self.path / name).unlink(missing_ok=True)

    def append(self, entry: Entry) -> None:
        """Add a line to the ledger."""
        try:
            self._ledger.append(sealed(asdict(entry)))
        except OSError as error:
            raise NotWritten(
                f"{self._ledger.path} could not be written ({error.strerror}); the finished shards are intact: make "
                "room, and run the same command again"
            ) from None

    def entries(self) -> list[Entry]:
        """Read the ledger; a line that was changed counts as missing."""
        return [Entry(**record) for line in self._ledger.read() if (record := unsealed(line)) is not None]

    def forget(self) -> None:
        """Remove the ledger."""
        self.remove(LEDGER)


def folder_at(location: str) -> Folder:
    """Return the folder at a path, or at an address such as ``s3://bucket/vectors``."""
    if is_address(location):
        from sbert.bulk.objects import ObjectFolder

        return ObjectFolder(location, *located(location))
    return LocalFolder(Path(location).expanduser())


def read_json(folder: Folder, name: str) -> Record | None:
    """Return the contents of a JSON file, or None if it is missing or damaged."""
    try:
        with folder.open(name) as file:
            found = json.loads(file.read())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def write_json(folder: Folder, name: str, value: Record) -> None:
    """Write a JSON file with its seal. Halves of surrogate pairs, as in names of files, are escaped."""
    with folder.write(name) as file:
        text = json.dumps(sealed(value), indent=1, ensure_ascii=False)
        file.write(f"{text}\n".encode(errors="backslashreplace"))


def sealed(record: Record) -> Record:
    """Add the digest of a record.

    >>> unsealed(sealed({"rows": 1})), unsealed({**sealed({"rows": 1}), "rows": 2})
    ({'rows': 1}, None)
    """
    return {**record, _SEAL: digest(json.dumps(record, sort_keys=True))}


def unsealed(record: Record) -> Record | None:
    """Return a record without its digest, or None if anything in it was changed."""
    content = {name: value for name, value in record.items() if name != _SEAL}
    try:
        return content if sealed(content) == record else None
    except RecursionError:  # lists in lists that no job wrote
        return None
