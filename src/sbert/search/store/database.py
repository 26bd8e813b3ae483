"""An SQLite file: connections for threads and forked processes, whole transactions, and errors in one sentence."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sbert.disk.drafts import draft, held
from sbert.disk.files import sync
from sbert.errors import BadInput, NotWritten
from sbert.search.store.store import damaged, decoding

FORMAT = 3
"""Version of the tables. A store of another version is refused."""
WAIT_SECONDS = 30.0
"""Time that a writer waits for another writer."""
_APPLICATION = 0x53424552  # "SBER", in the header of the file
_WRITE_LOCK = "120"  # the byte of the file -shm that SQLite locks while it writes


class Database:
    """A file with the tables of a store. Threads and processes may use it at the same time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._file = _identity(path)
        self._check()

    @classmethod
    def create(cls, path: Path, schema: str, facts: Mapping[str, Any]) -> None:
        """Create a file with tables and the rows of the table ``facts``, completely or not at all."""
        with _explained(path), draft(path.parent) as folder:
            new = folder / "new"
            connection = sqlite3.connect(new, isolation_level=None)
            try:
                connection.executescript(
                    f"PRAGMA journal_mode = WAL; PRAGMA application_id = {_APPLICATION}; "
                    f"PRAGMA user_version = {FORMAT}; {schema}"
                )
                connection.executemany("INSERT INTO facts (name, value) VALUES (?, ?)", facts.items())
            finally:
                connection.close()
            with held(path.parent, wait=True):
                if not path.exists():  # otherwise another process was faster
                    _check_no_journal(path)
                    os.link(new, path)
            sync(path.parent)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read one state of the tables."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Change the tables completely or, after an error, not at all; each change starts a new generation."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection
            connection.execute("UPDATE facts SET value = value + 1 WHERE name = 'generation'")

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Read one state of the tables on a separate connection, while the thread continues to read and write."""
        with _explained(self.path):
            connection = self._connected()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                connection.close()

    def vacuum(self) -> None:
        """Free the space of deleted rows."""
        with _explained(self.path):
            self._connection().execute("VACUUM")
            self._connection().execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def damage(self) -> list[str]:
        """Return the problems that SQLite finds in the file."""
        with self.reading() as connection:
            found = [row[0] for row in connection.execute("PRAGMA integrity_check(10)")]
        return [] if found == ["ok"] else found

    def close(self) -> None:
        """Close the connection of the calling thread."""
        connection = self._local.__dict__.pop("connection", None)
        if connection is not None:
            connection.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with _explained(self.path):
            connection = self._connection()
            try:  # An interrupt may arrive after the transaction has begun, but before execute() returns.
                connection.execute(begin)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    def _connection(self) -> sqlite3.Connection:
        """Return the connection of the calling thread, without a transaction; a forked process gets a new one."""
        self._check_place()
        local = self._local
        if getattr(local, "process", None) != os.getpid():
            # The connection of a parent process is not closed here, because this would release the parent's locks.
            local.parent = local.__dict__.pop("connection", None)
            local.process = os.getpid()
        if not hasattr(local, "connection"):
            local.connection = self._connected()
        connection: sqlite3.Connection = local.connection
        if connection.in_transaction:  # an interrupt arrived before the end of the last one
            connection.execute("ROLLBACK")
        return connection

    def _connected(self) -> sqlite3.Connection:
        """Return a new connection. Any thread can close it, because a generator may be closed by another thread."""
        self._check_place()
        place = f"{self.path.absolute().as_uri()}?mode=rw"  # never creates a file, and no name is special
        made = sqlite3.connect(place, uri=True, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False)
        made.execute("PRAGMA synchronous = FULL")
        return made

    def _check_place(self) -> None:
        if _identity(self.path) != self._file:
            raise NotWritten(
                f"{str(self.path)!r} was removed or replaced after it had been opened; open the store again"
            )

    def _check(self) -> None:
        if self.path.exists() and not self.path.is_file():
            raise BadInput(f"{str(self.path)!r} is not a file, but a store is one; name a file")
        if not self.path.is_file():
            raise BadInput(f"there is no store {str(self.path)!r}; create one with sbert index --store {self.path}")
        with self.reading() as connection:
            ((application,),) = connection.execute("PRAGMA application_id")
            ((version,),) = connection.execute("PRAGMA user_version")
        if application != _APPLICATION:
            raise BadInput(f"{str(self.path)!r} is an SQLite file of another program; name a store or a new file")
        if version > FORMAT:
            raise BadInput(
                f"{str(self.path)!r} has format {version}, but this version of sbert reads formats up to {FORMAT}; "
                "install a newer version"
            )
        if version < FORMAT:
            raise BadInput(
                f"{str(self.path)!r} has format {version} of a version of sbert that was never released; index its "
                "texts again into a new file"
            )


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Convert the errors of SQLite to errors with one sentence."""
    try:
        with decoding(path):
            yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "") or ""
        if name.startswith("SQLITE_BUSY"):
            raise NotWritten(
                f"{_writer(path)} has been writing to {str(path)!r} for {WAIT_SECONDS:.0f} seconds; wait for it to end"
            ) from None
        if name.startswith("SQLITE_FULL"):
            raise NotWritten(
                f"the disk of {str(path)!r} is full, but the stored data is intact; free some space"
            ) from None
        if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_IOERR")):
            raise NotWritten(
                f"{str(path)!r} cannot be opened or written ({error}); the stored data is intact"
            ) from None
        if isinstance(error, sqlite3.ProgrammingError):
            raise
        raise damaged(path, str(error)) from None


def _check_no_journal(path: Path) -> None:
    """Raise an error if the journal of a missing file exists, because SQLite would add its rows to a new file."""
    for journal in (Path(f"{path}-wal"), Path(f"{path}-journal")):
        if journal.exists():
            raise BadInput(
                f"{str(journal)!r} belongs to a store that does not exist any more; restore that store, or remove "
                "the journal"
            )


def _identity(path: Path) -> tuple[int, int] | None:
    """Return numbers that identify the file, or None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _writer(path: Path) -> str:
    """Return a description of the process that writes to the file, with its number on Linux."""
    try:
        inode = Path(f"{path}-shm").stat().st_ino
        locks = [line.split() for line in Path("/proc/locks").read_text(encoding="ascii").splitlines()]
    except OSError:
        return "another process"
    # A line such as "1: POSIX ADVISORY WRITE 4711 fe:00:1234 120 120": the process, the file, the first and last byte.
    written = (lock for lock in locks if lock[3] == "WRITE" and lock[6:] == [_WRITE_LOCK] * 2)
    process = next((lock[4] for lock in written if int(lock[5].rpartition(":")[2]) == inode), None)
    if process == str(os.getpid()):
        return "another thread of this process"
    return "another process" if process is None else f"process {process}"
