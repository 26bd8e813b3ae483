"""A folder with files of texts to stand in, and jobs on a tiny model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def bi(tiny_folder) -> str:
    return str(tiny_folder("bert"))


def write_jsonl(path: str, rows: list[dict[str, object]]) -> None:
    Path(path).write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")


def rows_of(out: str | Path) -> list[dict[str, object]]:
    """All rows of all shards, in order, with the bytes of their vectors."""
    found = []
    for path in sorted(Path(out).glob("part-*.parquet")):
        table = pq.read_table(path)
        vectors = table["embedding"].combine_chunks()
        flat = vectors.flatten().to_numpy().reshape(len(table), -1)
        others = table.drop_columns(["embedding"]).to_pylist()
        found += [{**row, "embedding": vector.tobytes()} for row, vector in zip(others, flat, strict=True)]
    return found


def contents(out: str | Path) -> dict[str, bytes]:
    """The bytes of all shards by their names."""
    return {path.name: path.read_bytes() for path in sorted(Path(out).glob("part-*.parquet"))}


def vectors_in(out: str | Path, dtype: str = "float32") -> np.ndarray:
    return np.stack([np.frombuffer(row["embedding"], dtype) for row in rows_of(out)])  # type: ignore[call-overload]
