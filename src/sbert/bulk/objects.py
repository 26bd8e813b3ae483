"""A folder in object storage such as S3, through the file systems of pyarrow.

An object appears only after it has been written completely. Object storage has no locks and cannot append to an
object, so two jobs with the same folder are not detected, and each finished shard is recorded by a separate object.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import IO, Any

from sbert.bulk.folder import read_json, sealed, unsealed
from sbert.bulk.inputs import reading
from sbert.bulk.job import Entry
from sbert.errors import NotWritten

_DONE = ".done.json"
_BLOCK = 1 << 20


class ObjectFolder:
    """A folder at an address: see :class:`~sbert.bulk.folder.Folder`."""

    def __init__(self, address: str, system: Any, path: str) -> None:
        self._address, self._system, self._path = address.rstrip("/"), system, path.rstrip("/")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Create the folder."""
        with self._writing(""):
            self._system.create_dir(self._path, recursive=True)
        yield

    def location(self, name: str) -> str:
        """Return the address of an object."""
        return f"{self._address}/{name}"

    def names(self) -> set[str]:
        """Return the names of all objects."""
        from pyarrow import fs

        with reading(self._address):
            found = self._system.get_file_info(fs.FileSelector(self._path, allow_not_found=True))
        return {info.base_name for info in found}

    @contextmanager
    def write(self, name: str) -> Iterator[IO[bytes]]:
        """Open a new object, which is removed if an error occurs."""
        with self._writing(name):
            try:
                with self._system.open_output_stream(self._at(name), compression=None) as file:
                    yield file
            except BaseException:
                with suppress(OSError):
                    self._system.delete_file(self._at(name))
                raise

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Open an object."""
        with self._system.open_input_file(self._at(name)) as file:
            yield file

    def digest(self, name: str) -> str:
        """Return the SHA-256 of an object."""
        found = hashlib.sha256()
        with self.open(name) as file:
            while block := file.read(_BLOCK):
                found.update(block)
        return found.hexdigest()

    def size(self, name: str) -> int:
        """Return the number of bytes of an object."""
        return int(self._system.get_file_info(self._at(name)).size or 0)

    def remove(self, name: str) -> None:
        """Remove an object if it exists."""
        with suppress(FileNotFoundError):
            self._system.delete_file(self._at(name))

    def append(self, entry: Entry) -> None:
        """Write an object that records a finished shard."""
        with self.write(f"{entry.file}{_DONE}") as file:
            file.write(json.dumps(sealed(asdict(entry))).encode())

    def entries(self) -> list[Entry]:
        """Read the records of finished shards; a damaged record counts as missing."""
        entries = []
        for name in sorted(self.names()):
            if name.endswith(_DONE):
                record = unsealed(read_json(self, name) or {})
                if record is not None:
                    entries.append(Entry(**record))
        return entries

    def forget(self) -> None:
        """Remove the records of finished shards."""
        for name in self.names():
            if name.endswith(_DONE):
                self.remove(name)

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}"

    @contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            why = next(iter(str(error).splitlines()), "")[:200]
            raise NotWritten(
                f"{self.location(name)} could not be written ({why}); the finished shards are intact: run the same "
                "command again"
            ) from None
