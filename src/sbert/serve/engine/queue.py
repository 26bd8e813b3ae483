"""The queue of requests for one lane, and the batches taken from it. Works on tokens and numbers only."""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sbert.errors import SbertError
from sbert.serve.engine.lane import Lane
from sbert.text import Tokens
from sbert.types import FloatArray, IntArray


class Busy(SbertError):
    """The queue is full; ``seconds`` is the expected time until it has room, if no other request arrives."""

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


class Computed(NamedTuple):
    """The results of the rows of one request, and their timings."""

    results: list[FloatArray]
    queue_seconds: float
    """Time until the first batch with one of the rows began."""
    inference_seconds: float
    """Time from the start of that batch to the last result."""


@dataclass(slots=True, eq=False)
class Job:
    """The rows of one request: the queued ones, longest first, and the results so far."""

    lane: Lane
    tokens: Tokens
    keys: list[bytes]
    """The content of each row; equal rows are computed once."""
    waiting: deque[int]
    results: list[FloatArray | None]
    missing: int
    """Number of distinct rows without a result."""
    future: Future[Computed] = field(default_factory=Future)
    arrived: float = field(default_factory=time.perf_counter)
    since: float = field(default_factory=time.perf_counter)
    """When the request arrived, or when the last batch took some of its rows."""
    began: float | None = None
    starts: IntArray = field(init=False)

    def __post_init__(self) -> None:
        self.starts = np.concatenate([[0], np.cumsum(self.tokens.lengths)])

    def length(self, row: int) -> int:
        """Return the number of tokens of a row."""
        return int(self.tokens.lengths[row])


class Piece(NamedTuple):
    """Some rows of a job."""

    job: Job
    rows: list[int]


class Queue:
    """The jobs of one lane, the one that has waited longest first. The caller holds the lock of the engine."""

    def __init__(self) -> None:
        self.jobs: deque[Job] = deque()
        self.tokens = 0
        """Number of queued tokens."""

    def add(self, job: Job, urgent: bool) -> None:
        """Append a job; an urgent job is placed before all others, including those of other lanes."""
        if urgent:
            job.since = 0.0
        (self.jobs.appendleft if urgent else self.jobs.append)(job)
        self.tokens += sum(map(job.length, job.waiting))

    def cut(self, budget: int) -> list[Piece]:
        """Take rows for one batch of at most ``budget`` tokens, but at least one row.

        A job with remaining rows moves to the end, so that a large request does not delay the others.
        """
        pieces: list[Piece] = []
        passed: list[Job] = []
        left = budget
        while self.jobs and left > 0:
            job = self.jobs.popleft()
            if pieces and job.tokens.prompt_length != pieces[0].job.tokens.prompt_length:
                passed.append(job)
                continue
            rows = self._take(job, left, at_least_one=not pieces)
            left -= sum(map(job.length, rows))
            if rows:
                pieces.append(Piece(job, rows))
                job.since = time.perf_counter()
            if job.waiting:
                passed.append(job)
                if not rows:
                    break
        self._put_back(passed, {id(piece.job) for piece in pieces})
        return pieces

    def _take(self, job: Job, budget: int, at_least_one: bool) -> list[int]:
        if job.future.cancelled() or job.future.done():
            self.tokens -= sum(map(job.length, job.waiting))
            job.waiting.clear()
            return []
        rows: list[int] = []
        while job.waiting:
            size = job.length(job.waiting[0])
            if size > budget and (rows or not at_least_one):
                break
            rows.append(job.waiting.popleft())
            budget -= size
        self.tokens -= sum(map(job.length, rows))
        return rows

    def _put_back(self, passed: list[Job], served: set[int]) -> None:
        """Return jobs to the queue: unserved ones to the front in their old order, the others to the end."""
        self.jobs.extendleft(reversed([job for job in passed if id(job) not in served]))
        self.jobs.extend(job for job in passed if id(job) in served)


def join(pieces: list[Piece]) -> Tokens:
    """Concatenate the rows of pieces."""
    parts = [(piece.job, row) for piece in pieces for row in piece.rows]
    spans = [slice(int(job.starts[row]), int(job.starts[row + 1])) for job, row in parts]
    first = pieces[0].job.tokens
    types = None
    if first.types is not None:
        types = np.concatenate([_types(job.tokens)[span] for (job, _), span in zip(parts, spans, strict=True)])
    return Tokens(
        ids=np.concatenate([job.tokens.ids[span] for (job, _), span in zip(parts, spans, strict=True)]),
        lengths=np.array([job.length(row) for job, row in parts], np.int64),
        owners=np.arange(len(parts)),
        truncation=first.truncation,
        prompt_length=first.prompt_length,
        types=types,
    )


def _types(tokens: Tokens) -> IntArray:
    return np.zeros_like(tokens.ids) if tokens.types is None else tokens.types
