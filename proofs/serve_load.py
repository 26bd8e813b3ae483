"""Mixed load and faults for twenty minutes: every answer is right, and memory does not grow; draws a plot of it.

Clients embed, rank, search, add and delete; others send broken bytes, bodies that are too large, half a request, or go
away. Every answer is compared with the library, bit for bit. At the end, SIGTERM must finish what was accepted.
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "serve"))

from serverprocess import ServerProcess
from sidebyside import RESULTS, finish

from sbert import BiEncoder

TEXTS = [f"{word} {number}" for number in range(400) for word in ("비가 온다", "a man eats", "결제 취소", "delivery")]
GROWTH = 1.1
"""By which factor memory may grow from the end of the first third to the end."""


class Watched:
    """What all clients share: the server, the expected vectors, and the counts."""

    def __init__(self, server: ServerProcess) -> None:
        self.server = server
        self.expected = BiEncoder.from_pretrained().encode(TEXTS, normalize_embeddings=True)
        self.counts: Counter[str] = Counter()
        self.errors: list[str] = []
        self.stop = threading.Event()

    def work(self, name: str, act: Callable[[Watched, random.Random], None], seed: int) -> None:
        """Act again and again; an exception ends the proof."""
        draw = random.Random(seed)
        while not self.stop.is_set():
            try:
                act(self, draw)
                self.counts[name] += 1
            except Exception as error:
                self.errors.append(f"{name}: {type(error).__name__}: {error}")
                self.stop.set()


def embed(watched: Watched, draw: random.Random) -> None:
    rows = draw.choices(range(len(TEXTS)), k=draw.choice([1, 1, 1, 4, 60]))
    answer = watched.server.ask("/embed", {"inputs": [TEXTS[row] for row in rows]})
    assert answer.status == 200, answer
    assert (np.array(answer.body, np.float32) == watched.expected[rows]).all()


def rank(watched: Watched, draw: random.Random) -> None:
    answer = watched.server.ask("/rerank", {"query": draw.choice(TEXTS), "texts": draw.choices(TEXTS, k=8)})
    assert answer.status == 200, answer
    assert len(answer.body) == 8


def search(watched: Watched, draw: random.Random) -> None:
    mode = draw.choice(["vector", "lexical", "hybrid"])
    answer = watched.server.ask("/search", {"query": draw.choice(TEXTS), "mode": mode})
    assert answer.status == 200, answer


def change(watched: Watched, draw: random.Random) -> None:
    documents = [{"id": draw.randrange(2000), "text": draw.choice(TEXTS)} for _ in range(20)]
    assert watched.server.ask("/documents", {"documents": documents}).status == 200
    ids = [draw.randrange(2000) for _ in range(20)]
    assert watched.server.ask("/documents", {"ids": ids}, "DELETE").status == 200
    time.sleep(0.05)


def malformed(watched: Watched, draw: random.Random) -> None:
    body = json.dumps({"inputs": "가나다", "truncate": True}).encode()
    head = (
        f"POST /embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
    )
    data = bytearray(head.encode() + b"connection: close\r\n\r\n" + body)
    for _ in range(draw.randint(1, 10)):
        data[draw.randrange(len(data))] = draw.randrange(256)
    answer = exchange(watched.server.port, bytes(data[: draw.randint(1, len(data))]))
    assert not answer.startswith(b"HTTP/1.1 5"), (data, answer)
    watched.stop.wait(0.1)  # the other clients get their turn on a small machine


def exchange(port: int, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(65536), b""))
        except ConnectionError:
            return b""


def huge(watched: Watched, draw: random.Random) -> None:
    answer = watched.server.ask("/embed", b'{"inputs": "' + b"a" * 100_000_000 + b'"}')
    assert answer.status == 413, answer
    watched.stop.wait(20)


def slow(watched: Watched, draw: random.Random) -> None:
    """Send half of a request, wait, and go away; sometimes after a large request that nobody waits for."""
    body = json.dumps({"inputs": draw.choices(TEXTS, k=200)}).encode()
    head = f"POST /embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    data = head.encode() + b"\r\n\r\n" + body
    with socket.create_connection(("127.0.0.1", watched.server.port), timeout=60) as connection:
        connection.sendall(data[: draw.choice([5, 60, len(data) // 2, len(data)])])
        watched.stop.wait(draw.choice([0.2, 0.5, 1]))


ACTS = {
    "embed": (embed, 4),
    "rank": (rank, 2),
    "search": (search, 2),
    "change": (change, 1),
    "malformed": (malformed, 2),
    "huge": (huge, 1),
    "slow": (slow, 2),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--malformed", type=int, default=10_000, help="least number of malformed requests")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = ServerProcess(Path(folder), "--store", Path(folder) / "a.db", "--log", "off", "--cache-mb", 20)
        watched = Watched(server)
        try:
            memory = load(watched, 60 * wanted.minutes, wanted.malformed)
            finished = end_under_load(watched)
        finally:
            watched.stop.set()
            server.stop()
    third = [size for at, size in memory if at < memory[-1][0] / 3]
    growth = max(size for _, size in memory[-10:]) / max(third[-10:])
    draw(memory)
    print(dict(watched.counts))
    assert not watched.errors, watched.errors
    assert growth <= GROWTH, growth
    finish(
        "prove-serve",
        {
            "memory_growth": (growth, GROWTH),
            "malformed": (watched.counts["malformed"], wanted.malformed),
            "finished_after_sigterm": (finished, 1.0),
        },
        {
            "minutes": wanted.minutes,
            "requests": dict(watched.counts),
            "megabytes": [round(size) for _, size in memory],
        },
    )


def load(watched: Watched, seconds: float, malformed: int) -> list[tuple[float, float]]:
    """Run all clients, and return the memory of the server over time, in seconds and MB."""
    threads = [
        threading.Thread(target=watched.work, args=(name, act, number))
        for name, (act, count) in ACTS.items()
        for number in range(count)
    ]
    for thread in threads:
        thread.start()
    began, sizes = time.monotonic(), []
    while not watched.stop.is_set():
        passed = time.monotonic() - began
        sizes.append((passed, resident(watched.server.process.pid)))
        health = watched.server.ask("/health")
        assert health.status == 200, health
        if passed > seconds and watched.counts["malformed"] >= malformed:
            break
        watched.stop.wait(max(1.0, seconds / 200))
    watched.stop.set()
    for thread in threads:
        thread.join()
    return sizes


def end_under_load(watched: Watched) -> float:
    """Send SIGTERM while requests are computed; return the share of those that were answered."""
    answers: list[int] = []

    def ask() -> None:
        answers.append(watched.server.ask("/embed", {"inputs": TEXTS[:40]}).status)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    while watched.server.ask("/status").body["queue"]["tokens"] == 0 and any(one.is_alive() for one in threads):
        pass
    time.sleep(0.2)
    assert watched.server.stop() == 0
    for thread in threads:
        thread.join()
    return sum(status == 200 for status in answers) / len(threads)


def resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def draw(memory: list[tuple[float, float]]) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3))
    axes.plot([at / 60 for at, _ in memory], [size for _, size in memory])
    axes.set(xlabel="minutes of mixed load and faults", ylabel="MB in memory", ylim=(0, None))
    figure.tight_layout()
    figure.savefig(RESULTS / "prove-serve-memory.png", dpi=120)


if __name__ == "__main__":
    main()
