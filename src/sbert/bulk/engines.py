"""Embeds the shards of a job in this process, or in several processes that may die or hang."""

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
    """Receives the events of an engine, besides its results."""

    def part_embedded(self, step: Step) -> None:
        """Record that a part of a shard was embedded."""
        ...

    def worker_lost(self, shard: int, reason: str) -> None:
        """Record that the worker of a shard was lost; the shard is embedded again."""
        ...


Engine = Callable[[Job, Sequence[Shard], Report], Generator[Entry, None, None]]
"""Embeds shards, and yields the finished ones in any order."""


def in_this_process(
    job: Job, shards: Sequence[Shard], report: Report, model: BiEncoder
) -> Generator[Entry, None, None]:
    """Embed shards one after another."""
    writer = ShardWriter(job, model)
    return (writer(shard, report.part_embedded) for shard in shards)


def in_worker_processes(job: Job, shards: Sequence[Shard], report: Report) -> Generator[Entry, None, None]:
    """Embed shards in several processes. The shard of a lost process is embedded again."""
    workers = job.running.workers
    setup = Setup(_writer, (job, max(1, thread_count() // workers)), job.running.timeout)
    with closing(in_processes(setup, min(workers, len(shards)), shards)) as events:
        for kind, shard, value in events:
            if kind == "progress":
                report.part_embedded(value)
            elif kind == "lost":
                report.worker_lost(shard.number, value)
            else:
                yield value


def _writer(job: Job, threads: int) -> Work:
    torch.set_num_threads(threads)
    return ShardWriter(job)


def engine_of(job: Job, model: BiEncoder) -> Engine:
    """Return the engine of a job. The model is used if shards are embedded in this process."""
    if job.running.engine == "ray":
        from sbert.bulk.on_ray import in_actors

        return in_actors
    if job.running.workers > 1:
        return in_worker_processes
    return lambda job, shards, report: in_this_process(job, shards, report, model)
