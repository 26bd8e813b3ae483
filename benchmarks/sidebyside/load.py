"""Load on a server from a process of its own: a number of clients at once, or a fixed rate of arrivals."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import random
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Load(NamedTuple):
    """What the clients saw."""

    seconds: float
    latencies: list[float]
    """Of the answers with status 200, in the order in which they came."""
    failed: int

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    def milliseconds(self, percentile: float) -> float:
        return 1000 * float(np.percentile(self.latencies, percentile))


def many_clients(port: int, path: str, bodies: Sequence[object], clients: int) -> Load:
    """Send every body once; each client waits for an answer before it asks again."""
    return _elsewhere(_closed, port, path, bodies, clients)


def fixed_rate(port: int, path: str, bodies: Sequence[object], rate: float) -> Load:
    """Send every body once, at random times with a mean rate; a latency begins when its request was due."""
    return _elsewhere(_open, port, path, bodies, rate)


def _elsewhere(function, port, path, bodies, number) -> Load:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_run, (function, port, path, [json.dumps(body).encode() for body in bodies], number))


def _run(function, port, path, bodies, number) -> Load:
    return asyncio.run(function(port, path, bodies, number))


class _Client:
    """One connection that is kept open."""

    def __init__(self, port: int, path: str) -> None:
        self.port, self.path = port, path

    async def ask(self, body: bytes) -> int:
        if not hasattr(self, "writer"):
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        head = f"POST {self.path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        self.writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        length = next(line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await self.reader.readexactly(int(length.split(b":")[1]))
        return int(answer[9:12])


async def _closed(port: int, path: str, bodies: list[bytes], clients: int) -> Load:
    waiting, latencies, failed = list(reversed(bodies)), [], 0

    async def one() -> None:
        nonlocal failed
        client = _Client(port, path)
        while waiting:
            body, began = waiting.pop(), time.perf_counter()
            try:
                status = await client.ask(body)
            except (OSError, asyncio.IncompleteReadError):
                status, client = 0, _Client(port, path)
            if status == 200:
                latencies.append(time.perf_counter() - began)
            else:
                failed += 1

    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(clients)))
    return Load(time.perf_counter() - began, latencies, failed)


async def _open(port: int, path: str, bodies: list[bytes], rate: float) -> Load:
    draw, free, latencies, failed = random.Random(0), [], [], 0

    async def one(body: bytes, due: float) -> None:
        nonlocal failed
        client = free.pop() if free else _Client(port, path)
        try:
            status = await client.ask(body)
        except (OSError, asyncio.IncompleteReadError):
            status = 0
        else:
            free.append(client)
        if status == 200:
            latencies.append(time.perf_counter() - due)
        else:
            failed += 1

    began = due = time.perf_counter()
    tasks = []
    for body in bodies:
        due += draw.expovariate(rate)
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        tasks.append(asyncio.create_task(one(body, due)))
    await asyncio.gather(*tasks)
    return Load(time.perf_counter() - began, latencies, failed)
