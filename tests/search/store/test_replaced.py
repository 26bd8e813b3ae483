"""Files of a store that are removed, replaced or named strangely: an index or a journal never joins another store."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest

from sbert.errors import BadInput, NotWritten
from sbert.search.index import faiss
from sbert.search.store import Document, SqliteStore, cache

from .conftest import FACTS


def documents(name, count, start=0):
    rows = np.random.default_rng(list(name.encode())).standard_normal((start + count, 4)).astype(np.float32)
    return [Document(f"{name} {i}", f"글 {name} {i}", {}, rows[i]) for i in range(start, start + count)]


def finds(store, some):
    """Return whether each document is the nearest one to its own vector, and no hit is missing."""
    for one in some:
        near = store.nearest(one.vector[None], 5).keys[0]
        found = store.read(near)
        if len(found) < 5 or found[int(near[0])].id != one.id:
            return False
    return True


def in_a_thread(function):
    results = []

    def run():
        try:
            results.append(function())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return results[0]


@pytest.fixture
def indexed(tmp_path, monkeypatch):
    """A store of 300 texts with an index on the disk, and the texts."""
    monkeypatch.setattr(cache, "EXACT_ROWS", 200)
    monkeypatch.setattr(faiss, "EXACT_ROWS", 50)
    store, some = SqliteStore(tmp_path / "저장소.db", FACTS), documents("첫", 300)
    store.put(some)
    store.save_index()
    return store, some


@pytest.mark.parametrize("count", [250, 300, 400])
def test_a_new_store_does_not_use_the_index_of_one_that_was_removed(indexed, count, caplog):
    old, _ = indexed
    old.close()
    old.path.unlink()
    store, some = SqliteStore(old.path, FACTS), documents("새", count)
    store.put(some)
    store.put(some[:1])
    assert finds(store, some[::40])
    assert "because it belongs to other rows than those of the store" in caplog.text
    assert store.check() == []


def test_a_restored_backup_does_not_use_a_later_index(indexed):
    store, _ = indexed
    store.close()
    backup = store.path.read_bytes()
    again = SqliteStore(store.path)
    for start in range(0, 120, 40):
        again.put(documents("später", 40, start))
    again.save_index()
    again.close()
    again.path.write_bytes(backup)
    restored = SqliteStore(store.path)
    for start in range(0, 200, 40):
        restored.put(documents("andere", 40, start))
    assert finds(restored, documents("andere", 200)[::20])
    assert restored.check() == []


def test_a_saved_index_does_not_bring_back_deleted_texts(indexed):
    store, some = indexed
    store.delete([one.id for one in some[:100]])
    store.put(documents("새", 60))
    store.save_index()
    assert store.index_facts()["not_yet_indexed"] == 0
    for reader in (store, SqliteStore(store.path)):
        assert finds(reader, some[100::30])
        assert all(len(reader.read(reader.nearest(one.vector[None], 9).keys[0])) == 9 for one in some[:20])


def test_a_new_store_does_not_take_up_the_journal_of_one_that_was_removed(tmp_path):
    old = SqliteStore(tmp_path / "faq.db", FACTS)
    old.put(documents("첫", 2))
    journal = Path(f"{old.path}-wal")
    left = journal.read_bytes()  # as a process leaves it that is killed
    old.close()
    old.path.unlink()
    journal.write_bytes(left)
    with pytest.raises(
        BadInput, match=r"faq\.db-wal' belongs to a store that does not exist any more; restore that store"
    ):
        SqliteStore(old.path, FACTS)
    journal.unlink()
    assert len(SqliteStore(old.path, FACTS)) == 0


@pytest.mark.parametrize("use", [len, lambda store: store.put(documents("새", 1))])
@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_was_removed_or_replaced_is_told_as_such(tmp_path, use, replaced):
    store = SqliteStore(tmp_path / "faq.db", FACTS)
    store.put(documents("첫", 2))
    if replaced:
        other = SqliteStore(tmp_path / "other.db", FACTS)
        other.close()
        other.path.replace(store.path)
    else:
        store.path.unlink()
    before = sorted(tmp_path.iterdir())
    with pytest.raises(NotWritten, match=r"faq\.db' was removed or replaced after it had been opened; open the store"):
        use(store)
    assert isinstance(in_a_thread(lambda: use(store)), NotWritten)
    assert sorted(tmp_path.iterdir()) == before  # no file was created by the way


def test_threads_find_a_store_wherever_the_process_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = SqliteStore("faq.db", FACTS)
    store.put(documents("첫", 2))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert in_a_thread(lambda: len(store)) == 2
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("name", [":memory:", "file:a.db?mode=memory", "a?b#c%41.db", "가 나\n.db", "\udcff.db", "-x"])
def test_every_name_is_only_the_name_of_a_file(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    SqliteStore(name, FACTS).put(documents("첫", 2))
    assert len(SqliteStore(name)) == 2
    assert os.path.isfile(name)


def test_a_link_to_a_place_without_a_store_gets_one_there(tmp_path):
    (tmp_path / "link.db").symlink_to(tmp_path / "faq.db")
    SqliteStore(tmp_path / "link.db", FACTS).put(documents("첫", 2))
    assert len(SqliteStore(tmp_path / "faq.db")) == 2
