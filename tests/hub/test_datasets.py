"""One split of a data set, fetched from a hub that answers on this machine."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from huggingface_hub import constants

from sbert.errors import BadInput, BadOption
from sbert.evaluate.suites.catalog import SUITES, download
from sbert.hub.datasets import fetch_split

SHA = "0123456789" * 4
ROWS = [("비가 온다", "비가 내린다", 4.5), ("비가 온다", "고양이가 잔다", 0.5), ("A cat", "A dog", 2.0)]
JSONL = "".join(json.dumps({"sentence1": a, "sentence2": b, "score": s}) + "\n" for a, b, s in ROWS).encode()
FILES = {
    "mteb/sts12-sts": ["README.md", "train.jsonl", "test.jsonl", "test.py"],
    "klue/klue": ["sts/validation-00000-of-00001.jsonl", "nli/validation-00000-of-00001.jsonl"],
    "org/shards": ["data/test-00000-of-00002.jsonl", "data/test-00001-of-00002.jsonl"],
}


class Hub(BaseHTTPRequestHandler):
    """As much of the hub as one file needs."""

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = unquote(urlsplit(self.path).path)
        repository = next((name for name in FILES if f"/{name}/" in path), None)
        if repository and path.startswith("/api/"):
            entries = [{"type": "file", "path": n, "size": len(JSONL), "oid": "0" * 40} for n in FILES[repository]]
            self.answer(200, json.dumps(entries).encode(), {"Content-Type": "application/json"})
        elif repository:
            self.answer(200, JSONL, {"ETag": f'"{path}"', "X-Repo-Commit": SHA})
        else:
            self.answer(404, b"", {"X-Error-Code": "RepoNotFound"})

    def answer(self, code: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_PROGRESS_BARS", True)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("repo", "split", "config", "name"),
    [("mteb/sts12-sts", "test", "", "test.jsonl"), ("klue/klue", "validation", "sts", "validation.jsonl")],
)
def test_fetched(tmp_path, repo, split, config, name):
    path = fetch_split(repo, split, config, tmp_path / "data" / split)
    assert path == tmp_path / "data" / name
    assert path.read_bytes() == JSONL
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("repo", "complaint"),
    [
        ("org/shards", "the hub's org/shards has 2 files of the split 'test', but one is expected"),
        ("klue/klue", "the hub's klue/klue has 0 files of the split 'test'"),
        ("org/nothing", r"the hub did not give the data set org/nothing \(RepositoryNotFoundError"),
    ],
)
def test_refused(tmp_path, repo, complaint):
    with pytest.raises(BadInput, match=complaint):
        fetch_split(repo, "test", "", tmp_path / "test")
    assert not (tmp_path / "test.jsonl").exists()


def test_a_suite_fetches_only_what_it_lacks(tmp_path, monkeypatch):
    suite = SUITES["sts"].only("sts12", "sts13")
    monkeypatch.setitem(SUITES, "sts", suite)
    folder = tmp_path / "data"
    folder.mkdir()
    header = "split\tsubset\tscore\tsentence1\tsentence2"
    lines = [header, *(f"test\tx\t{score}\t{a}\t{b}" for a, b, score in ROWS)]
    (folder / "sts13.tsv").write_text("\n".join(lines), encoding="utf-8")
    assert download("sts", folder) == [folder / "mteb" / "sts12-sts" / "test.jsonl"]
    assert download("sts", folder) == []
    with pytest.raises(BadOption, match=r"suite is 'stz'.*did you mean 'sts'"):
        download("stz", folder)
