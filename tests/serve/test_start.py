"""What is refused before a server starts, and the check that turns red when a model goes wrong."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from commandline import failure

import sbert

pytest.importorskip("starlette", reason="starlette is not installed: pip install 'sbert[serve]'")

from sbert.cli.verbs.serve import _announce as announce
from sbert.serve import health as health_
from sbert.serve.engine import Engine
from sbert.serve.health import Health
from sbert.serve.loading import load_all
from sbert.serve.served import Served


@pytest.fixture(autouse=True)
def unchanged_environment(monkeypatch):
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "has no keys"),
        ("짧은키", "line 1 of the file of keys"),
        ("a" * 20 + " admin", "followed by read or write"),
    ],
)
def test_wrong_keys_are_refused(tmp_path, content, sentence):
    path = tmp_path / "열쇠"
    path.write_text(content, "utf-8")
    assert sentence in failure("serve", "--api-key-file", path)
    assert "짧은키" not in failure("serve", "--api-key-file", path)


def test_what_cannot_be_served_is_refused(models, damaged, tmp_path):
    assert "name another" in failure("serve", "--api-key-file", tmp_path / "none")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert "name another --host or --port" in failure("serve", "--port", taken.getsockname()[1])
    assert "--log" in failure("serve", "--log", "xml", code=2)
    needs = failure("serve", models["bert-1"], "--store", tmp_path / "a.db", "--port", 0)
    assert "needs a bi-encoder or a poly-encoder" in needs
    twin = damaged(models["bert"])
    other = twin.rename(twin.parent / "bert")
    assert "two models are named 'bert'" in failure("serve", models["bert"], other, "--port", 0)


def test_the_start_says_how_many_documents_the_store_has(server, models, tmp_path, capsys):
    assert " and 5 documents at http://127.0.0.1:" in server.log.read_text("utf-8")
    new = load_all([str(models["bert"])], store=str(tmp_path / "새것.db"))
    announce(new, ("127.0.0.1", 8080), False)
    assert "0 documents at" in (told := capsys.readouterr().err)
    assert "warning: the store is empty" in told


def test_health_is_a_real_forward_pass(models, monkeypatch):
    monkeypatch.setattr(health_, "_VALID_SECONDS", 0.0)
    model, engine = sbert.BiEncoder.from_pretrained(models["bert"]), Engine(workers=1)
    served = Served("bert", model, engine, ThreadPoolExecutor(1))
    health = Health([served])

    async def problems() -> tuple[str | None, str | None, str | None]:
        before = await health.problem()
        weight = next(model.parameters())
        with torch.no_grad():
            kept = weight.clone()
            weight.mul_(1.001)
            changed = await health.problem()
            weight.fill_(float("nan"))
            broken = await health.problem()
            weight.copy_(kept)
        assert await health.problem() is None
        return before, changed, broken

    before, changed, broken = asyncio.run(problems())
    assert before is None
    assert changed is not None
    assert "gives different results than at the start of the server" in changed
    assert broken is not None
    assert "the model gives NaN" in broken
    health.close()
    engine.close()
