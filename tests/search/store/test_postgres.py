"""What only a store in PostgreSQL can meet: a server that goes away, other writers, strange servers and addresses."""

from __future__ import annotations

import gc
import os
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sbert import Searcher
from sbert.errors import BadInput, BadModel, NotWritten, SbertError
from sbert.search.filters import read_filter
from sbert.search.store import Document, PostgresStore, SqliteStore, distances, server
from sbert.search.store import postgres as store_module
from sbert.text.terms import query_terms

from .conftest import FACTS


@pytest.fixture
def kind():
    return "postgres"


@pytest.fixture
def sql(postgres):
    import psycopg

    with psycopg.connect(postgres.url, autocommit=True) as connection:
        yield connection


NAN_VECTOR = "vector = decode(repeat('ff', 16), 'hex')"


def table(place, name):
    from psycopg import sql

    return sql.Identifier(place.partition("#")[2], name)


def run(connection, query, place, name="rows", parameters=()):
    from psycopg import sql

    return connection.execute(sql.SQL(query).format(table(place, name)), parameters)


def documents(count, start=0, seed=0, dimension=4):
    rows = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return [Document(start + i, f"글 {start + i}", {"i": start + i}, row) for i, row in enumerate(rows)]


def change(store, *steps):
    """Take some steps in one transaction."""
    with store._server.writing() as connection:
        for step in steps:
            step(connection)


def delete_all(store, in_the_middle):
    change(
        store,
        lambda connection: connection.execute("DELETE FROM rows"),
        lambda _: in_the_middle(),
        lambda connection: connection.execute("DELETE FROM facts"),
    )


def test_a_server_that_is_killed_in_the_middle_loses_nothing_and_the_store_goes_on(open_store, postgres):
    store = open_store()
    store.put(documents(3))
    told, go, seen = threading.Event(), threading.Event(), []

    def other_thread():
        seen.append(len(store))
        told.set()
        go.wait()
        seen.append(len(store))  # on a connection that broke meanwhile

    thread = threading.Thread(target=other_thread)
    thread.start()
    told.wait()
    try:
        with pytest.raises(NotWritten, match=r"the connection to .* was lost .* nothing was changed"):
            delete_all(store, postgres.stop)
        with pytest.raises(NotWritten, match="cannot be reached"):
            store.put(documents(1, start=3))
    finally:
        postgres.start()
    store.put(documents(1, start=3))
    assert [document.id for document in store] == [0, 1, 2, 3]
    assert store.check() == []
    go.set()
    thread.join()
    assert seen == [3, 4]


def test_a_connection_lost_at_the_end_is_told_as_such(open_store, sql):
    store = open_store()
    store.put(documents(1))

    def end_session(connection):
        sql.execute("SELECT pg_terminate_backend(%s, 5000)", (connection.info.backend_pid,))

    with pytest.raises(NotWritten, match="is stored completely or not at all"):
        change(store, end_session)
    assert len(store) == 1


def test_a_second_writer_waits_and_then_is_told_who_writes(open_store, monkeypatch):
    store, other = open_store(), open_store()
    with store._server.writing():
        monkeypatch.setattr(server, "WAIT_SECONDS", 0.2)
        with pytest.raises(NotWritten) as caught:
            other.put(documents(1))
        assert f"sbert process {os.getpid()} on " in str(caught.value)
        assert "(server process " in str(caught.value)
        assert other.nearest(np.ones((1, 4), np.float32), 1).keys[0].tolist() == []  # readers do not wait
        monkeypatch.setattr(server, "WAIT_SECONDS", 20)
        waiting = threading.Thread(target=other.put, args=(documents(2),))
        waiting.start()
    waiting.join()
    assert len(store) == 2


def test_stores_in_two_schemas_do_not_wait_for_each_other(open_store, postgres):
    store, place = open_store(), postgres.place()
    with store._server.writing():
        other = PostgresStore(place, FACTS)
        other.put(documents(1))
    assert (len(store), len(other)) == (0, 1)
    postgres.drop(place)


def test_a_child_process_does_not_end_the_session_of_its_parent(open_store):
    store = open_store()
    store.put(documents(2))
    backend = "SELECT pg_backend_pid()"
    before = store._select(backend, ())
    child = os.fork()
    if child == 0:
        good = len(store) == 2 and store._select(backend, ()) != before
        store.close()
        del store
        gc.collect()
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert store._select(backend, ()) == before


def test_many_creators_make_one_store(place):
    made, wrong = [], []

    def create():
        try:
            store = PostgresStore(place, FACTS)
            store.put(documents(1))
            made.append(store)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(made[0]) == 1


def test_a_store_of_a_newer_version_is_refused(open_store, place, sql):
    open_store()
    run(sql, "UPDATE {} SET value = '99' WHERE name = 'format'", place, "facts")
    with pytest.raises(BadInput, match="has format 99, but this version of sbert reads formats up to 1"):
        open_store()


def test_there_is_no_store_until_one_is_created(place):
    assert not PostgresStore.exists(place)
    with pytest.raises(BadInput, match="there is no store"):
        PostgresStore(place)
    PostgresStore(place, FACTS)
    assert PostgresStore.exists(place)


@pytest.mark.parametrize(
    ("url", "kind", "message"),
    [
        ("postgresql://me:geheim@127.0.0.1:1/db", NotWritten, "postgresql://127.0.0.1:1/db#sbert cannot be reached"),
        ("postgresql://me:geheim@127.0.0.1:x/db", NotWritten, "cannot be reached"),
        ("postgresql://me:geh#eim@127.0.0.1/db", BadInput, "write '#' in a password as %23"),
        ("postgresql://me:geheim@[::1/db", BadInput, "cannot be read"),
        ("postgresql://me@h/db?password=geheim&nothing=1", BadInput, "cannot be read"),
        (f"postgresql://me:geheim@h/db#{'가' * 30}", BadInput, "at most 63 bytes"),
        ("postgresql://me:geheim@h/db#pg_x", BadInput, "an unusable schema"),
    ],
)
@pytest.mark.usefixtures("postgres")
def test_a_wrong_address_is_one_sentence_without_the_password(url, kind, message):
    with pytest.raises(kind) as caught:
        PostgresStore(url, FACTS)
    assert message in str(caught.value)
    assert "geh" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_psycopg_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(BadInput, match=r"pip install 'sbert\[postgres\]'"):
        PostgresStore("postgresql://host/db")


@pytest.mark.parametrize("schema", ['a"; DROP SCHEMA public; --', "%25s", "가 나", "select", "A'b"])
def test_any_name_of_a_schema_is_only_a_name(postgres, schema):
    place = f"{postgres.url}#{schema}"
    store = PostgresStore(place, FACTS)
    store.put(documents(2))
    store.compact()
    assert len(PostgresStore(place)) == 2
    postgres.drop(f"#{store._server.address.schema}")


def test_tables_of_another_program_are_left_alone(place, sql):
    from psycopg import sql as parts

    sql.execute(parts.SQL("CREATE SCHEMA {}").format(parts.Identifier(place.partition("#")[2])))
    run(sql, "CREATE TABLE {} (x int)", place)
    with pytest.raises(BadInput, match="holds tables of another program"):
        PostgresStore(place, FACTS)
    run(sql, "CREATE TABLE {} (x int)", place, "facts")
    with pytest.raises(BadModel, match="is damaged or not a store"):
        PostgresStore(place, FACTS)


def test_a_database_in_another_encoding_is_refused(postgres, sql):
    sql.execute("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    with pytest.raises(BadInput, match="has the encoding LATIN1, but texts need UTF8"):
        PostgresStore(postgres.url.replace("/postgres?", "/latin?"), FACTS)
    gc.collect()
    sql.execute("DROP DATABASE latin WITH (FORCE)")


def test_a_user_without_rights_is_told_so(open_store, place, sql):
    store = open_store()
    store.put(documents(1))
    from psycopg import sql as parts

    sql.execute("CREATE ROLE guest LOGIN")
    guest = place.replace("postgres:@", "guest:@")
    try:
        with pytest.raises(NotWritten, match="does not permit this user to read it"):
            PostgresStore(guest)
        sql.execute(parts.SQL("GRANT USAGE ON SCHEMA {} TO guest").format(parts.Identifier(place.partition("#")[2])))
        with pytest.raises(NotWritten, match="does not permit this user to do that"):
            PostgresStore(guest)
        for name in ("facts", "state", "rows"):
            run(sql, "GRANT SELECT ON {} TO guest", place, name)
        reader = PostgresStore(guest)
        assert len(reader.nearest(np.ones((1, 4), np.float32), 3).keys[0]) == 1
        with pytest.raises(NotWritten, match="does not permit this user to do that"):
            reader.delete([0])
        assert len(store) == 1
    finally:
        sql.execute("DROP OWNED BY guest")
        sql.execute("DROP ROLE guest")


def test_vectors_that_an_index_cannot_hold_are_one_sentence(open_store, monkeypatch):
    monkeypatch.setattr(store_module, "EXACT_ROWS", 0)
    store = open_store(replace(FACTS, similarity="dot"))
    store.put(documents(2))
    store.save_index()
    with pytest.raises(BadInput, match=r"cannot store a value .* out of range for type halfvec"):
        store.put([*documents(1, start=2), Document("a", "가", {}, np.full(4, 1e5, np.float32))])
    assert len(store) == 2


def test_texts_of_any_length_are_found_by_their_words(open_store):
    store = open_store()
    long = " ".join(f"낱말{i} word{i}" for i in range(80_000))  # more than a tsvector can hold
    store.put([Document("long", long, {}, np.ones(4, np.float32)), Document("x" * 9000, "b" * 9000, {}, np.ones(4))])
    assert [match.key for match in store.matching(["word79999"], 5)] == [1]
    assert [match.key for match in store.matching(query_terms("b" * 9000), 5)] == [2]
    assert store.matching(query_terms("b" * 8999), 5) == []


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE {rows} SET vector = '' WHERE key = 2",
        "UPDATE {rows} SET vector = decode(repeat('00', 12), 'hex')",
        "UPDATE {state} SET total = 0",
        "UPDATE {state} SET total = -3",
        "DELETE FROM {state}",
        "INSERT INTO {state} SELECT * FROM {state}",
        "ALTER TABLE {state} ALTER total DROP NOT NULL; UPDATE {state} SET total = NULL",
        """UPDATE {facts} SET value = '"nearness"' WHERE name = 'similarity'""",
        "UPDATE {facts} SET value = '[1]' WHERE name = 'similarity'",
        "UPDATE {facts} SET value = 'true' WHERE name = 'dimension'",
        "UPDATE {facts} SET value = '1e30' WHERE name = 'dimension'",
        "UPDATE {facts} SET value = '5' WHERE name = 'model'",
        """UPDATE {facts} SET value = '"x"' WHERE name = 'format'""",
        "ALTER TABLE {rows} ALTER key DROP IDENTITY",
        "ALTER TABLE {rows} ALTER vector DROP NOT NULL; UPDATE {rows} SET vector = NULL WHERE key = 2",
    ],
)
def test_every_damage_is_one_sentence(open_store, place, sql, damage):
    from psycopg import sql as parts

    store = open_store()
    store.put(documents(5))
    names = {name: table(place, name) for name in ("rows", "state", "facts")}
    sql.execute(parts.SQL(damage).format(**names))
    vector, told = np.ones((1, 4), np.float32), 0
    for use in (
        lambda: PostgresStore(place),
        lambda: store.nearest(vector, 3),
        lambda: store.nearest(np.repeat(vector, 9, 0), 3),
        lambda: store.nearest(vector, 3, read_filter("i > 0")),
        lambda: store.matching(["글", "1"], 3),
        checked := store.check,
        lambda: list(store),
        lambda: store.put(documents(1)),
        store.compact,
    ):
        try:
            told += bool(use() and use is checked)
        except SbertError as error:
            told += "damaged" in str(error)
    assert told


def test_a_filter_with_more_parameters_than_the_server_takes_is_one_sentence(open_store):
    store = open_store()
    store.put(documents(2))
    values = ", ".join(f'"{number}"' for number in range(5000))
    assert store.count(read_filter(f"{'.'.join('a' * 20)} not in ({values})")) == 2
    many = " or ".join(f'a.b.c.d contains "{number}"' for number in range(4500))
    with pytest.raises(
        BadInput, match=r"^the filter has [\d,]+ names and values, but PostgreSQL takes at most 65,000;"
    ):
        store.count(read_filter(many))


texts = st.lists(st.sampled_from(["결제", "환불이", "KTX를", "cat", "dog", "a", "부산"]), max_size=6).map(" ".join)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(texts, min_size=1, max_size=12), query=texts, gone=st.sets(st.integers(0, 11)))
def test_words_have_the_scores_that_sqlite_gives(open_store, tmp_path, rows, query, gone):
    both = [open_store(), SqliteStore(tmp_path / "beside.db", FACTS)]
    found = []
    for store in both:
        store.delete(list(range(12)))
        store.put([Document(i, text, {"i": i}, np.ones(4, np.float32)) for i, text in enumerate(rows)])
        store.delete(list(gone))
        for condition in (None, read_filter("i < 5")):
            matches = store.matching(query_terms(query), 8, condition)
            names = store.read(np.array([match.key for match in matches], np.int64))
            found.append([(names[match.key].id, match.score) for match in matches])
        store.close()
    assert found[:2] == found[2:]


@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean", "manhattan"])
@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_the_nearest_have_the_scores_that_sqlite_gives(open_store, tmp_path, similarity, precision):
    facts = replace(FACTS, similarity=similarity, precision=precision, dimension=24)
    rows = documents(300, dimension=24)
    rows += [Document(300 + i, "같은", {"i": 300 + i}, rows[7].vector * (1 + i // 40)) for i in range(80)]
    rows += [Document(400, "영", {"i": 400}, np.zeros(24)), Document(401, "큰", {"i": 1}, rows[3].vector * 1e6)]
    both = [open_store(facts), SqliteStore(tmp_path / "beside.db", facts)]
    for store in both:
        store.put(rows)
    queries = np.concatenate([np.stack([row.vector for row in rows[:6]]), -rows[7].vector[None], np.zeros((1, 24))])
    for k in (1, 10, 390):
        for condition in (None, read_filter("i >= 280")):
            for some in (queries[:3], queries.astype(np.float32), np.concatenate([queries, queries])):
                one, other = (store.nearest(some, k, condition) for store in both)
                assert (one.exact, one.compared) == (other.exact, other.compared)
                for part in range(len(some)):
                    assert one.keys[part].tolist() == other.keys[part].tolist()
                    assert one.scores[part].tolist() == other.scores[part].tolist()


@pytest.mark.parametrize("vectors", [np.zeros((1, 3), np.float32), np.full((1, 4), np.nan, np.float32)])
def test_a_wrong_query_is_one_sentence(open_store, vectors):
    store = open_store()
    store.put(documents(1))
    with pytest.raises(BadInput):
        store.nearest(vectors, 1)


@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean", "manhattan"])
def test_many_rows_are_searched_by_an_index(open_store, monkeypatch, similarity):
    monkeypatch.setattr(distances, "EXACT_ROWS", 500)
    monkeypatch.setattr(store_module, "EXACT_ROWS", 500)
    monkeypatch.setattr(distances, "FEW_ALLOWED", 100)
    store = open_store(replace(FACTS, similarity=similarity, dimension=16))
    store.put(documents(1500, dimension=16))
    queries = np.stack([row.vector for row in documents(20, seed=5, dimension=16)])
    truth = store.nearest(queries, 10)
    assert truth.exact
    assert store.index_facts()["index"] == "exact"
    store.save_index()
    assert store.index_facts()["recall"] >= 0.95
    found = store.nearest(queries, 10)
    assert not found.exact
    assert 0 < found.compared <= 1500
    shared = [len({*one.tolist()} & {*other.tolist()}) for one, other in zip(found.keys, truth.keys, strict=True)]
    assert sum(shared) >= 0.95 * 200
    few = store.nearest(queries, 10, read_filter("i < 80"))
    assert (few.exact, few.compared) == (True, 80)
    many = store.nearest(queries, 10, read_filter("i < 300"))
    ids = {document.id for keys in many.keys for document in store.read(keys).values()}
    assert ids <= set(range(300))
    assert all(len(keys) == 10 for keys in many.keys)
    store.delete(list(range(700)))
    store.put(documents(400, start=5000, seed=9, dimension=16))
    store.compact()
    found = store.nearest(queries, 10)
    assert all(len(store.read(keys)) == 10 for keys in found.keys)
    assert store.check() == []


def test_damage_is_found(open_store, place, sql):
    store = open_store()
    store.put(documents(5))
    assert store.check() == []
    run(sql, "UPDATE {} SET text = 'x' WHERE id = '1'", place)
    run(sql, "UPDATE {} SET embedding = '[1,0,0,0]' WHERE id = '2'", place)
    run(sql, "DELETE FROM {} WHERE id = '4'", place)
    wrong, counts = store.check()
    assert "the rows 1, 2 do not match" in wrong
    assert "counts 5 texts and 10 words, but holds 4 and 8" in counts


@pytest.mark.parametrize(
    "damage",
    ["written = '7'", "id = '['", "written = '[1'", "vector = '\\x00'", "vector = decode(repeat('ff', 16), 'hex')"],
)
def test_a_damaged_row_is_told_as_such(open_store, place, sql, damage):
    store = open_store()
    store.put(documents(1))
    run(sql, f"UPDATE {{}} SET {damage}", place)
    with pytest.raises(BadModel, match=r"^'postgresql://.* is damaged or not a store .*; restore it from a backup"):
        list(store)


def test_a_searcher_opens_an_address(place, bundled):
    searcher = Searcher.open(place)
    searcher.add(["A man is eating.", "부산까지 KTX를 탔다"], ids=["meal", "trip"], metadata=[{"n": 1}, {"n": 2}])
    again = Searcher.open(place)
    assert [hit.id for hit in again.search("Somebody has lunch.", k=1).hits] == ["meal"]
    assert [hit.id for hit in again.search("ktx", k=2, mode="lexical", filter="n > 1").hits] == ["trip"]
    assert again.add(["A man is eating."], ids=["meal"]).embedded == 0
