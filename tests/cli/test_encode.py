"""``sbert encode`` in constant memory: windows change nothing in the output, and more rows take no more memory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commandline import failure, process, sbert

from sbert.cli.verbs import encode as verb
from sbert.models.bi import BiEncoder

PEAK = """
import resource, sys
from sbert.cli.main import app
app(sys.argv[1:], prog_name="sbert", standalone_mode=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def write_rows(path: str, texts: list[str], **fields: object) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text, **fields}, ensure_ascii=False) + "\n" for text in texts)


@pytest.mark.parametrize("options", [[], ["--precision", "int8", "--calibrate"], ["--precision", "float16"]])
def test_windows_change_nothing(folder, bi, monkeypatch, options):
    texts = [f"문장 {'길다 ' * (row % 7)}{row}" for row in range(23)]
    write_rows("글.jsonl", texts, 출처="x")
    outputs = []
    for window in (5, 4096):
        monkeypatch.setattr(verb, "_WINDOW", window)
        for suffix in ("npy", "jsonl", "parquet"):
            sbert("encode", "글.jsonl", "-o", f"a.{suffix}", "-m", bi, *options)
        table = pq.read_table("a.parquet")
        assert pq.ParquetFile("a.parquet").num_row_groups == -(-23 // window)
        kept = table.drop_columns(["embedding_model", "embedding"]).to_pylist()
        assert kept == [{"text": text, "출처": "x"} for text in texts]
        outputs.append((Path("a.npy").read_bytes(), Path("a.jsonl").read_bytes(), table["embedding"].to_pylist()))
    assert outputs[0] == outputs[1]
    assert np.array_equal(np.load("a.npy"), np.array(outputs[0][2], np.load("a.npy").dtype))


def test_truncation_is_counted_over_all_windows(folder, bi, monkeypatch):
    monkeypatch.setattr(verb, "_WINDOW", 2)
    write_rows("글.jsonl", ["긴 글 " * 99] * 5 + ["짧은 글"])
    lines = sbert("encode", "글.jsonl", "-o", "a.npy", "-m", bi).stderr.splitlines()
    assert next(line for line in lines if "truncated" in line).startswith(
        "warning: 5 of 6 texts truncated at 128 tokens"
    )
    assert sum("truncated" in line for line in lines) == 1
    assert "5 of 6 texts" in failure("encode", "글.jsonl", "-o", "b.npy", "-m", bi, "--on-truncate", "raise")
    expected = BiEncoder.from_pretrained(bi).encode(["긴 글 " * 99] * 5 + ["짧은 글"], on_truncate="ignore")
    assert np.array_equal(np.load("a.npy"), expected)


def test_calibration_says_that_it_needs_a_first_pass(folder, bi):
    write_rows("글.jsonl", ["비", "눈", "해"])
    said = sbert("encode", "글.jsonl", "-o", "a.npy", "-m", bi, "--precision", "int8", "--calibrate").stderr
    assert "--calibrate: the first pass" in said


def test_every_type_of_a_parquet_file_is_kept(folder, bi):
    moments = pa.array([1, 1_234_567_891], pa.timestamp("ns"))
    table = pa.table({"text": ["비", "눈"], "때": moments, "수": pa.array([1, 2], pa.int8()), "짝": [{"a": 1}, None]})
    pq.write_table(table, "글.parquet")
    sbert("encode", "글.parquet", "-o", "a.parquet", "-m", bi)
    assert pq.read_table("a.parquet").drop_columns(["embedding_model", "embedding"]).equals(table)
    sbert("encode", "글.parquet", "-o", "a.jsonl", "-m", bi)
    assert json.loads(Path("a.jsonl").read_text("utf-8").splitlines()[1])["때"] == "1970-01-01 00:00:01.234567891"


def test_more_rows_take_no_more_memory(folder, bi):
    pytest.importorskip("resource")
    peaks = []
    for count in (5_000, 20_000):  # the second file is 60 MB larger
        write_rows("글.jsonl", [f"문장 {row}" for row in range(count)], 짐="x" * 4000)
        done = process("encode", "글.jsonl", "-o", "a.npy", "-m", bi, "--batch-tokens", "1024", start=["-c", PEAK])
        assert done.returncode == 0, done.stderr
        assert np.load("a.npy", mmap_mode="r").shape == (count, 32)
        peaks.append(int(done.stdout) / 1024)
    assert peaks[1] - peaks[0] < 25  # MB
