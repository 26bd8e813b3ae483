"""Worker threads that compute what waits in the queues, and the bound on what may wait."""

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
"""Number of tokens from which a part of what waits is worth a worker of its own."""
_FORGETTING = 0.1  # weight of the last batch in the mean speed
_FIRST_SPEED = 2000.0  # tokens per second and worker, until one has been measured


class Engine:
    """Computes rows of tokens for many requests at the same time.

    Args:
        batch_tokens: Maximum number of tokens in a batch.
        queue_tokens: Number of tokens that may wait for one lane.
        cache_bytes: Number of bytes that the cache of results may take.
        workers: Number of batches at the same time. Defaults to the number of cores that torch may use.
        observe: Called after every batch with its number of rows and of tokens.
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
        self._changed = threading.Condition()
        self._busy = 0
        self._speed = _FIRST_SPEED
        self._closed = False
        self._threads = [
            threading.Thread(target=self._work, name="sbert-serve", daemon=True) for _ in range(self.workers)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def waiting_jobs(self) -> int:
        """Number of requests of which rows wait."""
        with self._changed:
            return sum(len(queue.jobs) for queue in self._queues.values())

    @property
    def waiting_tokens(self) -> int:
        """Number of tokens that wait."""
        with self._changed:
            return self._waiting()

    def submit(self, lane: Lane, tokens: Tokens, *, urgent: bool = False) -> Future[Computed]:
        """Compute the rows of ``tokens``.

        Args:
            lane: The function.
            tokens: The rows.
            urgent: Whether to go before all others, past the cache and past the bound of the queue.

        Returns:
            A future. Cancelling it removes the rows that wait. :class:`Busy` is raised if the queue is full.
        """
        job = self._job(lane, tokens, cached=not urgent)
        if not job.missing:
            job.future.set_result(_computed(job))
            return job.future
        with self._changed:
            if self._closed:
                raise Busy("the server is shutting down; ask again when it is back", 5)
            queue = self._queues.setdefault(lane, Queue())
            if not urgent:
                self._check_room(queue, sum(map(job.length, job.waiting)))
            queue.add(job, urgent)
            self._changed.notify()
        return job.future

    def close(self) -> None:
        """Compute what waits, and end the workers."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
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
                f"the request has {new:,} tokens, but at most {self.queue_tokens:,} may wait; divide the request"
            )
        if queue.tokens + new <= self.queue_tokens:
            return
        seconds = (self._waiting() + new - self.queue_tokens) / (self._speed * self.workers)
        raise Busy(
            f"{queue.tokens:,} tokens wait for this model, and {new:,} more do not fit into a queue of "
            f"{self.queue_tokens:,}; ask again later",
            max(1, math.ceil(seconds)),
        )

    def _waiting(self) -> int:
        return sum(queue.tokens for queue in self._queues.values())

    def _work(self) -> None:
        while True:
            with self._changed:
                while not (pieces := self._next()):
                    if self._closed and not self._waiting():
                        return
                    self._changed.wait()
                self._busy += 1
                alone = self._busy == 1 and not self._waiting()
            try:
                self._serve(pieces, alone)
            finally:
                with self._changed:
                    self._busy -= 1

    def _next(self) -> list[Piece]:
        """Cut a batch from the queue whose first job has waited longest."""
        waiting = [(queue.jobs[0].since, queue) for queue in self._queues.values() if queue.jobs]
        if not waiting:
            return []
        queue = min(waiting, key=lambda item: item[0])[1]
        share = math.ceil(queue.tokens / max(1, self.workers - self._busy))
        pieces = queue.cut(min(self.batch_tokens, max(_SMALLEST_SHARE, share)))
        if self._waiting():
            self._changed.notify()
        elif self._closed:
            self._changed.notify_all()
        return pieces or self._next()

    def _serve(self, pieces: list[Piece], alone: bool) -> None:
        """Compute a batch. If it fails, each job is computed by itself, so that only the one at fault fails."""
        began = time.perf_counter()
        for piece in pieces:
            piece.job.began = piece.job.began or began
        try:
            tokens = join(pieces)
            results = iter(pieces[0].job.lane.compute(tokens, alone))
        except Exception as error:
            if len(pieces) > 1:
                for piece in pieces:
                    self._serve([piece], alone=False)
            else:
                _fail(pieces[0].job, error)
            return
        total = int(tokens.lengths.sum())
        self._measure(total, time.perf_counter() - began, self.workers if alone else 1)
        self._observe(len(tokens.lengths), total)
        for piece in pieces:
            self._deliver(piece, [next(results) for _ in piece.rows])

    def _measure(self, tokens: int, seconds: float, workers: int) -> None:
        if tokens >= _SMALLEST_SHARE:  # the speed of small batches says little about that of full ones
            speed = tokens / max(seconds, 1e-6) / workers
            self._speed += _FORGETTING * (speed - self._speed)

    def _deliver(self, piece: Piece, results: list[FloatArray]) -> None:
        job = piece.job
        for row, result in zip(piece.rows, results, strict=True):
            if not np.isfinite(result).all():
                got = "NaN" if np.isnan(result).any() else "infinity"
                _fail(
                    job, BadModel(f"the model gives {got} for a text; its weights are damaged, or another text helps")
                )
                return
            job.results[row] = result
            if not job.lane.by_token:
                self.cache.put(job.keys[row], result)
        with self._changed:
            job.missing -= len(results)
            complete = not job.missing
        if complete:
            with suppress(InvalidStateError):  # it was cancelled
                job.future.set_result(_computed(job))


def _keys(lane: Lane, tokens: Tokens) -> list[bytes]:
    """Return what the result of each row depends on."""
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
