"""Files appear whole or not at all, and vectors come back from every format to the bit."""

from __future__ import annotations

import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sbert.data.parquet import types_of
from sbert.data.writers import VECTOR_SUFFIXES, check_output, open_vectors
from sbert.errors import BadInput, SbertError

ROWS = [{"번호": number, "글": text} for number, text in enumerate(["하나", "둘", "셋"])]


@pytest.mark.parametrize("kind", ["float32", "float16", "int8", "uint8"])
@pytest.mark.parametrize("window", [1, 2, 3])
def test_vectors_come_back_to_the_bit(tmp_path, kind, window):
    vectors = (np.random.default_rng(0).normal(size=(3, 5)) * 100).astype(kind)
    for suffix in VECTOR_SUFFIXES:
        with open_vectors(tmp_path / f"벡터{suffix}", 3, types_of([ROWS])) as write:
            for start in range(0, 3, window):
                write(ROWS[start : start + window], vectors[start : start + window])
    np.save(tmp_path / "한번에.npy", vectors)
    assert (tmp_path / "벡터.npy").read_bytes() == (tmp_path / "한번에.npy").read_bytes()
    (tmp_path / "한번에.npy").unlink()
    table = pq.read_table(tmp_path / "벡터.parquet")
    assert table.schema.field("embedding").type == pa.list_(pa.from_numpy_dtype(kind), 5)
    assert np.array_equal(np.array(table["embedding"].to_pylist(), kind), vectors)
    records = [json.loads(line) for line in (tmp_path / "벡터.jsonl").read_text(encoding="utf-8").splitlines()]
    assert np.array_equal(np.array([record.pop("embedding") for record in records], kind), vectors)
    assert records == ROWS == table.drop_columns(["embedding"]).to_pylist()
    assert sorted(os.listdir(tmp_path)) == sorted(f"벡터{suffix}" for suffix in VECTOR_SUFFIXES)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.txt", r"must end in \.npy, \.parquet, \.jsonl, but ends in '\.txt'"),
        ("a", r"ends in ''"),
        ("없음/a.npy", r"cannot write .*: No such file or directory"),
        ("file.npy/a.npy", r"cannot write .*: Not a directory"),
        ("folder.npy", r"is not a file"),
        ("가" * 100 + ".npy", r"cannot write .*: File name too long"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path, name, message):
    (tmp_path / "file.npy").touch()
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(SbertError, match=message):
        check_output(tmp_path / name, VECTOR_SUFFIXES)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(BadInput, match="Permission denied"):
        check_output(tmp_path / "a.npy", VECTOR_SUFFIXES)
    tmp_path.chmod(0o700)


def test_checking_leaves_nothing_behind(tmp_path):
    check_output(tmp_path / ("가" * 80 + ".npy"), VECTOR_SUFFIXES)
    assert os.listdir(tmp_path) == []
