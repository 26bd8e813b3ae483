"""Embeds the shards of a job with Ray Data: each actor holds a model, and writes shards to a shared folder.

Ray transfers only the descriptions of shards and the records of finished ones, not texts or vectors. The records, not
Ray, determine which shards are finished, so that a job resumes after any failure of the cluster.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from sbert.bulk.engines import Report
from sbert.bulk.job import Entry, Job, Shard
from sbert.bulk.shard import ShardWriter
from sbert.errors import BadInput, WorkersLost, counted
from sbert.nn.processes import ATTEMPTS, ReportProgress, portable

logger = logging.getLogger(__name__)
_HUNG = 75
"""The exit code of an actor that took too long."""


def in_actors(job: Job, shards: Sequence[Shard], report: Report) -> Generator[Entry, None, None]:
    """Embed shards on several actors with one core each. A lost shard is embedded again."""
    ray = imported()
    left = {shard.number: shard for shard in shards}
    with _cluster(ray, job.running.address):
        for attempt in range(ATTEMPTS):
            before = len(left)
            try:
                for row in _results(ray, job, list(left.values())):
                    entry = _entry(row)
                    if left.pop(entry.shard, None) is not None:
                        yield entry
            except ray.exceptions.RayError as error:
                why = next(iter(str(error).splitlines()), type(error).__name__)[:200]
                logger.warning("%s are embedded again, because Ray failed: %s", counted(len(left), "shard"), why)
                if attempt == ATTEMPTS - 1 and len(left) == before:
                    raise WorkersLost(
                        f"the actors of Ray were lost {ATTEMPTS} times ({why}); the finished shards are intact: look "
                        "at the cluster, and run the same command again"
                    ) from None
            if not left:
                return
    raise WorkersLost(
        f"{len(left)} shards were not finished by Ray; the others are intact: look at the cluster, and run the same "
        "command again"
    )


def imported() -> ModuleType:
    """Return the package ray with its data library."""
    try:
        import ray
        import ray.data
    except ImportError:
        raise BadInput(
            "the engine is ray, but Ray is not installed; install it with: pip install 'sbert[ray]'"
        ) from None
    return ray


class ShardActor:
    """Embeds shards in an actor of Ray, with a model that is loaded once."""

    def __init__(self, job: Job) -> None:
        self._timeout = job.running.timeout
        try:
            self._write: Callable[[Shard, ReportProgress], Entry] = ShardWriter(job)
        except Exception as error:  # raised by the first shard, because Ray would restart a failing actor without end
            self._write = partial(_fail, portable(error))

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Embed the shards of a batch, and return their entries or the errors that ended the work."""
        return {"result": np.array([self._result(bytes(shard)) for shard in batch["shard"]], object)}

    def _result(self, described: bytes) -> bytes:
        shard: Shard = pickle.loads(described)
        with _Watchdog(self._timeout) as watchdog:
            try:
                return json.dumps(asdict(self._write(shard, watchdog.restart))).encode()
            except Exception as error:  # returned, because Ray would retry a shard that cannot succeed
                return pickle.dumps(portable(error))


def _fail(error: BaseException, shard: Shard, report: ReportProgress) -> Entry:
    raise error


class _Watchdog:
    """Ends this process if no progress is reported in time; Ray then starts another actor and retries."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._timer = threading.Timer(0, lambda: None)

    def __enter__(self) -> _Watchdog:
        self.restart()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def restart(self, _: object = None) -> None:
        """Restart the timer."""
        self._timer.cancel()
        self._timer = threading.Timer(self._timeout, lambda: os._exit(_HUNG))
        self._timer.daemon = True
        self._timer.start()


@contextmanager
def _cluster(ray: ModuleType, address: str | None) -> Iterator[None]:
    """Use the cluster that the program is connected to, else the one at the address, else a new one."""
    if ray.is_initialized():
        yield
        return
    try:
        new = {} if address else {"include_dashboard": False}
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", **new)
    except (ConnectionError, ValueError, RuntimeError) as error:
        why = next(iter(str(error).splitlines()), type(error).__name__)[:200]
        raise BadInput(
            f"there is no Ray cluster at {address!r} ({why}); start one, or leave the address out"
        ) from None
    try:
        yield
    finally:
        ray.shutdown()


def _results(ray: ModuleType, job: Job, shards: list[Shard]) -> Iterator[dict[str, Any]]:
    """Yield what the actors return, in the order of completion; every shard is a task of its own."""
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    items = [{"shard": pickle.dumps(shard)} for shard in shards]
    tasks = ray.data.from_items(items, override_num_blocks=len(items)).map_batches(
        ShardActor,
        fn_constructor_args=(job,),
        batch_size=1,
        compute=ray.data.ActorPoolStrategy(size=min(job.running.workers, len(items))),
        num_cpus=1,
        ray_remote_args_fn=_limits,
    )
    yield from tasks.iter_batches(batch_size=1, batch_format="numpy", prefetch_batches=0)


def _limits() -> dict[str, int]:
    """Return the limits of Ray: actors restart without limit, but a shard that keeps ending its actor is given up."""
    return {"max_restarts": -1, "max_task_retries": ATTEMPTS}


def _entry(row: dict[str, Any]) -> Entry:
    content = bytes(row["result"][0])
    if content.startswith(b"{"):
        return Entry(**json.loads(content))
    raise pickle.loads(content)
