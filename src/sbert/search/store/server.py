"""A PostgreSQL server: connections for threads and forked processes, whole transactions, and errors in one sentence.

Every thread has its own connection, which closes when the thread ends. Settings apply to one transaction only, and
statements are not prepared, so that a store also works behind a connection pooler. Messages never show a password.
"""

from __future__ import annotations

import hashlib
import os
import socket
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from sbert.errors import BadInput, BadModel, NotWritten, SbertError, shown
from sbert.search.store.store import decoding

if TYPE_CHECKING:
    import psycopg

WAIT_SECONDS = 30.0
"""Time that a writer waits for another writer."""
DEFAULT_SCHEMA = "sbert"
_MOST_NAME_BYTES = 63  # PostgreSQL truncates longer names without an error
_INHERITED: list[object] = []  # connections of a parent process, which must stay open in its children
_WRITER = """
SELECT pid, application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND datname = current_database() AND objsubid = 1
    AND (classid::bigint << 32) + objid::bigint = %s
"""
_INTACT = "the stored data is intact"
_SENTENCES: dict[str, tuple[type[SbertError], str]] = {  # by the beginning of the SQLSTATE; the longest match is used
    "": (NotWritten, f"a statement for {{where}} failed ({{why}}); {_INTACT}"),
    "22": (BadInput, "{where} cannot store a value ({why}); change it or leave it out"),
    "54": (BadInput, "{where} cannot store a value ({why}); change it or leave it out"),
    "25006": (NotWritten, f"{{where}} can only be read ({{why}}); {_INTACT}"),
    "40": (NotWritten, f"the server of {{where}} ended a transaction ({{why}}); {_INTACT}, so try again"),
    "42501": (NotWritten, f"{{where}} does not permit this user to do that ({{why}}); {_INTACT}"),
    "42P07": (BadInput, "{where} holds tables of another program ({why}); name another schema, as in ...#faq"),
    "42": (BadModel, "{where} is damaged or not a store ({why}); restore it from a backup, or index again"),
    "3F": (BadModel, "{where} is damaged or not a store ({why}); restore it from a backup, or index again"),
    "XX": (BadModel, "{where} is damaged ({why}); restore it from a backup, or index again"),
    "53": (NotWritten, f"the server of {{where}} has no memory or connections left ({{why}}); {_INTACT}"),
    "53100": (NotWritten, "the disk of {where} is full ({why}), but the stored data is intact; free some space"),
    "23": (BadModel, "{where} is damaged or not a store ({why}); restore it from a backup, or index again"),
    "57": (NotWritten, f"the server of {{where}} ended a statement ({{why}}); {_INTACT}, so try again"),
}


class Address(NamedTuple):
    """The location of a store: a database and a schema in it."""

    parameters: dict[str, Any]
    schema: str
    shown: str
    """The address for display, without user and password."""

    @classmethod
    def read(cls, url: str) -> Address:
        """Read an address such as ``postgresql://host/database#schema``."""
        driver = imported()
        url = url.encode(errors="replace").decode()  # the command line may contain lone surrogates
        place, _, fragment = url.partition("#")
        schema = unquote(fragment) or DEFAULT_SCHEMA
        named = schema.isprintable() and not {"@", "/"} & set(schema) and not schema.startswith("pg_")
        if not named or len(schema.encode()) > _MOST_NAME_BYTES:
            raise BadInput(
                "the address of the store has an unusable schema after '#', but a name of at most "
                f"{_MOST_NAME_BYTES} bytes without '@' and '/' is expected; write '#' in a password as %23"
            )
        try:
            given = driver.conninfo.conninfo_to_dict(place)
        except driver.Error:  # its message may show the password
            raise BadInput(
                "the address of the store cannot be read, but must look like postgresql://user@host/database"
            ) from None
        host, port = given.get("host") or given.get("hostaddr") or "", given.get("port")
        where = f"postgresql://{host}{f':{port}' if port else ''}/{given.get('dbname', '')}#{schema}"
        defaults = {
            "application_name": f"sbert process {os.getpid()} on {socket.gethostname()}"[:_MOST_NAME_BYTES],
            "connect_timeout": "10",
            "tcp_user_timeout": "60000",
        }
        return cls({**defaults, **given, "client_encoding": "utf8"}, schema, where)

    @property
    def lock(self) -> int:
        """The number of the lock that a writer of this store acquires."""
        digest = hashlib.blake2b(f"sbert {self.schema}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big", signed=True)


class Server:
    """A database with the tables of a store in a schema of their own. Threads and processes may share it."""

    def __init__(self, url: str) -> None:
        self._driver = imported()
        self._url = url
        self.address = Address.read(url)
        self.extension_schema = "public"
        """The schema of the types of pgvector."""
        self._local = threading.local()

    @contextmanager
    def reading(self) -> Iterator[psycopg.Connection[Any]]:
        """Read one state of the tables."""
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[psycopg.Connection[Any]]:
        """Read one state of the tables on a separate connection, while the thread continues to read and write."""
        other = Server(self._url)
        other.extension_schema = self.extension_schema
        try:
            with other.reading() as connection:
                yield connection
        finally:
            other.close()

    @contextmanager
    def writing(self) -> Iterator[psycopg.Connection[Any]]:
        """Change the tables completely or, after an error, not at all, with an exclusive lock."""
        with self._transaction("BEGIN") as connection:
            connection.execute(
                "SELECT set_config('lock_timeout', %s, true), set_config('synchronous_commit', "
                "replace(current_setting('synchronous_commit'), 'off', 'on'), true)",
                (f"{round(1000 * WAIT_SECONDS)}ms",),
            )
            connection.execute("SELECT pg_advisory_xact_lock(%s::bigint)", (self.address.lock,))
            yield connection

    def vacuum(self) -> None:
        """Make the space of deleted rows available again, and update the statistics of the query planner."""
        query = self._driver.sql.SQL("VACUUM (ANALYZE) {}")
        with self._explaining():
            self._connected().execute(query.format(self._driver.sql.Identifier(self.address.schema, "rows")))

    def close(self) -> None:
        """Close the connection of the calling thread."""
        self._local.__dict__.pop("session", None)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[psycopg.Connection[Any]]:
        with self._explaining() as progress:
            try:  # An interrupt may arrive after the transaction has begun, but before execute() returns.
                connection = self._begun(begin)
                yield connection
                progress.committing = True
                connection.execute("COMMIT")
            except BaseException:
                self._end_transaction()
                raise

    def _end_transaction(self) -> None:
        """Roll back the transaction of the calling thread, or close its connection if this fails."""
        session: _Session | None = getattr(self._local, "session", None)
        if session is not None and session.process == os.getpid() and not session.is_idle():
            with suppress(self._driver.Error):
                session.connection.execute("ROLLBACK")
            if not session.is_idle():
                self._local.__dict__.pop("session", None)

    def _begun(self, begin: str) -> psycopg.Connection[Any]:
        """Begin a transaction, on a new connection if the server was restarted since the last one."""
        sql = self._driver.sql
        schemas = map(sql.Identifier, (self.address.schema, self.extension_schema, "pg_temp"))
        query = sql.SQL("{}; SET LOCAL search_path TO {}").format(
            sql.SQL(begin),
            sql.SQL(", ").join(schemas),
        )
        used = "session" in self._local.__dict__
        connection = self._connected()
        try:
            connection.execute(query)
        except self._driver.OperationalError:
            if not used or not connection.closed:
                raise
            connection = self._connected()
            connection.execute(query)
        return connection

    def _connected(self) -> psycopg.Connection[Any]:
        """Return the connection of the calling thread, without a transaction; a forked process gets a new one."""
        self._end_transaction()  # in case an interrupt arrived before the end of the last one
        session: _Session | None = getattr(self._local, "session", None)
        if session is None or session.process != os.getpid() or session.connection.closed:
            if session is not None and session.process != os.getpid():
                self.address = Address.read(self._url)  # the application name contains the process id
            try:
                made = self._driver.connect(autocommit=True, prepare_threshold=None, **self.address.parameters)
            except self._driver.Error as error:
                raise NotWritten(
                    f"{self.address.shown} cannot be reached ({_why(error)}); check the address, and that the server "
                    "runs"
                ) from None
            session = self._local.session = _Session(made)
        return session.connection

    @contextmanager
    def _explaining(self) -> Iterator[_Progress]:
        """Convert the errors of psycopg to errors with one sentence."""
        progress = _Progress()
        try:
            with decoding(self.address.shown):
                yield progress
        except self._driver.Error as error:
            raise self._explained(error, progress.committing) from None
        finally:
            session = getattr(self._local, "session", None)
            if session is not None and session.connection.closed:
                self.close()

    def _explained(self, error: psycopg.Error, committing: bool) -> Exception:
        state, where, why = error.sqlstate or "", self.address.shown, _why(error)
        session: _Session | None = getattr(self._local, "session", None)
        if session is None or session.connection.closed:
            outcome = "nothing was changed"
            if committing:
                outcome = "the change, which was being completed, is stored completely or not at all"
            return NotWritten(
                f"the connection to {where} was lost ({why}); {outcome}, so repeat it when the server is back"
            )
        if state == "55P03":
            return self._blocked_by_writer()
        kind, sentence = _SENTENCES[max((start for start in _SENTENCES if state.startswith(start)), key=len)]
        return kind(sentence.format(where=where, why=why))

    def _blocked_by_writer(self) -> NotWritten:
        writer = None
        with suppress(self._driver.Error):
            writer = self._connected().execute(_WRITER, (self.address.lock,)).fetchone()
        who = "another process" if writer is None else f"{writer[1] or 'another process'} (server process {writer[0]})"
        return NotWritten(
            f"{who} has been writing to {self.address.shown} for {WAIT_SECONDS:.0f} seconds; wait for it to end"
        )


class _Progress:
    """Whether a transaction is being committed."""

    committing = False


class _Session:
    """A connection that closes with its thread, but only in the process that opened it."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection, self.process = connection, os.getpid()
        weakref.finalize(self, _finish, connection, self.process)

    def is_idle(self) -> bool:
        """Return whether the connection is open and has no transaction."""
        return bool(self.connection.info.transaction_status == imported().pq.TransactionStatus.IDLE)


def _finish(connection: psycopg.Connection[Any], process: int) -> None:
    if process == os.getpid():
        connection.close()
    else:  # closing it would end the session of the parent process
        _INHERITED.append(connection)


def imported() -> Any:
    """Import psycopg, which only stores in PostgreSQL need."""
    try:
        import psycopg
        import psycopg.sql
    except ImportError:
        raise BadInput(
            "a store in PostgreSQL needs psycopg, which is not installed; run: pip install 'sbert[postgres]'"
        ) from None
    return psycopg


def _why(error: psycopg.Error) -> str:
    """Return the first line of the message of the server."""
    said = error.diag.message_primary or str(error)
    return shown(said.strip().partition("\n")[0], limit=200)
