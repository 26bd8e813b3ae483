"""No data file takes minutes or gigabytes, and what the libraries raise about one becomes a sentence."""

from __future__ import annotations

import time
import tracemalloc

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sbert.data import files, read
from sbert.data.formats import records
from sbert.data.rows import read_texts, scan
from sbert.errors import BadInput


@pytest.fixture
def one_megabyte():
    before = files.limit() >> 20
    files.set_limit(1)
    yield
    files.set_limit(before)


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.jsonl"])
def test_very_many_columns_take_seconds(write, name):
    names = [f"c{number}" for number in range(100_000)]
    separator = "," if name == "a.csv" else "\t"
    row = "{" + ", ".join(f'"{column}": "가"' for column in names) + "}"
    table = separator.join(names) + "\n" + separator.join(names)
    path = write(name, row if name == "a.jsonl" else table)
    start = time.perf_counter()
    assert read_texts(str(path), "c99999")[0].texts
    for reader in (read, lambda path: scan(str(path)), lambda path: read_texts(str(path))):
        with pytest.raises(BadInput, match=r"\(100,000 in all\)") as caught:
            reader(path)
        assert len(str(caught.value).replace(str(path), "")) < 620
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize("name", ["a.txt.gz", "a.jsonl.gz", "a.csv", "a.json", "a.tsv"])
def test_a_line_longer_than_the_limit_is_refused(write, one_megabyte, name):
    text = "x" * (1 << 21)
    content = {"a.jsonl.gz": f'{{"text": "{text}"}}', "a.json": f'[{{"text": "{text}"}}]'}.get(name, f"text\n{text}\n")
    with pytest.raises(BadInput, match=r"exceeds the limit of 1 MB; split it, or set SBERT_DATA_LIMIT_MB"):
        read_texts(str(write(name, content)))
    files.set_limit(3)
    assert read_texts(str(write(name, content)))[-1].texts == (text,)


@pytest.mark.parametrize("name", ["a.json.gz", "a.jsonl.gz"])
@pytest.mark.parametrize("part", ["{}", "[]"])
def test_json_of_very_many_values_is_refused_before_it_is_parsed(write, one_megabyte, name, part):
    values = "[" + ",".join([part] * 300_000) + "]"
    path = write(name, f'{{"text": "가", "n": {values}}}' if "jsonl" in name else values)
    tracemalloc.start()
    with pytest.raises(BadInput, match=r"[56]00,00\d brackets and commas, but at most 41,943 are read at once; split"):
        read_texts(str(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 << 20  # 19 MB if it were parsed


@pytest.mark.parametrize(
    ("name", "row", "found"),
    [("a.csv.gz", ",", "900,000 commas"), ("a.csv.gz", '"",', "900,000 commas"), ("a.tsv.gz", "\t", "900,000 tabs")],
)
def test_a_row_of_very_many_fields_is_refused_before_it_is_divided(write, one_megabyte, name, row, found):
    files.set_limit(5)
    path = write(name, f"text\n{row * 900_000}\n")
    tracemalloc.start()
    with pytest.raises(BadInput, match=f"line 2: {found}, but at most 209,715 are read at once; split it, or set"):
        read_texts(str(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 << 20  # 16 MB and more if it were divided


def test_a_csv_row_of_many_lines_is_limited(write, one_megabyte):
    rows = '"a\n",b\n' * 200_000  # more than the limit, but none of them is
    assert len(read_texts(str(write("a.csv", "text,other\n" + rows)), "text")) == 200_000
    fields = ",".join(['"' + "x" * 50_000 + '\n"'] * 30)
    with pytest.raises(
        BadInput, match=r"line 22: the row that ends here or later exceeds the limit of 1 MB; split it"
    ):
        read_texts(str(write("a.csv", f"text\n{fields}\n")))


def test_a_compressed_line_is_not_held_whole(write, one_megabyte):
    path = write("a.txt.gz", "x" * (50 << 20))
    tracemalloc.start()
    with pytest.raises(BadInput, match=r"a\.txt\.gz, line 1: the line exceeds the limit of 1 MB"):
        read_texts(str(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 << 20


def test_texts_that_a_parquet_file_repeats_are_held_once(tmp_path):
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 8000), pa.array(["긴 글 " * 40_000]))
    pq.write_table(pa.table({"text": text}), tmp_path / "a.parquet", compression="zstd")
    assert (tmp_path / "a.parquet").stat().st_size < 10_000
    tracemalloc.start()
    columns = read(tmp_path / "a.parquet")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(columns) == 8000
    assert peak < 50 << 20  # 2.5 GB if every row had its own copy


@pytest.mark.parametrize("kind", ["struct", "list", "map", "one row", "bytes", "prefixes"])
def test_a_small_parquet_file_does_not_expand_beyond_the_limit(tmp_path, one_megabyte, kind):
    text = "긴글 " * 20_000
    column = {
        "struct": pa.array([{"a": text}] * 600),
        "list": pa.array([[text]] * 600),
        "map": pa.array([[("a", text)]] * 600, pa.map_(pa.string(), pa.string())),
        "one row": pa.array([[text] * 600] + [[]] * 599),
        "bytes": pa.array([text.encode()] * 600, pa.binary(len(text.encode()))),
        "prefixes": pa.array([f"{text}{row}" for row in range(600)]),
    }[kind]
    prefixes = {"use_dictionary": False, "column_encoding": {"s": "DELTA_BYTE_ARRAY"}} if kind == "prefixes" else {}
    pq.write_table(pa.table({"text": ["가"] * 600, "s": column}), tmp_path / "a.parquet", **prefixes)
    assert (tmp_path / "a.parquet").stat().st_size < 30_000
    usual, pool = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        with pytest.raises(
            BadInput, match=r"bytes expand to.* exceeds the limit of 1 MB; split it, or set SBERT_DATA"
        ):
            list(records(files.source(tmp_path / "a.parquet")))
        assert (
            tracemalloc.get_traced_memory()[1] + pool.max_memory() < 60 << 20
        )  # up to 160 MB if all were written out
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(usual)


def test_lists_and_structs_are_decoded_a_few_rows_at_a_time(tmp_path, one_megabyte):
    rows = [
        {"text": f"{row}", "list": [f"{row}" * 100_000, None], "struct": {"a": "가" * 100_000}} for row in range(12)
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet", row_group_size=5, compression="none")
    assert [row.fields for row in scan(str(tmp_path / "a.parquet"))] == rows
    pq.write_table(pa.table({"text": ["가"], "list": [["x" * (1 << 21)]]}), tmp_path / "a.parquet", compression="none")
    with pytest.raises(BadInput, match=r"row exceeds the limit of 1 MB"):
        read_texts(str(tmp_path / "a.parquet"))


def test_a_long_text_that_views_repeat_is_held_once(tmp_path):
    texts = pa.array(["긴 글 " * 40_000] * 2000)
    for type_, column in [(pa.string_view(), texts), (pa.binary_view(), texts.cast(pa.binary()))]:
        pq.write_table(pa.table({"text": ["가"] * 2000, "s": column.cast(type_)}), tmp_path / "a.parquet")
        tracemalloc.start()
        rows = read_texts(str(tmp_path / "a.parquet"))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len({id(row.fields["s"]) for row in rows}) == 1
        assert peak < 50 << 20


def test_a_parquet_file_that_claims_too_many_values(tmp_path):
    table = pa.table({"text": pa.nulls(6_000_000, pa.string())})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=6_000_000)
    assert (tmp_path / "a.parquet").stat().st_size < 20_000
    with pytest.raises(
        BadInput, match=r"bytes expand to \(column 'text' claims .* values\) exceeds the limit of 256 MB"
    ):
        scan(str(tmp_path / "a.parquet"))


def test_rows_of_long_texts_are_decoded_a_few_at_a_time(tmp_path, one_megabyte):
    texts = [f"{row}" * 100_000 for row in range(10)]
    pq.write_table(pa.table({"text": texts}), tmp_path / "a.parquet")
    assert [row.texts[0] for row in scan(str(tmp_path / "a.parquet"))] == texts


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", '{"text": "가"}\n' + '{"a": ' + "[" * 200_000, r"a\.jsonl, line 2: not JSON"),
        ("a.json", "[" * 200_000, r"a\.json is not JSON"),
        ("a.jsonl", '{"text": "가", "n": ' + "9" * 5000 + "}", r"a\.jsonl, line 1: not JSON \(Exceeds the limit"),
        (
            "a.jsonl",
            '{"sentence1": "가", "sentence2": "나", "score": 1' + "0" * 400 + "}",
            r"line 1: the score is 1000",
        ),
        ("a.tsv", "sentence1\tsentence2\tscore\n가\t나\t1e999\n", r"line 2: the score is '1e999'"),
        ("a.parquet", b"PAR1" + b"\0" * 50 + b"PAR1", r"a\.parquet cannot be read as parquet"),
    ],
)
def test_what_libraries_raise_becomes_a_sentence(write, name, content, message):
    with pytest.raises(BadInput, match=message) as caught:
        read(write(name, content))
    assert len(str(caught.value)) < 700


def test_damage_inside_a_parquet_file_names_the_row(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [f"글 {row}" for row in range(5000)]}), path, row_group_size=1000)
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 200] = bytes(200)
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"a\.parquet(, row \d+ or the one after it)? cannot be read as parquet"):
        scan(str(path))


def test_nanoseconds_are_read_as_text(tmp_path):
    table = {"text": ["가"], "at": pa.array([1_234_567_891], pa.timestamp("ns"))}
    pq.write_table(pa.table(table), tmp_path / "a.parquet")
    assert read_texts(str(tmp_path / "a.parquet"))[0].fields["at"] == "1970-01-01 00:00:01.234567891"


@pytest.mark.parametrize("unit", ["us", "ns"])
@pytest.mark.parametrize("nested", [False, True])
def test_an_unknown_time_zone_is_named(tmp_path, unit, nested):
    for zone in ("Asia/Seoul", "+09:00", "Mars/Base"):
        times = pa.array([1000], pa.timestamp(unit, zone))
        column = pa.ListArray.from_arrays([0, 1], times) if nested else times
        pq.write_table(pa.table({"text": ["가"], "at": column}), tmp_path / "a.parquet")
        if zone != "Mars/Base":
            assert read_texts(str(tmp_path / "a.parquet"))[0].fields["at"]
    with pytest.raises(
        BadInput, match=r"column 'at': the time zone 'Mars/Base' is unknown, but one such as 'Asia/Seoul'"
    ):
        read_texts(str(tmp_path / "a.parquet"))


def test_a_name_that_no_file_can_have():
    with pytest.raises(BadInput, match=r"there is no file 'xxx.*; check the name") as caught:
        read_texts("x" * 5000 + ".txt")
    assert len(str(caught.value)) < 700
