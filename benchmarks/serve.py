"""sbert serve against sentence-transformers behind starlette without batching, with load from a second process.

Measures throughput with 1 to 64 clients, latency at 50 % and 90 % of the highest rate, the speed of large requests
against ``encode``, what an idle request costs beyond the model, and 1,000 connections at once.
"""

from __future__ import annotations

import argparse
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sidebyside import finish, seconds, sts_sentences
from sidebyside.load import Load, fixed_rate, many_clients

from sbert import BiEncoder, hub

CLIENTS = (1, 2, 4, 8, 16, 32, 64)
PLAIN = Path(__file__).parent / "sidebyside" / "plainserver.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1500, help="single sentences of each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=1000)
    wanted = parser.parse_args()
    texts = sts_sentences()
    folder = str(hub.resolve("all-MiniLM-L6-v2"))
    model = BiEncoder.from_pretrained(folder)
    with ours() as (port, process), plain(folder) as other:
        single = [{"inputs": text} for text in texts[: wanted.requests]]
        for each in (port, other):
            many_clients(each, "/embed", single[:50], 4)  # the first requests warm up
        rates = throughput({"sbert": port, "plain": other}, single, wanted.rounds)
        delays = latency(port, single, max(load.rate for load in rates["sbert"].values()))
        large = saturation(port, model, texts[: 4 * wanted.requests], wanted.rounds)
        idle = overhead(port, model, texts[: max(20, wanted.requests // 5)])
        many = crowd(port, texts, wanted.connections, process)
    bars = {
        "throughput_32_clients": (rates["sbert"][32].rate / rates["plain"][32].rate, 3.0),
        "saturation_of_encode": (large, 0.9),
        "idle_overhead_ms": (idle, 2.0),
        "lost_of_1000_connections": (many["lost"], 0.0),
    }
    table = {
        name: {str(clients): round(load.rate, 1) for clients, load in found.items()} for name, found in rates.items()
    }
    finish("serve", bars, {"requests_per_second": table, "latency_ms": delays, "connections": many})


@contextmanager
def ours() -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    port = free_port()
    options = ["--port", str(port), "--cache-mb", "0", "--log", "off"]
    with running([sys.executable, "-m", "sbert", "serve", "all-MiniLM-L6-v2", *options], port) as process:
        yield port, process


@contextmanager
def plain(folder: str) -> Iterator[int]:
    port = free_port()
    with running([sys.executable, str(PLAIN), folder, str(port)], port):
        yield port


@contextmanager
def running(command: list[str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(port, process)
            yield process
        finally:
            process.terminate()


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until the server answers."""
    body, headers = b'{"inputs": "a"}', {"content-type": "application/json"}
    while process.poll() is None:
        try:
            asked = urllib.request.Request(f"http://127.0.0.1:{port}/embed", body, headers)
            urllib.request.urlopen(asked, timeout=60).read()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise SystemExit(f"the server ended with {process.returncode}")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def throughput(ports: dict[str, int], bodies: list[object], rounds: int) -> dict[str, dict[int, Load]]:
    """The best round of each server for each number of clients; the servers take turns."""
    best: dict[str, dict[int, Load]] = {name: {} for name in ports}
    for clients in CLIENTS:
        for number in range(rounds):
            for name in list(ports) if number % 2 == 0 else list(ports)[::-1]:
                load = many_clients(ports[name], "/embed", bodies, clients)
                assert not load.failed, load.failed
                if clients not in best[name] or load.rate > best[name][clients].rate:
                    best[name][clients] = load
        shown = ", ".join(f"{name} {best[name][clients].rate:.0f}/s" for name in ports)
        print(f"{clients:3} clients: {shown}", flush=True)
    return best


def latency(port: int, bodies: list[object], highest: float) -> dict[str, dict[str, float]]:
    found = {}
    for share in (0.5, 0.9):
        load = fixed_rate(port, "/embed", bodies, share * highest)
        found[f"{share:.0%}"] = {"p50": round(load.milliseconds(50), 2), "p99": round(load.milliseconds(99), 2)}
        print(f"at {share:.0%} of {highest:.0f}/s: {found[f'{share:.0%}']}, failed {load.failed}", flush=True)
    return found


def saturation(port: int, model: BiEncoder, texts: list[str], rounds: int) -> float:
    """The time of ``encode`` for many texts, relative to that of requests of 64 texts from eight clients."""
    bodies = [{"inputs": texts[start : start + 64]} for start in range(0, len(texts), 64)]
    encode, served = [], []
    for _ in range(rounds):
        encode.append(seconds(lambda: model.encode(texts, normalize_embeddings=True)))
        served.append(many_clients(port, "/embed", bodies, 8).seconds)
    return min(encode) / min(served)


def overhead(port: int, model: BiEncoder, texts: list[str]) -> float:
    """Milliseconds of a request from one client beyond those of ``encode``, as a difference of medians."""
    alone = statistics.median(seconds(lambda text=text: model.encode([text])) for text in texts)
    asked = many_clients(port, "/embed", [{"inputs": text} for text in texts], 1)
    return asked.milliseconds(50) - 1000 * alone


def crowd(port: int, texts: list[str], connections: int, process: subprocess.Popen[bytes]) -> dict[str, float]:
    """Three requests on each of many connections at once."""
    before = memory(process)
    load = many_clients(port, "/embed", [{"inputs": text} for text in texts[: 3 * connections]], connections)
    return {
        "lost": load.failed,
        "slowest_by_median": round(max(load.latencies) / statistics.median(load.latencies), 2),
        "megabytes_more": round(memory(process) - before, 1),
    }


def memory(process: subprocess.Popen[bytes]) -> float:
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


if __name__ == "__main__":
    main()
