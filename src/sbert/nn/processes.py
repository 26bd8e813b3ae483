"""Runs a function in worker processes that may die or hang. Works with any function that can be pickled.

A worker is a new Python process that does not import the program that started it, so that programs need no
``__main__`` guard and notebooks work. It receives its items through a pipe, one at a time, and ends when the pipe is
closed, even if the program was killed.
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

ReportProgress = Callable[[Any], None]
"""A function that reports the progress on an item."""
Work = Callable[[Any, ReportProgress], Any]
"""A function that a worker applies to an item; it may report its progress."""
ATTEMPTS = 3
"""Number of lost workers with the same item after which the whole call fails."""
_START = (
    "import pickle, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    "sys.path[:] = pickle.load(sys.stdin.buffer); from sbert.nn.processes import serve; serve()"
)
_SECONDS_BETWEEN_CHECKS = 1.0
_SECONDS_TO_START = 600.0
"""Minimum time that a worker has to start, whatever the timeout, because it imports libraries and loads a model."""


class Event(NamedTuple):
    """A message about an item."""

    kind: str
    """"done", "progress" or "lost"."""
    item: Any
    value: Any
    """The result, the reported progress, or a sentence that explains how the worker of the item was lost."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Prepares every worker for its items."""

    prepare: Callable[..., Work]
    """Called once in each worker; returns the function for the items. It must be importable from a module."""
    arguments: tuple[Any, ...]
    timeout: float | None = None
    """Seconds without a report after which a worker is killed."""


def in_processes(setup: Setup, count: int, items: Iterable[Any]) -> Generator[Event, None, None]:
    """Apply a function to every item in ``count`` processes, and yield events.

    The item of a lost worker is given to a new worker. The first exception of the function is raised here, and all
    workers end. Items are taken from the iterable only when a worker is free.
    """
    messages: _Messages = SimpleQueue()
    supply, lost = _Supply(items), dict[int, int]()
    workers = [_Worker(setup, messages) for _ in range(count)]
    try:
        for worker in workers:
            worker.take_from(supply)
        while any(worker.task is not None for worker in workers):
            worker, kind, value = _next(messages, workers)
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
            if kind != "progress":
                worker.take_from(supply)
            yield Event(kind, item, value)
    finally:
        for worker in workers:
            worker.stop()


def _next(messages: _Messages, workers: list[_Worker]) -> tuple[_Worker, str, Any]:
    """Wait for the next message about a running item, and kill workers that have been silent for too long."""
    while True:
        try:
            worker, process, (kind, value) = messages.get(timeout=_SECONDS_BETWEEN_CHECKS)
        except Empty:
            for worker in workers:
                worker.kill_if_silent()
            continue
        if process is worker.holder:  # otherwise it was lost after its last item
            worker.mark_alive(kind)
            return worker, kind, value


_Messages = SimpleQueue["tuple[_Worker, subprocess.Popen[bytes], tuple[str, Any]]"]


class _Supply:
    """Numbered items; returned items come first."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._items: Iterator[tuple[int, Any]] = enumerate(items)
        self._returned: deque[tuple[int, Any]] = deque()

    def take(self) -> tuple[int, Any] | None:
        return self._returned.popleft() if self._returned else next(self._items, None)

    def give_back(self, task: tuple[int, Any]) -> None:
        self._returned.append(task)


class _Worker:
    """A process, which is started with its first item, and two threads that write to it and read from it."""

    def __init__(self, setup: Setup, messages: _Messages) -> None:
        self.task: tuple[int, Any] | None = None
        self.holder: subprocess.Popen[bytes] | None = None
        """The process that the task was given to."""
        self._setup, self._messages = setup, messages
        self._process: subprocess.Popen[bytes] | None = None
        self._silent = self._ready = False
        self._last_message = time.monotonic()

    def take_from(self, supply: _Supply) -> None:
        """Start the next item, or stop if there is none."""
        self.task = supply.take()
        if self.task is None:
            self.stop()
            return
        self._last_message = time.monotonic()
        self.holder = self._process or self._start()
        self._tasks.put(self.task[1])

    def mark_alive(self, kind: str) -> None:
        """Record that the worker is alive."""
        self._last_message = time.monotonic()
        self._ready = self._ready or kind == "ready"

    def kill_if_silent(self) -> None:
        """Kill the worker if it has reported nothing for too long."""
        process, timeout = self._process, self._setup.timeout
        if process is None or timeout is None:
            return
        if time.monotonic() - self._last_message > (timeout if self._ready else max(timeout, _SECONDS_TO_START)):
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
            self._messages.put((self, process, ("failed", error)))

    def _listen(self, process: subprocess.Popen[bytes], tasks: SimpleQueue[Any]) -> None:
        assert process.stdout is not None
        try:
            with process.stdout as pipe:
                while True:
                    self._messages.put((self, process, pickle.load(pipe)))
        except (EOFError, OSError, pickle.UnpicklingError):
            reason = self._reason(process.wait())
        if process is self._process:  # otherwise it was stopped
            self._process = None
        tasks.put(None)
        self._messages.put((self, process, ("lost", reason)))

    def _reason(self, code: int) -> str:
        if self._silent:
            return f"a worker process reported nothing for {self._setup.timeout:g} s and was ended"
        if code == -signal.SIGKILL:
            return "a worker process was killed, as the system also does when memory runs out"
        return f"a worker process ended with {f'signal {-code}' if code < 0 else f'exit code {code}'}"


def serve() -> None:
    """Run a worker process. Only replies are written to its standard output."""
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    setup: Setup = pickle.load(requests)
    tasks: SimpleQueue[tuple[Any]] = SimpleQueue()
    threading.Thread(target=_receive, args=(requests, tasks), daemon=True).start()
    reply = _Replies(replies)
    try:
        work = setup.prepare(*setup.arguments)
        reply("ready", None)
        while True:
            (item,) = tasks.get()
            reply("done", work(item, lambda value: reply("progress", value)))
    except BaseException as error:
        reply("failed", portable(error))


class _Replies:
    """Writes complete messages, from any thread."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe

    def __call__(self, kind: str, value: Any) -> None:
        self._pipe.write(pickle.dumps((kind, value)))
        self._pipe.flush()


def _receive(requests: IO[bytes], tasks: SimpleQueue[tuple[Any]]) -> None:
    """Queue the items, and end the process when the pipe is closed."""
    try:
        while True:
            tasks.put(pickle.load(requests))
    except (EOFError, OSError):
        os._exit(1)


def portable(error: BaseException) -> BaseException:
    """Return an exception that can be unpickled in another process."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        if isinstance(error, SbertError):
            return BadInput(str(error)) if isinstance(error, BadInput) else SbertError(str(error))
        return SbertError(f"a worker process failed with {type(error).__name__}: {shown(str(error), 500)}")
    return error
