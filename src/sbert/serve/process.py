"""Runs the application: one process with uvicorn, or several that share a socket and the weights in memory."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from multiprocessing import connection
from multiprocessing.context import ForkProcess
from types import FrameType

import torch
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from sbert.errors import BadInput
from sbert.serve.application import application
from sbert.serve.loading import Loaded
from sbert.serve.metrics import forget_process
from sbert.serve.settings import Settings

_BACKLOG = 2048
_OPENING_SECONDS = 15.0  # time limit for the first line and the headers of a request
_LARGEST_HEAD = 300_000  # maximum number of bytes before the headers are complete, including the beginning of a body
_EARLY_SECONDS = 5.0  # a process that ends earlier than this is restarted after a pause


class PatientProtocol(HttpToolsProtocol):
    """HTTP that closes a connection if the headers of a request are not complete in time."""

    _opening: asyncio.TimerHandle | None = None
    _head = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time limit of the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Start the time limit of a further request when it begins, and refuse endless headers."""
        if self._opening is None and (self.cycle is None or self.cycle.response_complete):
            self._wait()
        if self._opening is not None:
            self._head += len(data)
            if self._head > _LARGEST_HEAD:
                self.transport.close()
                return
        super().data_received(data)

    def on_headers_complete(self) -> None:
        """Stop the time limit."""
        self._stop_waiting()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time limit."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._head = 0
        self._opening = self.loop.call_later(_OPENING_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
            self._opening = None

    def _give_up(self) -> None:
        self._opening = None
        self.transport.close()


def bound_socket(host: str, port: int) -> socket.socket:
    """Bind a socket to an address. It does not accept connections yet."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    reserved = socket.socket(family)
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        reserved.bind((host, port))
    except (OSError, OverflowError) as error:
        reserved.close()
        raise BadInput(f"the server cannot use {host}:{port} ({error}); name another --host or --port") from None
    reserved.set_inheritable(True)
    return reserved


def run(loaded: Loaded, settings: Settings, listening: socket.socket, shared_metrics: str | None = None) -> None:
    """Serve in this process until SIGTERM or SIGINT; accepted requests are finished first."""
    signal.signal(signal.SIGTERM, _leave)
    config = uvicorn.Config(
        application(loaded, settings, shared_metrics),
        http=PatientProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=round(settings.answer_seconds) + 5,
    )
    uvicorn.Server(config).run(sockets=[listening])


def run_several(count: int, loaded: Loaded, settings: Settings, listening: socket.socket, shared_metrics: str) -> None:
    """Serve in ``count`` processes that share the weights; one that ends is restarted."""
    threads = max(1, torch.get_num_threads() // count)
    parent = os.getpid()

    def work() -> None:
        torch.set_num_threads(threads)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
        run(loaded, settings, listening, shared_metrics)

    _Supervisor(count, work, lambda pid: forget_process(shared_metrics, pid)).run()


class _Supervisor:
    """Keeps a number of processes alive until a signal ends them all."""

    def __init__(self, count: int, work: Callable[[], None], ended: Callable[[int], None]) -> None:
        self._work, self._ended = work, ended
        self._stopping = False
        self._started: dict[ForkProcess, float] = {}
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, self._stop)
        for _ in range(count):
            self._start()

    def run(self) -> None:
        """Wait for the processes, and replace those that end, until a signal arrives."""
        while self._started:
            sentinels = {process.sentinel: process for process in self._started}
            for sentinel in connection.wait(list(sentinels), timeout=0.5):
                self._replace(sentinels[int(sentinel)])  # type: ignore[arg-type]

    def _start(self) -> None:
        process = multiprocessing.get_context("fork").Process(target=self._work, name="sbert-serve")
        process.start()
        self._started[process] = time.monotonic()

    def _replace(self, process: ForkProcess) -> None:
        early = time.monotonic() - self._started.pop(process) < _EARLY_SECONDS
        process.join()
        if process.pid is not None:
            self._ended(process.pid)
        if self._stopping:
            return
        if early:
            time.sleep(1)
        self._start()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._stopping = True
        for process in self._started:
            if process.pid is not None and process.is_alive():
                os.kill(process.pid, signal.SIGTERM)


def _leave(number: int, frame: FrameType | None) -> None:
    """End the process in the usual way, after uvicorn has finished the accepted requests."""
    raise SystemExit(0)


def _end_with(parent: int) -> None:
    """End this process when its parent has ended."""
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)
