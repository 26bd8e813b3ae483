"""Files appear whole or not at all, and vectors come back from every format to the bit."""

from __future__ import annotations

import json
import os
import stat

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sbert.data.texts import Rows
from sbert.data.vectors import VECTOR_SUFFIXES, check_output, whole, write_vectors
from sbert.errors import BadInput, SbertError

ROWS = Rows(["하나", "둘"], [{"번호": 1, "글": "하나"}, {"번호": 2, "글": "둘"}])


@pytest.mark.parametrize("kind", ["float32", "float16", "int8", "uint8"])
def test_vectors_come_back_to_the_bit(tmp_path, kind):
    vectors = (np.random.default_rng(0).normal(size=(2, 5)) * 100).astype(kind)
    for suffix in VECTOR_SUFFIXES:
        write_vectors(tmp_path / f"벡터{suffix}", ROWS, vectors)
    assert np.array_equal(np.load(tmp_path / "벡터.npy"), vectors)
    table = pq.read_table(tmp_path / "벡터.parquet")
    assert table.schema.field("embedding").type == pa.list_(pa.from_numpy_dtype(kind), 5)
    assert np.array_equal(np.array(table["embedding"].to_pylist(), kind), vectors)
    records = [json.loads(line) for line in (tmp_path / "벡터.jsonl").read_text(encoding="utf-8").splitlines()]
    assert np.array_equal(np.array([record.pop("embedding") for record in records], kind), vectors)
    assert records == ROWS.fields == table.drop_columns(["embedding"]).to_pylist()
    assert sorted(os.listdir(tmp_path)) == sorted(f"벡터{suffix}" for suffix in VECTOR_SUFFIXES)


def interrupted_write(path):
    with whole(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "벡터.npy"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        interrupted_write(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["벡터.npy"]


def test_permissions_are_the_usual_ones_and_a_link_stays_a_link(tmp_path):
    (tmp_path / "usual").write_bytes(b"")
    link = tmp_path / "link.npy"
    link.symlink_to(tmp_path / "target.npy")
    with whole(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert (tmp_path / "target.npy").read_bytes() == b"new"
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "target.npy")}
    assert len(modes) == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.txt", r"must end in \.npy, \.parquet, \.jsonl, but ends in '\.txt'"),
        ("a", r"ends in ''"),
        ("없음/a.npy", r"cannot write .*: No such file or directory"),
        ("file.npy/a.npy", r"cannot write .*: Not a directory"),
        ("folder.npy", r"is no file"),
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
