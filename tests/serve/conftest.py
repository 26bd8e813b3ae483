"""A server with a tiny model of each kind and a small store, started once for all tests of this room."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from serverprocess import DOCUMENTS, ServerProcess

import sbert

PACKAGES = ("starlette", "uvicorn", "httptools", "msgspec", "orjson", "prometheus_client")


@pytest.fixture(scope="session", autouse=True)
def installed() -> None:
    """Skip the tests of this room where the extra is missing."""
    for package in PACKAGES:
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install 'sbert[serve]'")


@pytest.fixture(scope="session")
def models(tiny_folder, tiny_classifier, tmp_path_factory) -> dict[str, Path]:
    """Folders of a bi-encoder, a cross-encoder, a classifier and a poly-encoder."""
    root = tmp_path_factory.mktemp("models")
    sbert.PolyEncoder.from_pretrained(tiny_folder("bert"), num_codes=5).save_pretrained(root / "poly")
    classes = sbert.CrossEncoder.from_pretrained(tiny_classifier("bert", 3), labels=["모순", "함의", "중립"])
    classes.save_pretrained(root / "classes")
    return {
        "bert": tiny_folder("bert"),
        "bert-1": tiny_classifier("bert", 1),
        "poly": root / "poly",
        "classes": root / "classes",
    }


def fill(path: Path, model: Path) -> Path:
    """Write a small store."""
    ids, texts, metadata = zip(*DOCUMENTS, strict=True)
    searcher = sbert.Searcher.open(path, model)
    searcher.add(texts, ids, metadata=metadata)
    return path


@pytest.fixture(scope="session")
def store(models, tmp_path_factory) -> Path:
    return fill(tmp_path_factory.mktemp("store") / "질문.db", models["bert"])


@pytest.fixture(scope="session")
def server(models, store, tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    arguments = [models["bert"], models["poly"], models["classes"], "--rerank", models["bert-1"], "--store", store]
    running = ServerProcess(folder, *arguments, "--max-items", 300, "--max-body-mb", 2)
    yield running
    assert running.stop() == 0
    assert "failure" not in running.log.read_text("utf-8")


@pytest.fixture(scope="session")
def guarded(models, tmp_path_factory):
    """A server with keys: one that may write, and one that may only read."""
    folder = tmp_path_factory.mktemp("열쇠")
    keys = folder / "keys"
    keys.write_text("# 열쇠\nwriter-0123456789abcdef\nreader-0123456789abcdef read\n", "utf-8")
    store = fill(folder / "store.db", models["bert"])
    running = ServerProcess(
        folder, models["bert"], models["bert-1"], models["classes"], "--store", store, "--api-key-file", keys
    )
    yield running
    assert running.stop() == 0


@pytest.fixture(scope="session")
def bi(models) -> sbert.BiEncoder:
    return sbert.BiEncoder.from_pretrained(models["bert"])


@pytest.fixture(scope="session")
def cross(models) -> sbert.CrossEncoder:
    return sbert.CrossEncoder.from_pretrained(models["bert-1"])


@pytest.fixture(scope="session")
def poly(models) -> sbert.PolyEncoder:
    return sbert.PolyEncoder.from_pretrained(models["poly"])
