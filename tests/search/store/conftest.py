"""Stores of every kind, so that each test of a store runs on all of them."""

from __future__ import annotations

import pytest

from sbert.search.store import PostgresStore, SqliteStore, StoreFacts, is_postgres

FACTS = StoreFacts("model", "fingerprint", 4, "cosine", "float32", morphemes=False)
KINDS = ("sqlite", "postgres")


def opened(place, facts=None):
    """Create a store or open it again."""
    return PostgresStore(place, facts) if is_postgres(place) else SqliteStore(place, facts)


@pytest.fixture(params=KINDS)
def kind(request):
    """Return the kind of a store."""
    return request.param


@pytest.fixture
def place(kind, tmp_path, request):
    """Return where a new store can be created."""
    if kind == "sqlite":
        yield tmp_path / "저장소.db"
        return
    server = request.getfixturevalue("postgres")
    place = server.place()
    yield place
    server.drop(place)


@pytest.fixture
def open_store(place):
    """Return a function that creates the store or opens it again."""

    def open_again(facts=FACTS):
        return opened(place, facts)

    return open_again
