"""Stores of every kind, so that each test of a store runs on all of them."""

from __future__ import annotations

import pytest

from sbert.search.store import SqliteStore, StoreFacts

FACTS = StoreFacts("model", "fingerprint", 4, "cosine", "float32", morphemes=False)


@pytest.fixture
def place(tmp_path):
    """Return where a new store can be created."""
    return tmp_path / "저장소.db"


@pytest.fixture
def open_store(place):
    """Return a function that creates the store or opens it again."""

    def open_again(facts=FACTS):
        return SqliteStore(place, facts)

    return open_again
