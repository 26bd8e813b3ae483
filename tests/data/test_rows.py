"""Texts row by row: the same in every format, twice, in windows, and a broken row before any work."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from unicodedata import normalize

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sbert.data.rows import scan
from sbert.data.shapes import text_columns
from sbert.errors import BadInput, BadOption

PAIRS = [("비가 온다.", "비가 내린다."), ("A man eats.", ""), ("", "고양이")]


def write(folder: Path, name: str) -> str:
    path = folder / name
    records = [{"번호": row, "sentence1": a, "sentence2": b} for row, (a, b) in enumerate(PAIRS)]
    if name.endswith("parquet"):
        pq.write_table(pa.Table.from_pylist(records), path)
    elif "jsonl" in name:
        text = "".join(json.dumps(record) + "\n" for record in records)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    elif name.endswith("json"):
        path.write_text(json.dumps(records))
    else:
        mark = "\t" if name.endswith("tsv") else ","
        lines = [mark.join(map(str, row)) for row in [list(records[0]), *(record.values() for record in records)]]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.jsonl", "a.jsonl.gz", "a.json", "a.parquet"])
def test_every_format(tmp_path, name):
    rows = scan(write(tmp_path, name))
    assert (rows.columns, rows.fields, rows.count) == (
        ("sentence1", "sentence2"),
        ("번호", "sentence1", "sentence2"),
        3,
    )
    for _ in range(2):  # as often as one likes
        assert [row.texts for row in rows] == PAIRS
    assert [str(row.fields["번호"]) for row in rows] == ["0", "1", "2"]
    first = "row 0" if name.endswith(("json", "parquet")) else "line 1" if "jsonl" in name else "line 2"
    assert next(iter(rows)).where.endswith(first)


@given(count=st.integers(1, 20), size=st.integers(1, 25))
@settings(max_examples=20)
def test_windows_are_the_rows(tmp_path_factory, count, size):
    path = tmp_path_factory.mktemp("창") / "글.txt"
    path.write_text("".join(f"글 {row}\n" for row in range(count)), encoding="utf-8")
    windows = list(scan(str(path)).windows(size))
    assert [row.texts for window in windows for row in window] == [(f"글 {row}",) for row in range(count)]
    assert {len(window) for window in windows[:-1]} <= {size}


def test_a_parquet_file_is_not_held_whole(tmp_path, monkeypatch):
    path = tmp_path / "많다.parquet"
    pq.write_table(pa.table({"text": [f"글 {row}" for row in range(20_000)]}), path)
    monkeypatch.setattr(pq.ParquetFile, "read", lambda *_: pytest.fail("read whole"))
    assert scan(str(path)).count == 20_000


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], "is empty, but at least one row"),
        (['{"a": "비", "b": "눈"}'], "has the columns 'a', 'b', of which none is known to hold texts; name those"),
        (['{"text": "비"}', '{"text": 7}'], "line 2: field 'text' is int, but must be text"),
        (['{"text": "비"}', '{"글": "비"}'], "line 2: there is no field 'text'"),
        (
            ['{"text": "비"}', '{"text": "비", "text2": "눈"}'],
            r"line 2: two texts \(text, text2\), but",
        ),
    ],
)
def test_broken_rows(tmp_path, lines, sentence):
    path = tmp_path / "글.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(BadInput, match=sentence):
        scan(str(path))


def test_fields_that_only_some_rows_have(tmp_path):
    path = tmp_path / "글.jsonl"
    path.write_text('{"text": "비"}\n{"text": "눈", "출처": "x"}\n', encoding="utf-8")
    assert scan(str(path)).fields == ("text", "출처")


@pytest.mark.parametrize(
    ("available", "found"),
    [
        (["split", "score", "sentence1", "sentence2"], ("sentence1", "sentence2")),
        (["label", "premise", "hypothesis"], ("premise", "hypothesis")),
        (["text", "text2"], ("text", "text2")),
        (["id", "text", "label"], ("text",)),
        (
            ["query", "positive", "negative", "negative_2", "negative_1"],
            ("query", "positive", "negative", "negative_1", "negative_2"),
        ),
        (["question", "answer"], ("question", "answer")),
        (["제목"], ("제목",)),
    ],
)
def test_text_columns_by_their_usual_names(available, found):
    assert text_columns(available, "글.tsv") == found


def test_text_columns_that_are_named():
    assert text_columns(["제목", "본문", "text"], "글.tsv", ["본문", "제목"]) == ("본문", "제목")
    in_parts = normalize("NFD", "제목")
    assert text_columns(["제목", "본문"], "글.tsv", [in_parts]) == ("제목",)
    assert text_columns([in_parts, "본문"], "글.tsv", ["제목"]) == (in_parts,)
    with pytest.raises(BadInput, match="columns names '본문' twice"):
        text_columns(["제목", "본문"], "글.tsv", ["본문", "본문"])
    with pytest.raises(BadOption, match="did you mean '제목'"):
        text_columns(["제목", "본문"], "글.tsv", ["제목들"])
