"""Runs a function in worker processes that may die or hang. Works with any function that can be pickled.

A worker is a fresh Python process that imports only what it needs, nothing of the program that started it, so that
programs need no ``__main__`` guard and notebooks work. It gets its items through a pipe, one at a time, and ends when
the pipe is closed, be it because the program was killed.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import IO, Any, NamedTuple

from sbert.errors import BadInput, SbertError, WorkersLost, shown

Tell = Callable[[Any], None]
"""What a function calls to report its progress on an item."""
Work = Callable[[Any, Tell], Any]
"""A function that a worker applies to an item."""
ATTEMPTS = 3
"""Number of workers that an item may cost before the whole call fails."""
_START = (
    "import pickle, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    "sys.path[:] = pickle.load(sys.stdin.buffer); from sbert.nn.processes import serve; serve()"
)
_SECONDS_BETWEEN_CHECKS = 1.0
_SECONDS_TO_START = 600.0
"""A worker may take so long to start, whatever the timeout: it imports libraries and loads a model."""


class Event(NamedTuple):
    """What happened to an item."""

    kind: str
    """"done", "news" or "lost"."""
    item: Any
    value: Any
    """The result, what the function told, or a sentence about how the worker was lost that worked on the item."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What every worker does first."""

    prepare: Callable[..., Work]
    """Called once in each worker; returns the function for the items. A function of a module."""
    arguments: tuple[Any, ...]
    timeout: float | None = None
    """Seconds after which a worker that reports nothing about its item is ended."""


def in_processes(setup: Setup, count: int, items: Iterable[Any]) -> Generator[Event, None, None]:
    """Apply a function to every item in ``count`` processes, and yield what happens.

    An item whose worker was lost is given to a new one. The first exception of the function is raised here, and all
    workers end. Items are taken from the iterable only when a worker is free.
    """
    news: _News = SimpleQueue()
    supply, lost = _Supply(items), dict[int, int]()
    workers = [_Worker(setup, news) for _ in range(count)]
    try:
        for worker in workers:
            worker.take_from(supply)
        while any(worker.task is not None for worker in workers):
            worker, kind, value = _next(news, workers)
            if worker.task is None or kind == "ready":
                continue
            number, item = worker.task
            if kind == "failed":
                raise value
            if kind == "lost":
                lost[number] = lost.get(number, 0) + 1
                if lost[number] >= ATTEMPTS:
                    raise WorkersLost(
                        f"{ATTEMPTS} worker processes were lost with the same work, the last one because {value}; "
                        "start fewer workers if memory is short, or allow more time"
                    )
                supply.give_back(worker.task)
            if kind != "news":
                worker.take_from(supply)
            yield Event(kind, item, value)
    finally:
        for worker in workers:
            worker.stop()


def _next(news: _News, workers: list[_Worker]) -> tuple[_Worker, str, Any]:
    """Wait for the next message about an item in work, and end workers that have been silent for too long."""
    while True:
        try:
            worker, process, (kind, value) = news.get(timeout=_SECONDS_BETWEEN_CHECKS)
        except Empty:
            for worker in workers:
                worker.end_if_silent()
            continue
        if process is worker.holder:  # else it was lost after its last item
            worker.heard(kind)
            return worker, kind, value


_News = SimpleQueue["tuple[_Worker, subprocess.Popen[bytes], tuple[str, Any]]"]


class _Supply:
    """Numbered items, those that came back first."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._items: Iterator[tuple[int, Any]] = enumerate(items)
        self._returned: deque[tuple[int, Any]] = deque()

    def take(self) -> tuple[int, Any] | None:
        return self._returned.popleft() if self._returned else next(self._items, None)

    def give_back(self, task: tuple[int, Any]) -> None:
        self._returned.append(task)


class _Worker:
    """A process, which is started when it gets an item, and two threads that write to it and listen to it."""

    def __init__(self, setup: Setup, news: _News) -> None:
        self.task: tuple[int, Any] | None = None
        self.holder: subprocess.Popen[bytes] | None = None
        """The process that the task was given to."""
        self._setup, self._news = setup, news
        self._process: subprocess.Popen[bytes] | None = None
        self._silent = self._ready = False
        self._heard = time.monotonic()

    def take_from(self, supply: _Supply) -> None:
        """Work on the next item, if there is one."""
        self.task = supply.take()
        if self.task is None:
            self.stop()
            return
        self._heard = time.monotonic()
        self.holder = self._process or self._start()
        self._tasks.put(self.task[1])

    def heard(self, kind: str) -> None:
        """Note that the worker is alive."""
        self._heard = time.monotonic()
        self._ready = self._ready or kind == "ready"

    def end_if_silent(self) -> None:
        """End a worker that has reported nothing for too long."""
        process, timeout = self._process, self._setup.timeout
        if process is None or timeout is None:
            return
        if time.monotonic() - self._heard > (timeout if self._ready else max(timeout, _SECONDS_TO_START)):
            self._silent = True
            process.kill()

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        process, self._process, self.task, self.holder = self._process, None, None, None
        if process is not None:
            self._tasks.put(None)
            process.kill()
            process.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        self._silent = self._ready = False
        self._tasks: SimpleQueue[Any] = SimpleQueue()
        command = [sys.executable, "-c", _START]
        process = self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        threading.Thread(target=self._write, args=(process, self._tasks), daemon=True).start()
        threading.Thread(target=self._listen, args=(process, self._tasks), daemon=True).start()
        return process

    def _write(self, process: subprocess.Popen[bytes], tasks: SimpleQueue[Any]) -> None:
        assert process.stdin is not None
        try:
            with process.stdin as pipe:
                for message in (sys.path, self._setup):
                    pickle.dump(message, pipe)
                while (task := tasks.get()) is not None:
                    pickle.dump((task,), pipe)
                    pipe.flush()
        except OSError:  # the process has ended, which the other thread reports
            pass
        except Exception as error:  # an item cannot be pickled
            self._news.put((self, process, ("failed", error)))

    def _listen(self, process: subprocess.Popen[bytes], tasks: SimpleQueue[Any]) -> None:
        assert process.stdout is not None
        try:
            with process.stdout as pipe:
                while True:
                    self._news.put((self, process, pickle.load(pipe)))
        except (EOFError, OSError, pickle.UnpicklingError):
            how = self._how(process.wait())
        if process is self._process:  # else it was stopped
            self._process = None
        tasks.put(None)
        self._news.put((self, process, ("lost", how)))

    def _how(self, code: int) -> str:
        if self._silent:
            return f"a worker process reported nothing for {self._setup.timeout:g} s and was ended"
        if code == -signal.SIGKILL:
            return "a worker process was killed, as the system also does when memory runs out"
        return f"a worker process ended with {f'signal {-code}' if code < 0 else f'exit code {code}'}"


def serve() -> None:
    """Do the work of one worker process. Nothing but replies is written to its standard output."""
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    setup: Setup = pickle.load(requests)
    tasks: SimpleQueue[tuple[Any]] = SimpleQueue()
    threading.Thread(target=_receive, args=(requests, tasks), daemon=True).start()
    tell = _Replies(replies)
    try:
        work = setup.prepare(*setup.arguments)
        tell("ready", None)
        while True:
            (item,) = tasks.get()
            tell("done", work(item, lambda value: tell("news", value)))
    except BaseException as error:
        tell("failed", portable(error))


class _Replies:
    """Writes messages whole, from any thread."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe

    def __call__(self, kind: str, value: Any) -> None:
        self._pipe.write(pickle.dumps((kind, value)))
        self._pipe.flush()


def _receive(requests: IO[bytes], tasks: SimpleQueue[tuple[Any]]) -> None:
    """Pass on the items, and end the process when nobody can send more."""
    try:
        while True:
            tasks.put(pickle.load(requests))
    except (EOFError, OSError):
        os._exit(1)


def portable(error: BaseException) -> BaseException:
    """Return an exception that another process can read."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        if isinstance(error, SbertError):
            return BadInput(str(error)) if isinstance(error, BadInput) else SbertError(str(error))
        return SbertError(f"a worker process failed with {type(error).__name__}: {shown(str(error), 500)}")
    return error
