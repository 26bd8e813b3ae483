"""``sbert index``, ``sbert search`` and ``sbert store``: a store is made, updated, searched, checked and exported."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from commandline import failure, sbert

ROWS = [
    {"번호": "1", "text": "결제가 안 돼요", "lang": "ko", "year": 2023},
    {"번호": "2", "text": "부산까지 KTX를 탔다", "lang": "ko", "year": 2020},
    {"번호": "3", "text": "A man is eating.", "lang": "en", "year": 2021},
]


def write(rows, name="faq.jsonl"):
    Path(name).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def index(bi, *more):
    return sbert("index", "faq.jsonl", "--store", "faq.db", "--id", "번호", "-m", bi, "--json", *more)


@pytest.fixture
def store(folder, bi):
    write(ROWS)
    return json.loads(index(bi).stdout)


def found(*arguments):
    return json.loads(sbert("search", "faq.db", *arguments, "--json").stdout)


def test_the_same_command_again_updates_the_store(store, bi):
    assert (store["new"], store["embedded"], store["total"]) == (3, 3, 3)
    assert json.loads(index(bi).stdout)["unchanged"] == 3
    repeated = [{"번호": "4", "text": "새 글"}, {"번호": "4", "text": "더 새 글"}]
    write([{**ROWS[0], "text": "환불"}, {**ROWS[1], "year": 2024}, *repeated])
    changed = json.loads(index(bi).stdout)
    assert changed.pop("seconds") > 0
    counts = {"new": 1, "changed": 2, "unchanged": 0, "embedded": 2, "repeated": 1}
    assert changed == {**counts, "deleted": 0, "total": 4}
    assert json.loads(index(bi, "--delete-missing").stdout)["deleted"] == 1
    assert {hit["id"] for hit in found("환불", "-k", "9")["hits"]} == {"1", "2", "4"}


def test_a_store_is_searched_by_meaning_by_words_and_with_a_filter(store):
    assert [hit["id"] for hit in found("KTX", "--mode", "lexical")["hits"]] == ["2"]
    both = found("부산", "--mode", "hybrid")["hits"]
    assert (both[0]["id"], both[0]["lexical_rank"]) == ("2", 1)
    some = found("글", "--filter", 'lang = "ko" and year >= 2021')
    assert [(hit["id"], hit["metadata"]["year"]) for hit in some["hits"]] == [("1", 2023)]
    assert (some["exact"], some["compared"]) == (True, 1)


def test_numbers_in_a_table_of_texts_are_numbers(folder, bi):
    Path("faq.tsv").write_text("text\t연도\t코드\n결제\t2023\t007\n환불\t2020\t7\n배송\t\t8\n", "utf-8")
    sbert("index", "faq.tsv", "--store", "faq.db", "-m", bi)
    hits = found("글", "--filter", "연도 >= 2021")["hits"]
    assert [hit["metadata"] for hit in hits] == [{"연도": 2023, "코드": "007"}]
    assert len(found("글", "--filter", "연도 = null")["hits"]) == 1
    assert "no text meets the filter" in sbert("search", "faq.db", "글", "--filter", "연도 > 3000").stderr


def test_a_reranker_sorts_the_hits(store, cross):
    result = found("A man eats", "--rerank", cross)
    assert result["candidates"] == 3
    scores = [hit["score"] for hit in result["hits"]]
    assert scores == sorted(scores, reverse=True)


def test_queries_are_asked_for_until_the_input_ends(store):
    result = sbert("search", "faq.db", "-k", "1", "--mode", "lexical", stdin="KTX\n\neating\n")
    assert "부산까지 KTX를 탔다" in result.stdout
    assert "A man is eating." in result.stdout


def test_a_store_is_shown_checked_compacted_and_exported(store):
    facts = json.loads(sbert("store", "info", "faq.db", "--json").stdout)
    assert (facts["texts"], facts["dimension"], facts["index"]) == (3, 32, "exact")
    assert "nothing is wrong" in sbert("store", "check", "faq.db").stderr
    sbert("store", "compact", "faq.db")
    sbert("store", "export", "faq.db", "-o", "out.parquet")
    table = pq.read_table("out.parquet").to_pylist()
    assert [(row["id"], row["text"], len(row["embedding"])) for row in table] == [
        (row["번호"], row["text"], 32) for row in ROWS
    ]
    assert json.loads(table[0]["metadata"]) == {"lang": "ko", "year": 2023}


def test_the_kind_of_the_index_is_checked(store):
    sbert("store", "compact", "faq.db", "--kind", "ivf-sq8")
    assert json.loads(sbert("store", "info", "faq.db", "--json").stdout)["index"] == "exact"  # of three texts
    wrong = failure("store", "info", "faq.db", "--kind", "ivf-pq", code=2)
    assert "--kind is for compact, but the action is info; leave it out" in wrong
    assert "--kind is 'hnsw'" in failure("store", "compact", "faq.db", "--kind", "hnsw", code=2)


def test_a_damaged_store_is_told_in_one_line(store):
    content = bytearray(Path("faq.db").read_bytes())
    content[4096 : len(content) - 4096] = b"\xff" * (len(content) - 2 * 4096)
    Path("faq.db").write_bytes(content)
    for command in (["store", "check", "faq.db"], ["search", "faq.db", "글"]):
        assert "damaged" in failure(*command)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["search", "faq.db", "글", "--filter", "lang ~ 1"], 1, "at character 6"),
        (["search", "faq.db", "글", "--mode", "words"], 2, "--mode is 'words', but must be one of"),
        (["search", "faq.jsonl"], 2, "the query is missing"),
        (["search", "faq.jsonl", "글", "--mode", "hybrid"], 2, "need a store"),
        (["search", "none.db", "글", "--mode", "hybrid"], 1, "there is no file 'none.db'"),
        (["store", "burn", "faq.db"], 2, "ACTION is 'burn', but must be one of"),
        (["store", "info", "none.db"], 1, "none.db'; create one with sbert index --store"),
        (["store", "export", "faq.db"], 2, "-o is for export and needed there"),
        (["store", "info", "faq.jsonl"], 1, "is damaged or not a store"),
        (["index", "faq.jsonl", "--store", "faq.db", "--id", "없음"], 1, "there is no field '없음'"),
        (["index", "faq.jsonl", "--store", "faq.db", "--metadata", "없음"], 1, "there is no field '없음'"),
        (["index", "none.txt", "--store", "faq.db"], 1, "there is no file 'none.txt'"),
        (["index", "faq.jsonl", "--store", "faq.db", "--precision", "int4"], 2, "--precision is 'int4'"),
    ],
)
def test_wrong_calls_are_one_line(store, arguments, code, message):
    assert message in failure(*arguments, code=code)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--store", "new.db", "--id", "없음"], "there is no field '없음'"),
        (["--store", "new.db", "--metadata", "lang,없음"], "there is no field '없음'"),
        (["--store", "없는 폴더/new.db"], "create the folder first"),
    ],
)
def test_no_store_is_created_by_a_wrong_call(folder, bi, arguments, message):
    write(ROWS)
    assert message in failure("index", "faq.jsonl", "-m", bi, *arguments)
    assert not Path("new.db").exists()


@pytest.mark.parametrize("name", ["빈.txt", "빈.jsonl", "빈.tsv"])
def test_an_empty_file_is_refused_and_creates_no_store(folder, bi, name):
    Path(name).write_bytes(b"")
    assert name in failure("index", name, "--store", "new.db", "-m", bi)
    assert not Path("new.db").exists()


def test_repeated_ids_are_counted_and_told(folder, bi):
    write([{"번호": "1", "text": "하나"}, {"번호": "1", "text": "둘"}])
    said = sbert("index", "faq.jsonl", "--store", "faq.db", "--id", "번호", "-m", bi).stderr
    assert "1 row had an id that occurs again later; only the last row of an id is kept" in said
    assert [hit["text"] for hit in found("하나")["hits"]] == ["둘"]


def test_another_model_is_refused(store, poly):
    assert "fingerprint" in failure("index", "faq.jsonl", "--store", "faq.db", "-m", "all-MiniLM-L6-v2")


def test_a_text_that_no_store_can_keep_is_named_with_its_row(folder, bi):
    Path("faq.jsonl").write_text('{"text": "하나"}\n{"text": "a\\ud800"}\n', "utf-8")
    for more in ([], ["--id", "text"]):
        message = failure("index", "faq.jsonl", "--store", "new.db", "-m", bi, *more)
        assert "faq.jsonl, line 2: the text 'a\\ud800' holds a lone surrogate" in message


def test_strange_places_of_stores_are_one_sentence(store, bi):
    for place in (".", "postgresql://127.0.0.1:1/\udcff"):
        assert failure("index", "faq.jsonl", "--store", place, "-m", bi).startswith("error: ")
    assert "k is 1000000" in failure("search", "faq.db", "비", "-k", 10**30, "--mode", "lexical")


def test_a_store_sends_nobody_to_the_network(store, monkeypatch):
    """A store may come from a stranger, who chose the name of the model in it."""
    asked = []

    def download(name, revision, legacy_weights, access):
        from huggingface_hub.errors import LocalEntryNotFoundError

        asked.append(access.local_files_only)
        raise LocalEntryNotFoundError(name)

    monkeypatch.setattr("sbert.hub.find._download", download)
    with sqlite3.connect("faq.db") as connection:
        connection.execute("UPDATE facts SET value = 'someone/else' WHERE name = 'model'")
    connection.close()
    message = failure("search", "faq.db", "비")
    assert "come from the model 'someone/else', which is not on this machine; name the model" in message
    assert asked == [True]
