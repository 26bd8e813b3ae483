"""What must not disturb others: broken, huge, slow and half-open requests, a failing model, the end of a server."""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file
from serverprocess import ServerProcess

import sbert


def raw(server, data: bytes, seconds: float = 20) -> bytes:
    """Send bytes, and return everything that comes back until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=seconds) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(65536), b""))
        except OSError:
            return b""


def test_large_bodies_get_one_clear_answer(server):
    for size in (3_000_000, 30_000_000):
        answer = server.ask("/embed", b'{"inputs": "' + b"a" * size + b'"}')
        assert (answer.status, answer.body["error_type"]) == (413, "Validation")
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("POST", "/v1/embeddings", iter([b"x" * 1_000_000] * 4), {"content-type": "application/json"})
    answer = connection.getresponse()
    assert answer.status == 413
    assert json.load(answer)["error"]["code"] == "too_large"
    connection.close()


def test_malformed_requests_harm_nobody(server):
    draw = random.Random(0)
    bodies = [
        b'{"inputs": "\xff"}',
        b'{"inputs": "\\ud800"}',
        b"[" * 100_000,
        b'{"inputs": ["a", null]}',
        b"null",
        b"",
    ]
    for body in bodies:
        assert 400 <= server.ask("/embed", body).status < 500
    assert server.ask("/embed", b"{}", content_type="text/plain").status == 415
    assert server.ask("/embed", b"{}", content_encoding="gzip").status == 415
    good = (
        b"POST /embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 16\r\n\r\n"
        b'{"inputs": "a"} '
    )
    for _ in range(60):
        data = bytearray(good)
        for _ in range(draw.randint(1, 8)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        answer = raw(server, bytes(data[: draw.randint(1, len(data))]))
        assert not answer.startswith(b"HTTP/1.1 5")
    assert server.ask("/embed", {"inputs": "a"}).status == 200


def test_a_foreign_name_is_refused(server):
    assert server.ask("/status", host="evil.example").status == 400
    assert "access-control-allow-origin" not in server.ask("/status", origin="http://evil.example").headers


def test_keys_decide_who_may_read_and_write(guarded):
    read = {"authorization": "Bearer reader-0123456789abcdef"}
    assert guarded.ask("/search", {"query": "결제"}).status == 401
    assert (
        guarded.ask("/search", {"query": "결제"}, authorization="Bearer wrong").headers["www-authenticate"] == "Bearer"
    )
    assert guarded.ask("/embed", {"inputs": "a"}).body == b""
    assert guarded.ask("/search", {"query": "결제"}, **read).status == 200
    assert guarded.ask("/documents", {"documents": [{"text": "a"}]}, **read).status == 403
    assert guarded.ask("/health").status == guarded.ask("/metrics").status == 200
    for header in ("Basic reader-0123456789abcdef", "Bearer", "Bearer  writer-0123456789abcdeg", ""):
        assert guarded.ask("/v1/models", authorization=header).status == 401


def test_paths_stay_in_the_page(server):
    for path in ("/page/../settings.py", "/page/..%2f..%2fsettings.py", "/page/%2e%2e", "/page//etc/passwd"):
        assert raw(server, f"GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode()).startswith(
            b"HTTP/1.1 404"
        )


def test_request_ids_and_the_log(server):
    assert (
        server.ask("/embed", {"inputs": "비밀 이야기"}, x_request_id="내-id".encode().decode("latin-1")).status == 200
    )
    assert (
        server.ask("/embed", {"inputs": "비밀 이야기"}, x_request_id="order-17").headers["x-request-id"] == "order-17"
    )
    line = next(line for line in server.lines() if line["id"] == "order-17")
    assert (line["path"], line["status"], line["items"]) == ("/embed", 200, 1)
    assert "비밀" not in server.log.read_text("utf-8")
    assert "\\ube44" not in server.log.read_text("utf-8")


def test_clients_that_go_away_or_say_nothing(server):
    silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(50)]
    for connection in silent[25:]:
        connection.sendall(b"POST /embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-le")
    body = json.dumps({"inputs": [f"긴 글 {number} " * 50 for number in range(300)]}).encode()
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", server.port)) as leaving:
            head = "POST /embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            leaving.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
    assert server.ask("/embed", {"inputs": "a"}).status == 200
    until = time.monotonic() + 30
    while server.ask("/status").body["queue"]["tokens"] and time.monotonic() < until:
        time.sleep(0.1)
    assert server.ask("/status").body["queue"]["tokens"] == 0
    for connection in silent:
        connection.close()


@pytest.fixture(scope="module")
def poisoned(models, tmp_path_factory):
    """A server whose model gives NaN for every text with one token."""
    folder = tmp_path_factory.mktemp("독") / "bert"
    shutil.copytree(models["bert"], folder)
    token = int(sbert.BiEncoder.from_pretrained(folder).tokenize(["guitar"]).ids[1])
    weights = load_file(folder / "model.safetensors")
    weights["embeddings.word_embeddings.weight"][token] = float("nan")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    server = ServerProcess(
        folder.parent, folder, "--workers", 2, "--cors", "https://site.example", "--queue-tokens", 2000
    )
    yield server
    server.stop()


def test_a_poisoned_text_fails_alone(poisoned):
    with ThreadPoolExecutor(16) as pool:
        texts = ["guitar" if number % 4 == 0 else f"비 {number}" for number in range(40)]
        answers = list(pool.map(lambda text: poisoned.ask("/embed", {"inputs": text}), texts))
    for text, answer in zip(texts, answers, strict=True):
        assert answer.status == (424 if text == "guitar" else 200)
    assert answers[0].body["error_type"] == "Backend"
    assert answers[0].headers["x-should-retry"] == "false"
    assert poisoned.ask("/health").status == 200
    counted = re.search(r'te_request_count\{method="/embed"\} (\S+)', poisoned.ask("/metrics").body.decode())
    assert float(counted[1]) >= 40  # of both processes together


def test_cors_is_for_the_named_website_alone(poisoned):
    named = poisoned.ask("/embed", {"inputs": "a"}, origin="https://site.example").headers
    assert named["access-control-allow-origin"] == "https://site.example"
    assert (
        "access-control-allow-origin"
        not in poisoned.ask("/embed", {"inputs": "a"}, origin="https://b.example").headers
    )


def test_too_much_gets_429_and_a_true_time(poisoned):
    body = {"inputs": [f"text number {number} of a large request" for number in range(120)]}
    with ThreadPoolExecutor(24) as pool:
        answers = list(
            pool.map(
                lambda number: poisoned.ask("/embed", {"inputs": [f"{number} {text}" for text in body["inputs"]]}),
                range(24),
            )
        )
    refused = [answer for answer in answers if answer.status == 429]
    assert {answer.status for answer in answers} <= {200, 429}
    for answer in refused:
        assert int(answer.headers["retry-after"]) >= 1
        assert answer.body["error_type"] == "Overloaded"
    if refused:
        time.sleep(max(int(answer.headers["retry-after"]) for answer in refused))
    assert poisoned.ask("/embed", body).status == 200


def children(server) -> list[int]:
    pid = server.process.pid
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]


def test_a_killed_worker_is_replaced_and_sigterm_finishes_what_was_accepted(poisoned):
    before = children(poisoned)
    os.kill(before[0], signal.SIGKILL)
    deadline = time.monotonic() + 60
    while len(now := children(poisoned)) < 2 or now == before:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: poisoned.ask("/embed", {"inputs": "눈"}), range(16)))
    assert {answer.status for answer in answers} == {200}
    ended = []
    with closing(http.client.HTTPConnection("127.0.0.1", poisoned.port, timeout=60)) as connection:
        connection.request("GET", "/openapi.json")
        connection.getresponse().read()
        body = json.dumps({"inputs": [f"text {number}" for number in range(200)]})
        connection.request("POST", "/embed", body, {"content-type": "application/json"})
        time.sleep(0.2)
        ending = threading.Thread(target=lambda: ended.append(poisoned.stop()))
        ending.start()
        assert len(json.load(connection.getresponse())) == 200
    ending.join(60)
    assert ended == [0]
