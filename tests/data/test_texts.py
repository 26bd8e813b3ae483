"""Every format is read as it stands, and every damage is named with the line it is in."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbert.data import parquet
from sbert.data.rows import read_texts, scan
from sbert.data.writers import types_of
from sbert.errors import BadInput, BadOption, SbertError

TEXTS = ['하나, "둘"', "", "it's 5\u2028o'clock\x0b", "😀 셋"]


def write(folder: Path, name: str, content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return str(path)


def texts_of(*arguments, **options) -> list[str]:
    return [row.texts[0] for row in read_texts(*arguments, **options)]


def as_csv(rows: list[list[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue()


CONTENT = {
    "txt": "\n".join(TEXTS) + "\n",
    "tsv": "번호\ttext\n" + "".join(f"{row}\t{text}\n" for row, text in enumerate(TEXTS)),
    "csv": as_csv([["번호", "text"], *([str(row), text] for row, text in enumerate(TEXTS))]),
    "jsonl": "".join(json.dumps({"번호": str(row), "text": text}) + "\n" for row, text in enumerate(TEXTS)),
}


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("kind", CONTENT)
def test_every_format_gives_the_same_texts(tmp_path, kind, packed):
    rows = read_texts(write(tmp_path, f"문장.{kind}{packed}", CONTENT[kind]))
    assert [row.texts for row in rows] == [(text,) for text in TEXTS]
    expected = [{"번호": str(row), "text": text} for row, text in enumerate(TEXTS)]
    assert [row.fields for row in rows] == ([{"text": text} for text in TEXTS] if kind == "txt" else expected)


def test_parquet_keeps_its_types(tmp_path):
    table = pa.table({"수": pa.array([1, 2, 3, 4], pa.int8()), "sentence": pa.array(TEXTS).dictionary_encode()})
    pq.write_table(table, tmp_path / "문장.parquet")
    rows = scan(str(tmp_path / "문장.parquet"), one_text=True)
    assert [row.texts for row in rows] == [(text,) for text in TEXTS]
    types = types_of(Path("다른.parquet"), rows, 3)
    assert types.equals(table.schema)
    assert parquet.table([row.fields for row in rows], types).equals(table)
    assert [row.fields for row in rows] == table.to_pylist()


@given(st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"])), min_size=1))
def test_a_line_is_a_text_whatever_is_in_it(tmp_path_factory, texts):
    texts[0] = texts[0].removeprefix("\ufeff")  # at the start of a file it is a mark of the encoding
    path = write(tmp_path_factory.getbasetemp(), "any.txt", "".join(text + "\n" for text in texts))
    assert texts_of(path) == texts


@pytest.mark.parametrize("content", ["하나\r\n둘\r\n", "\ufeff하나\n둘", "하나\n둘\n"])
def test_line_ends_and_byte_order_mark_are_no_text(tmp_path, content):
    assert texts_of(write(tmp_path, "a.txt", content)) == ["하나", "둘"]


def test_quotation_marks_are_letters_in_tsv_and_quotes_in_csv(tmp_path):
    assert texts_of(write(tmp_path, "a.tsv", 'text\n"하나\n둘"\n')) == ['"하나', '둘"']
    assert texts_of(write(tmp_path, "a.csv", 'text\n"하나\n둘"\n')) == ["하나\n둘"]


def test_csv_holds_texts_of_any_length(tmp_path):
    assert texts_of(write(tmp_path, "a.csv", "text\n" + "긴" * 200_000)) == ["긴" * 200_000]


def test_format_wins_over_suffix(tmp_path):
    assert texts_of(write(tmp_path, "a.log", CONTENT["jsonl"]), format="jsonl") == TEXTS


@pytest.mark.parametrize(
    ("header", "asked", "chosen"),
    [
        ("a\ttext\tsentence", None, 1),
        ("a\tsentence", None, 1),
        ("아무거나", None, 0),
        ("text\t문장", "문장", 1),
    ],
)
def test_column(tmp_path, header, asked, chosen):
    values = ["하나", "둘", "셋"][: header.count("\t") + 1]
    assert texts_of(write(tmp_path, "a.tsv", f"{header}\n" + "\t".join(values)), asked) == [values[chosen]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", "제목\t본문\n하나\t둘\n", r"columns '제목', '본문'; name the one .* --column"),
        ("a.txt", "하나\n둘\n셋".encode() + b"\n\xb0\xa1\n", r"a\.txt, line 4: byte 1 \(0xb0\) is not UTF-8.*iconv"),
        ("a.csv", "a,text\n1,하나\n".encode() + b"2,\xb0\n", r"line 3: byte 3"),
        ("a.csv", 'a,text\n1,"하나\n둘"\n2,셋,넷\n', r"line 4: 3 fields, but the header has 2"),
        ("a.csv", 'a,text\n1,"하나\n', r"line 2: unexpected end of data"),
        ("a.tsv", "a\ttext\n1\n", r"line 2: 1 field, but the header has 2"),
        ("a.tsv", "text\ttext\n하나\t둘\n", r"more than one column 'text'"),
        ("a.jsonl", '{"text": "하나"}\n\n{"text": 3}\n', r"line 3: field 'text' is int, but must be text"),
        ("a.jsonl", '{"text": null}\n', r"line 1: field 'text' is null"),
        ("a.jsonl", '{"text": "하나"}\n{"글": "둘"}\n', r"line 2: there is no field 'text', but '글'"),
        ("a.jsonl", '{"text": "하나"}\n{"text"\n', r"line 2: not JSON"),
        ("a.jsonl", '["하나"]\n', r"line 1: JSON list"),
        ("a.jsonl", "{}\n", r"no columns"),
        ("a.txt", "", r"a\.txt is empty"),
        ("a.csv", "", r"a\.csv is empty"),
        ("a.csv", "text\n", r"a\.csv is empty"),
        ("a.parquet", "하나\n", r"cannot be read as parquet"),
        ("a.docx", "하나\n", r"'\.docx', but must end in \.txt, \.tsv, \.csv, \.jsonl, \.json, \.parquet .*--format"),
        ("a.parquet.gz", "하나\n", r"'\.parquet\.gz', but must end in"),
        ("a.json", "[]", r"a\.json is empty"),
        ("sts-dev.csv", "a\tb\tc\td\t2.5\t하나\t둘\n", r"columns 'genre', .*'sentence1', 'sentence2'; name the one"),
    ],
)
def test_damage_is_named(tmp_path, name, content, message):
    with pytest.raises(BadInput, match=message) as caught:
        texts_of(write(tmp_path, name, content))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pa.array(["하나", None]), "row 1: field 'text' is null"),
        (pa.array([1.5, 2.5]), "row 0: field 'text' is float"),
        (pa.array([b"x"]), "row 0: field 'text' is bytes"),
        (pa.array([], pa.string()), "is empty"),
    ],
)
def test_parquet_rows_that_are_no_text(tmp_path, values, message):
    pq.write_table(pa.table({"text": values}), tmp_path / "a.parquet")
    with pytest.raises(BadInput, match=message):
        texts_of(str(tmp_path / "a.parquet"))


def test_missing_column_names_those_there_are(tmp_path):
    path = write(tmp_path, "a.tsv", "제목\t본문\n하나\t둘\n")
    with pytest.raises(BadOption, match=r"'본뭉', but must be one of '제목', '본문'"):
        texts_of(path, "본뭉")


def test_no_such_file_and_no_file(tmp_path):
    with pytest.raises(BadInput, match=r"no file '.*없음\.txt'"):
        texts_of(str(tmp_path / "없음.txt"))
    (tmp_path / "폴더.txt").mkdir()
    with pytest.raises(BadInput, match="is a folder"):
        texts_of(str(tmp_path / "폴더.txt"))


@pytest.mark.parametrize("keep", [10, 30])
def test_damaged_gzip(tmp_path, keep):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(CONTENT["txt"].encode())[:keep])
    with pytest.raises(BadInput, match="damaged gzip"):
        texts_of(str(tmp_path / "a.txt.gz"))
    (tmp_path / "a.txt.gz").write_text("하나")
    with pytest.raises(BadInput, match="damaged gzip"):
        texts_of(str(tmp_path / "a.txt.gz"))


@given(st.binary(max_size=200), st.sampled_from(["txt", "tsv", "csv", "jsonl", "parquet"]))
def test_any_bytes_are_read_or_refused(tmp_path_factory, content, kind):
    path = write(tmp_path_factory.getbasetemp(), f"any.{kind}", content)
    try:
        rows = texts_of(path)
    except SbertError:
        return
    assert all(isinstance(text, str) for text in rows)


def test_fields_of_mixed_types_are_no_table(tmp_path):
    rows = scan(write(tmp_path, "a.jsonl", '{"text": "하나", "n": 1}\n{"text": "둘", "n": "x"}\n{"text": "셋"}\n'))
    assert [row.texts[0] for row in rows] == ["하나", "둘", "셋"]
    with pytest.raises(BadInput, match=r"write \.jsonl instead"):
        types_of(Path("다른.parquet"), rows, 2)
