"""A folder with pairs of texts to stand in, and a model of each kind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sbert import CrossEncoder, PolyEncoder


@pytest.fixture
def pairs() -> list[tuple[str, str]]:
    return [("비가 온다.", "비가 내린다."), ("A man eats.", ""), ("고양이", 'The "cat", sleeps.'), ("", "")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pairs) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [{"번호": row, "sentence1": a, "sentence2": b} for row, (a, b) in enumerate(pairs)]
    Path("쌍.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return tmp_path


@pytest.fixture
def bi(tiny_folder) -> str:
    return str(tiny_folder("bert"))


@pytest.fixture
def cross(tiny_classifier) -> str:
    return str(tiny_classifier("bert", 1))


@pytest.fixture
def poly(tiny_folder, folder) -> str:
    PolyEncoder.from_pretrained(tiny_folder("bert"), num_codes=5).save_pretrained("폴리")
    return "폴리"


@pytest.fixture
def classes(tiny_classifier, folder) -> str:
    CrossEncoder.from_pretrained(tiny_classifier("bert", 3), labels=["모순", "함의", "중립"]).save_pretrained("관계")
    return "관계"
