"""Worker threads that compute the rows in the queues, and the limit of each queue."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress

import numpy as np

from sbert.errors import BadInput, BadModel
from sbert.nn.threads import thread_count
from sbert.serve.engine.cache import ResultCache
from sbert.serve.engine.lane import Lane
from sbert.serve.engine.queue import Busy, Computed, Job, Piece, Queue, join
from sbert.text import Tokens
from sbert.types import FloatArray

_SMALLEST_SHARE = 256
"""Minimum number of queued tokens for each further worker."""
_LAST_WEIGHT = 0.1  # weight of the last batch in the moving average of the speed
_FIRST_SPEED = 2000.0  # tokens per second and worker, before the first measurement


class Engine:
    """Computes rows of tokens for many requests at the same time.

    Args:
        batch_tokens: Maximum number of tokens in a batch.
        queue_tokens: Maximum number of tokens in the queue of a lane.
        cache_bytes: Maximum size of the cache of results in bytes.
        workers: Number of batches to compute at the same time. Defaults to the number of cores that torch may use.
        observe: Called after every batch with its numbers of rows and tokens.
    """

    def __init__(
        self,
        batch_tokens: int = 2048,
        queue_tokens: int = 500_000,
        cache_bytes: int = 0,
        workers: int | None = None,
        observe: Callable[[int, int], None] = lambda rows, tokens: None,
    ) -> None:
        self.batch_tokens, self.queue_tokens = batch_tokens, queue_tokens
        self.cache = ResultCache(cache_bytes)
        self.workers = workers or thread_count()
        self._observe = observe
        self._queues: dict[Lane, Queue] = {}
        self._lock = threading.Lock()
        self._wakes = [threading.Condition(self._lock) for _ in range(self.workers)]
        self._idle: set[int] = set()
        self._busy = 0
        self._all_cores_in_use = False
        self._speed = _FIRST_SPEED
        self._closed = False
        self._threads = [
            threading.Thread(target=self._work, args=(number,), name="sbert-serve", daemon=True)
            for number in range(self.workers)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def waiting_jobs(self) -> int:
        """Number of requests with queued rows."""
        with self._lock:
            return sum(len(queue.jobs) for queue in self._queues.values())

    @property
    def waiting_tokens(self) -> int:
        """Number of queued tokens."""
        with self._lock:
            return self._waiting()

    def submit(self, lane: Lane, tokens: Tokens, *, urgent: bool = False) -> Future[Computed]:
        """Compute the rows of ``tokens``.

        Args:
            lane: The function to apply to each row.
            tokens: The rows.
            urgent: Whether to compute the rows before all others, without the cache and the limit of the queue.

        Returns:
            A future. Cancelling it removes its rows from the queue.

        Raises:
            Busy: The queue is full, or the engine is closed.
        """
        job = self._job(lane, tokens, cached=not urgent)
        if not job.missing:
            job.future.set_result(_computed(job))
            return job.future
        with self._lock:
            if self._closed:
                raise Busy("the server is shutting down; retry when it is running again", 5)
            queue = self._queues.setdefault(lane, Queue())
            if not urgent:
                self._check_room(queue, sum(map(job.length, job.waiting)))
            queue.add(job, urgent)
            self._wake()
        return job.future

    def close(self) -> None:
        """Compute the queued rows, then end the workers."""
        with self._lock:
            self._closed = True
            for wake in self._wakes:
                wake.notify()
        for thread in self._threads:
            thread.join()

    def _job(self, lane: Lane, tokens: Tokens, cached: bool) -> Job:
        keys = _keys(lane, tokens)
        cached = cached and not lane.by_token
        results = [self.cache.get(key) if cached else None for key in keys]
        new: dict[bytes, int] = {}
        for row, key in enumerate(keys):
            if results[row] is None:
                new.setdefault(key, row)
        rows = sorted(new.values(), key=lambda row: -int(tokens.lengths[row]))
        return Job(lane, tokens, keys, deque(rows), results, len(rows))

    def _check_room(self, queue: Queue, new: int) -> None:
        if new > self.queue_tokens:
            raise BadInput(
                f"the request has {new:,} tokens, but the queue holds at most {self.queue_tokens:,}; split the request"
            )
        if queue.tokens + new <= self.queue_tokens:
            return
        seconds = (self._waiting() + new - self.queue_tokens) / (self._speed * self.workers)
        raise Busy(
            f"{queue.tokens:,} tokens are queued for this model, and {new:,} more do not fit into a queue of "
            f"{self.queue_tokens:,}; retry later",
            max(1, math.ceil(seconds)),
        )

    def _waiting(self) -> int:
        return sum(queue.tokens for queue in self._queues.values())

    def _work(self, number: int) -> None:
        while True:
            with self._lock:
                while (batch := self._next(number)) is None:
                    if self._closed and not self._waiting():
                        return
                    self._idle.add(number)
                    self._wakes[number].wait()
                    self._idle.discard(number)
                pieces, all_cores = batch
                self._busy += 1
                self._all_cores_in_use = all_cores
                self._wake()
            try:
                self._serve(pieces, all_cores)
            finally:
                with self._lock:
                    self._busy -= 1
                    self._all_cores_in_use = False
                    self._wake()

    def _wake(self) -> None:
        """Wake the first idle worker, which wakes the next one if more rows are queued."""
        if self._closed and not self._waiting():
            for wake in self._wakes:
                wake.notify()
        elif self._idle and self._waiting() and not self._all_cores_in_use:
            self._wakes[min(self._idle)].notify()

    def _next(self, number: int) -> tuple[list[Piece], bool] | None:
        """Take a batch from the queue whose first job has waited longest, and return whether it may use all cores.

        A small amount of work is computed by the first worker on all cores while the others wait, because threads
        that share cores with other batches would wait for each other in every matrix product. A large amount of work
        is divided among the workers, with one core for each.
        """
        if self._all_cores_in_use:
            return None
        waiting = self._waiting()
        all_cores = not self._busy and waiting < max(2, self.workers) * _SMALLEST_SHARE
        if all_cores and number:
            return None
        while queues := [queue for queue in self._queues.values() if queue.jobs]:
            queue = min(queues, key=lambda queue: queue.jobs[0].since)
            share = math.ceil(queue.tokens / max(1, self.workers - self._busy))
            least = waiting if all_cores else _SMALLEST_SHARE
            if pieces := queue.cut(min(self.batch_tokens, max(least, share))):
                return pieces, all_cores
        return None

    def _serve(self, pieces: list[Piece], all_cores: bool) -> None:
        """Compute a batch. If it fails, each job is computed by itself, so that only the faulty one fails."""
        began = time.perf_counter()
        for piece in pieces:
            piece.job.began = piece.job.began or began
        try:
            tokens = join(pieces)
            results = iter(pieces[0].job.lane.compute(tokens, all_cores))
        except Exception as error:
            if len(pieces) > 1:
                for piece in pieces:
                    self._serve([piece], all_cores)
            else:
                _fail(pieces[0].job, error)
            return
        total = int(tokens.lengths.sum())
        self._measure(total, time.perf_counter() - began, self.workers if all_cores else 1)
        self._observe(len(tokens.lengths), total)
        for piece in pieces:
            self._deliver(piece, [next(results) for _ in piece.rows])

    def _measure(self, tokens: int, seconds: float, workers: int) -> None:
        if tokens >= _SMALLEST_SHARE:  # the speed of small batches says little about that of full ones
            speed = tokens / max(seconds, 1e-6) / workers
            self._speed += _LAST_WEIGHT * (speed - self._speed)

    def _deliver(self, piece: Piece, results: list[FloatArray]) -> None:
        job = piece.job
        for row, result in zip(piece.rows, results, strict=True):
            if not np.isfinite(result).all():
                got = "NaN" if np.isnan(result).any() else "infinity"
                _fail(job, BadModel(f"the model gives {got} for a text; check its weights, or try another text"))
                return
            job.results[row] = result
            if not job.lane.by_token:
                self.cache.put(job.keys[row], result)
        with self._lock:
            job.missing -= len(results)
            complete = not job.missing
        if complete:
            with suppress(InvalidStateError):  # the request was cancelled
                job.future.set_result(_computed(job))


def _keys(lane: Lane, tokens: Tokens) -> list[bytes]:
    """Return the cache key of each row, which holds everything that its result depends on."""
    start = f"{lane.name}\0{tokens.prompt_length}\0".encode()
    ends = np.cumsum(tokens.lengths).tolist()
    spans = zip([0, *ends[:-1]], ends, strict=True) if ends else ()
    if tokens.types is None:
        return [start + tokens.ids[first:last].tobytes() for first, last in spans]
    types = tokens.types.astype(np.uint8)
    return [start + tokens.ids[first:last].tobytes() + types[first:last].tobytes() for first, last in spans]


def _computed(job: Job) -> Computed:
    """Return the results of a complete job; equal rows have the same result."""
    known = {key: result for key, result in zip(job.keys, job.results, strict=True) if result is not None}
    now = time.perf_counter()
    began = now if job.began is None else job.began
    return Computed([known[key] for key in job.keys], began - job.arrived, now - began)


def _fail(job: Job, error: Exception) -> None:
    with suppress(InvalidStateError):
        job.future.set_exception(error)
