"""Embeds the shards of a job in this process, or in several that may die or hang."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Protocol

import torch

from sbert.bulk.job import Entry, Job, Shard
from sbert.bulk.shard import ShardWriter, Step
from sbert.models.bi import BiEncoder
from sbert.nn.processes import Setup, Work, in_processes
from sbert.nn.threads import thread_count


class Report(Protocol):
    """What an engine tells beside its results."""

    def step(self, step: Step) -> None:
        """Note that a part of a shard was embedded."""
        ...

    def lose(self, shard: int, how: str) -> None:
        """Note that the worker of a shard was lost, which is done again."""
        ...


Engine = Callable[[Job, Sequence[Shard], Report], Generator[Entry, None, None]]
"""Embeds shards, and yields those that are finished, in any order."""


def in_this_process(
    job: Job, shards: Sequence[Shard], report: Report, model: BiEncoder
) -> Generator[Entry, None, None]:
    """Embed shards one after another."""
    writer = ShardWriter(job, model)
    return (writer(shard, report.step) for shard in shards)


def in_worker_processes(job: Job, shards: Sequence[Shard], report: Report) -> Generator[Entry, None, None]:
    """Embed shards in as many processes as the job wants; the shard of a lost one is done again."""
    workers = job.running.workers
    setup = Setup(_writer, (job, max(1, thread_count() // workers)), job.running.timeout)
    with closing(in_processes(setup, min(workers, len(shards)), shards)) as events:
        for kind, shard, value in events:
            if kind == "news":
                report.step(value)
            elif kind == "lost":
                report.lose(shard.number, value)
            else:
                yield value


def _writer(job: Job, threads: int) -> Work:
    torch.set_num_threads(threads)
    return ShardWriter(job)


def engine_of(job: Job, model: BiEncoder) -> Engine:
    """Return what embeds the shards of a job. The model is used where shards are embedded in this process."""
    if job.running.engine == "ray":
        from sbert.bulk.on_ray import in_actors

        return in_actors
    if job.running.workers > 1:
        return in_worker_processes
    return lambda job, shards, report: in_this_process(job, shards, report, model)
