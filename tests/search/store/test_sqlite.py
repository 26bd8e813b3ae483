"""What only a store in an SQLite file does."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sbert.errors import BadInput, BadModel, NotWritten
from sbert.search.filters import read_filter
from sbert.search.index import faiss
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


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE rows SET id = '['",
        "UPDATE rows SET text = x'ff'",
        "UPDATE rows SET metadata = '[1'",
        "UPDATE rows SET metadata = '7'",
        "UPDATE rows SET vector = x'00'",
        "UPDATE facts SET value = 'many' WHERE name = 'dimension'",
        "UPDATE facts SET value = 'nearness' WHERE name = 'similarity'",
        "UPDATE facts SET value = 'none' WHERE name = 'generation'",
        "DELETE FROM facts WHERE name = 'precision'",
        "DROP TABLE rows",
    ],
)
def test_a_damaged_store_is_told_as_such(store, damage):
    store.put([Document("가", "글", {"값": 1}, vectors(1)[0])])
    store.close()
    with sqlite3.connect(store.path) as connection:
        connection.execute(damage)
    connection.close()
    with pytest.raises(BadModel, match=r"저장소\.db' is damaged or not a store .*; restore it from a backup"):
        list(SqliteStore(store.path))


@pytest.fixture
def indexed_vectors(tmp_path, monkeypatch):
    """A store of 200 texts with an index on the disk, and their vectors."""
    monkeypatch.setattr(cache, "EXACT_ROWS", 100)
    monkeypatch.setattr(faiss, "EXACT_ROWS", 50)
    store = SqliteStore(tmp_path / "저장소.db", FACTS)
    found = vectors(200)
    store.put([Document(row, f"글 {row}", vector=vector) for row, vector in enumerate(found)])
    store.save_index()
    return store, found


@pytest.mark.parametrize("use", ["search", "save"])
def test_an_index_with_damaged_vectors_is_built_again(indexed_vectors, use, caplog):
    store, found = indexed_vectors
    damaged = Path(f"{store.path}-index/vectors.bin")
    damaged.write_bytes(bytes(len(damaged.read_bytes())))
    again = SqliteStore(store.path)
    if use == "save":
        again.put([Document(1000 + row, f"새 글 {row}", vector=vector) for row, vector in enumerate(vectors(60))])
        again.save_index()
    for row in (0, 77, 199):
        nearest = again.nearest(found[row : row + 1], 1)
        assert again.read(nearest.keys[0])[int(nearest.keys[0][0])].id == row
        assert nearest.scores[0][0] == 1
    assert sum("are damaged; build the index again" in message for message in caplog.messages) == 1
    assert SqliteStore(store.path).check() == []


def test_an_index_is_not_built_of_damaged_rows(indexed_vectors):
    store, _ = indexed_vectors
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE rows SET vector = ? WHERE key = 5", (np.full(4, np.nan, np.float32).tobytes(),))
    connection.close()
    with pytest.raises(BadModel, match=r"저장소\.db' is damaged or not a store \(.vector 4 holds NaN"):
        store.compact()


@pytest.mark.parametrize("precision", ["float32", "float16", "int8", "binary"])
def test_one_changed_bit_of_a_vector_is_found(tmp_path, precision):
    store = SqliteStore(tmp_path / "저장소.db", replace(FACTS, precision=precision))
    store.put([Document(row, f"글 {row}", {}, vector) for row, vector in enumerate(vectors(3))])
    ((blob,),) = store._select("SELECT vector FROM rows WHERE key = 2", ())
    damaged = bytes([*blob[:-1], blob[-1] ^ 128])
    store.close()
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE rows SET vector = ? WHERE key = 2", (damaged,))
    connection.close()
    again = SqliteStore(store.path)
    with pytest.raises(
        BadModel, match=r"damaged or not a store \('a vector does not match its checksum'\); restore it"
    ):
        again.nearest(vectors(1), 1)
    (problem,) = again.check()
    assert problem == "the rows 1 do not match their hashes or checksums; add these texts again"


def test_a_store_of_a_version_before_the_first_release_is_refused(store):
    store.close()
    with sqlite3.connect(store.path) as connection:
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    with pytest.raises(BadInput, match=r"has format 1 of a version of sbert that was never released; index its texts"):
        SqliteStore(store.path)


def test_a_store_of_a_newer_version_is_refused(store):
    store.close()
    with sqlite3.connect(store.path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(BadInput, match=r"has format 99, but this version of sbert reads formats up to 3; install a"):
        SqliteStore(store.path)


def test_a_full_disk_is_one_sentence_and_leaves_the_store_intact(store):
    store.put([Document("가", "글", {}, vectors(1)[0])])
    connection = store._database._connection()
    ((pages,),) = connection.execute("PRAGMA page_count")
    connection.execute(f"PRAGMA max_page_count = {pages + 2}")  # SQLite then reports a full disk
    with pytest.raises(
        NotWritten, match=r"the disk of .*저장소\.db' is full, but the stored data is intact; free some space"
    ):
        store.put([Document(row, "긴 글 " * 1000, {}, vector) for row, vector in enumerate(vectors(50))])
    assert [document.id for document in store] == ["가"]
    assert store.check() == []


@pytest.fixture
def indexed(store, monkeypatch):
    """Return a store with an index of 300 rows."""
    monkeypatch.setattr(cache, "EXACT_ROWS", 100)
    monkeypatch.setattr(cache, "_SHOWN_ROWS", 100)
    store.put([Document(row, f"글 {row}", vector=vector) for row, vector in enumerate(vectors(300))])
    store.save_index()
    return store


@pytest.mark.parametrize("damage", ["missing", "empty", "cut"])
def test_a_missing_or_damaged_index_is_built_again_with_one_line(indexed, caplog, damage):
    expected = indexed.nearest(vectors(1), 5).keys[0].tolist()
    folder = indexed.path.with_name(f"{indexed.path.name}-index")
    if damage == "missing":
        shutil.rmtree(folder)
    for file in folder.glob("*") if damage == "empty" else [*folder.glob("*")][:1]:
        file.write_bytes(b"" if damage == "empty" else file.read_bytes()[:50])
    caplog.clear()
    again = SqliteStore(indexed.path)
    assert again.nearest(vectors(1), 5).keys[0].tolist() == expected
    (line,) = caplog.messages
    assert line.startswith(f"the index of 300 rows is being built in {folder}")
    assert (damage == "missing") == ("because" not in line)
    assert again.check() == []
    assert SqliteStore(indexed.path).nearest(vectors(1), 5).keys[0].tolist() == expected
    assert len(caplog.messages) == 1


def test_building_an_index_shows_progress_on_request(indexed, monkeypatch, capsys):
    monkeypatch.setattr("sbert.disk.progress._SECONDS_BETWEEN_LINES", 0)
    monkeypatch.setattr("sbert.search.store.sqlite._BLOCK", 120)
    indexed.compact()
    assert capsys.readouterr().err == ""
    shown = SqliteStore(indexed.path, show_progress_bar=True)
    shown.compact()
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(",")[0] for line in lines] == [
        *(f"{row} of 300 vectors read" for row in (120, 240, 300)),
        *(f"{step} of 10 rounds of k-means" for step in range(1, 11)),
        "300 of 300 vectors indexed",
    ]
    assert lines[-1].endswith("0 s to go")


@pytest.mark.parametrize("kind", ["ivf-pq", "ivf-sq8", "ivf-rabitq"])
def test_the_kind_of_the_index_can_be_chosen(indexed, kind):
    expected = indexed.nearest(vectors(1), 5)
    indexed.compact(kind)
    found = SqliteStore(indexed.path)
    assert found.index_facts()["index"] == kind
    assert found.nearest(vectors(1), 5).scores[0].tolist() == expected.scores[0].tolist()


def test_an_index_of_rows_that_cannot_be_read_is_one_sentence(indexed_vectors, monkeypatch):
    store, _ = indexed_vectors
    monkeypatch.setattr(SqliteStore, "_vector_blocks", lambda *_: iter([]))  # as after damage to the table of the rows
    with pytest.raises(BadModel, match=r"^there are no rows for the index in .*; run sbert store check$"):
        store.compact()


def test_an_index_that_is_replaced_while_it_is_opened_is_opened_again(indexed_vectors, monkeypatch, caplog):
    store, found = indexed_vectors
    read = faiss.read_facts

    def replaced(folder):
        known = read(folder)
        monkeypatch.setattr(faiss, "read_facts", read)
        store.put([Document("새", "새 글", vector=vectors(1)[0])])
        store.compact()  # the files that are read from here on belong to another index
        return known

    monkeypatch.setattr(faiss, "read_facts", replaced)
    caplog.clear()
    again = SqliteStore(store.path)
    nearest = again.nearest(found[7:8], 1)
    assert again.read(nearest.keys[0])[int(nearest.keys[0][0])].id == 7
    assert caplog.messages == []


def test_compacting_builds_the_index_once(indexed_vectors, monkeypatch):
    store, _ = indexed_vectors
    built = []
    build = faiss.FaissIndex.build
    monkeypatch.setattr(faiss.FaissIndex, "build", lambda *args, **options: built.append(1) or build(*args, **options))
    store.delete([0])
    store.compact()
    assert len(built) == 1
    assert store.check() == []
