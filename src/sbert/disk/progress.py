"""Shows how far long work is: a bar on a terminal, a line in the log every half minute elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from types import TracebackType

from tqdm.auto import tqdm

_LOG_EVERY_SECONDS = 30.0
logger = logging.getLogger(__name__)


class Progress:
    """Counts things, best such that cost about equally much each, as tokens do: then the remaining time is true.

    Args:
        total: how many there are.
        unit: what they are, in the plural.
        show: whether to show anything at all.
        done: how many of them lie behind already.
        equal: whether each costs about as much as another; if not, no remaining time is told, as it would be false.
    """

    def __init__(self, total: int, unit: str, show: bool, done: int = 0, equal: bool = True) -> None:
        self._total, self._unit, self._equal = total, unit, equal
        self._before = self._done = done
        self._start = self._logged = time.monotonic()
        self._log = show and not sys.stderr.isatty()
        self._bar = tqdm(
            total=total,
            unit=f" {unit}",
            unit_scale=total > 10_000,
            disable=not show or self._log,
            initial=done,
            smoothing=0,
            bar_format=None if equal else "{l_bar}{bar}| {n_fmt}/{total_fmt}{unit} [{elapsed}{postfix}]",
        )

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.close()

    def add(self, more: int, note: str = "") -> None:
        """So many more are done; ``note`` says what else there is to say."""
        self._done += more
        self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(more)
        now = time.monotonic()
        if self._log and now - self._logged >= _LOG_EVERY_SECONDS:
            self._logged = now
            so_far = f"{self._done:,} of {self._total:,} {self._unit}"
            if self._equal:
                remaining = (now - self._start) * (self._total - self._done) / (self._done - self._before)
                so_far += f", {remaining:.0f} s to go"
            logger.info("%s", f"{so_far}; {note}" if note else so_far)
