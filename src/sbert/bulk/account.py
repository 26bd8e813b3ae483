"""Shows the progress of a job: rows, tokens, and the remaining time, estimated from the number of characters."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager

from sbert.bulk.job import Entry, Plan
from sbert.bulk.shard import Step
from sbert.disk.progress import Progress
from sbert.text import display

logger = logging.getLogger(__name__)


class Account(AbstractContextManager["Account"]):
    """Counts the rows and tokens embedded in this run.

    Args:
        plan: All shards.
        finished: The shards that earlier runs finished.
        show: Whether to show the progress.
    """

    def __init__(self, plan: Plan, finished: Sequence[Entry], show: bool) -> None:
        self._shards = {shard.number: shard for shard in plan.shards}
        done = sum(entry.rows for entry in finished)
        self._left = plan.characters - sum(self._shards[entry.shard].characters for entry in finished)
        self._tokens = sum(entry.tokens for entry in finished)
        self._characters = 0
        self._running: dict[int, tuple[int, int]] = {}
        self._start = time.monotonic()
        self.lost = 0
        self._progress = Progress(plan.rows, "rows", show, done, equal=False)

    def __exit__(self, *error: object) -> None:
        self._progress.__exit__(*error)

    def part_embedded(self, step: Step) -> None:
        """Record that a part of a shard was embedded."""
        shard = self._shards[step.shard]
        before, rows_before = self._running.get(step.shard, (0, 0))
        rows = shard.rows * step.characters // max(shard.characters, 1)
        self._running[step.shard] = step.characters, rows
        self._characters += step.characters - before
        self._progress.add(rows - rows_before, self._note())

    def shard_finished(self, entry: Entry) -> None:
        """Record that a shard is finished."""
        self.part_embedded(Step(entry.shard, self._shards[entry.shard].characters))
        _, rows = self._running.pop(entry.shard)
        self._tokens += entry.tokens
        self._progress.add(entry.rows - rows, self._note())

    def worker_lost(self, shard: int, reason: str) -> None:
        """Record that the worker of a shard was lost; the shard is embedded again."""
        characters, rows = self._running.pop(shard, (0, 0))
        self._characters -= characters
        self.lost += 1
        self._progress.add(-rows)
        logger.warning("shard %d is embedded again, because %s", shard, reason)

    def _note(self) -> str:
        seconds = time.monotonic() - self._start
        left = max(0, self._left - self._characters) / max(self._characters, 1) * seconds
        return f"{self._tokens:,} tokens, {display.duration(left)} to go"
