"""Runs functions on worker threads that use one core each. Works with any function.

The workers are started when they are first needed, wait for the next call, and end with the process. Python raises
KeyboardInterrupt in the main thread only, so every counter that must stay correct is kept by the workers themselves.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import closing, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")
_PAUSE_HARD = 2  # omp_pause_hard of OpenMP 5.0


def thread_count() -> int:
    """Return the number of cores that torch may use in the calling thread."""
    with _workers.starting:  # While a worker starts, a new thread would read the worker's limit.
        return torch.get_num_threads()


def on_one_core(function: Callable[[], Result]) -> Result:
    """Compute ``function`` on one core, in inference mode."""
    with closing(on_cores(1, lambda call: call(), [function])) as results:
        return next(results)[1]


def on_cores(
    count: int, function: Callable[[Item], Result], items: Iterable[Item]
) -> Generator[tuple[Item, Result], None, None]:
    """Apply ``function`` to every item, each on one core and in inference mode.

    Yields the items with their results in the order of completion. The first exception of a call is raised here. The
    items that are still waiting then, or when the caller stops iterating, are dropped. A caller that may stop early
    closes the generator itself: Python only prints an interrupt that comes while it removes a generator.

    Args:
        count: Number of cores to use at the same time. A caller that is limited to one core computes items itself.
        function: Called from several threads at once.
        items: The arguments of the calls, in this order.
    """
    call = _Call(function, items)
    total = len(call.waiting)
    helps = thread_count() == 1
    try:
        _workers.run(call, min(count, total) - helps)
        for _ in range(total):
            if helps:
                with torch.inference_mode():
                    call.finish(call.compute_one())
            item, result, error = call.done.get()
            if error is not None:
                raise error
            yield item, result
    finally:
        call.waiting.clear()
        try:
            despite_interrupts(lambda: _workers.withdraw(call))
        finally:  # an interrupt may have come before the call began
            _workers.withdraw(call)


def despite_interrupts(clean_up: Callable[[], None]) -> None:
    """Call ``clean_up`` again and again until no KeyboardInterrupt ends it, and raise the interrupt then.

    Args:
        clean_up: Can be interrupted anywhere and called again.
    """
    interrupt: KeyboardInterrupt | None = None
    while True:
        try:
            clean_up()
            break
        except KeyboardInterrupt as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt


class _Call:
    """One function, the items that it has not been applied to, and the outcomes: item, result, exception."""

    def __init__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> None:
        self.waiting = deque(items)
        self.running = 0
        self.done: SimpleQueue[tuple[Any, Any, BaseException | None]] = SimpleQueue()
        self._function = function

    def compute_one(self) -> tuple[Any, Any, BaseException | None] | None:
        """Return the outcome of the next item, or None if no item is waiting."""
        try:
            item = self.waiting.popleft()
        except IndexError:
            return None
        try:
            return item, self._function(item), None
        except BaseException as error:
            return item, None, error

    def finish(self, outcome: tuple[Any, Any, BaseException | None] | None) -> None:
        """Hand the outcome to the caller."""
        if outcome is not None:
            self.done.put(outcome)


class _Workers:
    """Threads that wait for calls. Their number is the largest that was needed at the same time."""

    def __init__(self) -> None:
        self.starting = threading.Lock()
        self._counting = threading.Lock()
        self._wake: SimpleQueue[bool] = SimpleQueue()
        self._calls: deque[_Call] = deque()
        self._active: set[_Call] = set()
        self._threads: list[threading.Thread] = []

    def run(self, call: _Call, count: int) -> None:
        """Compute the items of ``call`` on ``count`` threads, or on fewer if the system cannot start more."""
        for _ in range(count):
            self._add(call)
        with self._counting:
            missing = self._missing()
        try:
            for _ in range(missing):
                threading.Thread(target=self._work, name="sbert-worker", daemon=True).start()
        except RuntimeError:
            if not self._threads:
                raise

    def withdraw(self, call: _Call) -> None:
        """Remove ``call``. A thread that is computing one of its items finishes that item first."""
        with self._counting:
            self._active.discard(call)
            while call in self._calls:
                self._calls.remove(call)

    def stop(self) -> None:
        """End every thread after the item that it is computing."""
        for _ in self._threads:
            self._wake.put(False)
        for thread in self._threads:
            thread.join()

    def _missing(self) -> int:
        return len(self._calls) + sum(call.running for call in self._active) - len(self._threads)

    def _add(self, call: _Call) -> None:
        self._calls.append(call)
        self._wake.put(True)

    def _work(self) -> None:
        with self._counting:  # Each thread counts itself: an interrupt between starting and counting loses none.
            if self._missing() <= 0:
                return
            self._threads.append(threading.current_thread())
        self._use_one_core()
        with torch.inference_mode():
            while self._wake.get():
                self._serve_one()

    def _serve_one(self) -> None:
        """Compute one item of the call that has waited longest."""
        with self._counting:
            if not self._calls:  # It was withdrawn.
                return
            call = self._calls.popleft()
            call.running += 1
            self._active.add(call)
        outcome = call.compute_one()
        with self._counting:
            call.running -= 1
            if call.waiting:
                self._add(call)
            elif not call.running:
                self._active.discard(call)
        call.finish(outcome)

    def _use_one_core(self) -> None:
        """Limit the calling thread, which must be new, to one core."""
        with self.starting:
            # Read the limit first: torch sets the limit of a thread at its first use, and would overwrite ours.
            default = torch.get_num_threads()
            torch.set_num_threads(1)
            # This is now the default of new threads as well. Restoring it in a separate thread changes no other limit.
            # If the system cannot start that thread, it cannot start the threads that the default is for, either.
            with suppress(RuntimeError):
                restorer = threading.Thread(target=torch.set_num_threads, args=(default,), daemon=True)
                restorer.start()
                restorer.join()


_workers = _Workers()


def _forget_workers() -> None:
    """Create new workers in a forked process, in which only the forking thread exists."""
    global _workers
    _workers = _Workers()


def release_before_fork(library: Path) -> None:
    """End the OpenMP threads of a library before every fork; OpenMP starts new ones when they are needed.

    They do not survive a fork, and libgomp would wait for them forever in the child. Other OpenMP libraries handle a
    fork themselves.

    Args:
        library: A loaded library that contains libgomp, or is linked to it.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_end_team_of(library))


def end_team() -> None:
    """End the OpenMP threads that torch keeps for the calling thread, which will compute nothing for a while.

    libgomp lets threads that wait for work sleep at once if all of them together are more than the cores. Each of the
    sixty products of a small model then begins by waking a thread, and a text takes a third longer.
    """
    _end_torch_team()


def _end_team_of(library: Path) -> Callable[[], object]:
    """Return the function of libgomp that ends the threads of its caller, or one that does nothing."""
    try:
        pause = ctypes.CDLL(str(library)).omp_pause_resource_all
    except (OSError, AttributeError):
        return lambda: None
    return lambda: pause(_PAUSE_HARD)


_TORCH = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
_end_torch_team = _end_team_of(_TORCH)
atexit.register(lambda: _workers.stop())
release_before_fork(_TORCH)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_workers)
