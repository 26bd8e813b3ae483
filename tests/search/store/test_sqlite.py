"""What only a store in an SQLite file does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sbert.errors import NotWritten
from sbert.search.filters import read_filter
from sbert.search.store import Document, SqliteStore, StoreFacts, cache, database

FACTS = StoreFacts("model", "fingerprint", 4, "cosine", "float32", morphemes=False)
HOLD = """
import sys
from pathlib import Path
from sbert.search.store.database import Database
with Database(Path(sys.argv[1])).writing():
    print("writing", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "WAIT_SECONDS", 0.2)
    return SqliteStore(tmp_path / "저장소.db", FACTS)


def vectors(count):
    return np.random.default_rng(count).standard_normal((count, 4)).astype(np.float32)


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="the system does not tell who holds a lock")
def test_a_second_writer_is_told_which_process_writes(store):
    command = [sys.executable, "-c", HOLD, str(store.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout.readline() == b"writing\n"
        with pytest.raises(NotWritten, match=f"^process {writer.pid} has been writing to '.*저장소.db' for 0 seconds"):
            store.delete(["없음"])
        writer.communicate()
    assert store.delete(["없음"]) == 0


def test_a_search_without_changes_does_not_count_the_rows(store, monkeypatch):
    store.put([Document(row, f"글 {row}", vector=vector) for row, vector in enumerate(vectors(5))])
    store.nearest(vectors(1), 2)
    monkeypatch.setattr(cache.CachedIndex, "_apply", lambda *_: pytest.fail("the changes were read"))
    monkeypatch.setattr(SqliteStore, "changes", lambda *_: pytest.fail("the changes were read"))
    assert len(store.nearest(vectors(1), 2).keys[0]) == 2


def test_the_rows_of_a_filter_are_remembered_until_the_store_changes(store):
    rows = [Document(row, f"글 {row}", {"값": row}, vector) for row, vector in enumerate(vectors(5))]
    store.put([*rows, Document("참", "참", {"값": True}, vectors(1)[0])])

    def found(expression):
        return {document.id for document in store.read(nearest(expression).keys[0]).values()}

    def nearest(expression):
        return store.nearest(vectors(1), 9, read_filter(expression))

    assert found("값 = 1") == found("값 = 1") == {1}
    assert found("값 = true") == {"참"}
    store.put([Document("새", "새 글", {"값": 1}, vectors(2)[1])])
    assert found("값 = 1") == {1, "새"}
    store.delete([1])
    assert found("값 = 1") == {"새"}
    for number in range(40):
        assert nearest(f"값 >= {number}").compared == sum(value >= number for value in range(5))
