"""Shows the progress of long work: a bar on a terminal or in a notebook, elsewhere a line every half minute."""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections import deque
from contextlib import AbstractContextManager

with warnings.catch_warnings():  # without ipywidgets, tqdm's bar of text is good enough for a notebook
    warnings.filterwarnings("ignore", "IProgress not found")
    from tqdm.auto import tqdm

_SECONDS_BETWEEN_LINES = 30.0
logger = logging.getLogger(__name__)


class Progress(AbstractContextManager["Progress"]):
    """Counts units of work. The remaining time is right if all units take about the same time, as tokens do.

    Args:
        total: Number of units; None if it is not known.
        unit: Name of the units, in the plural.
        show: Whether to show anything at all.
        done: Number of units that were done before.
        equal: Whether all units take about the same time. If not, no remaining time is shown.
    """

    def __init__(self, total: int | None, unit: str, show: bool, done: int = 0, equal: bool = True) -> None:
        self._total, self._unit, self._show, self._equal = total, unit, show, equal
        self._before = self._done = done
        self._start = self._last_line = time.monotonic()
        self._bar: tqdm | None = None
        if show and (sys.stderr.isatty() or _in_notebook()):
            self._bar = tqdm(
                total=total,
                unit=f" {unit}",
                unit_scale=(total or 0) > 10_000,
                initial=done,
                smoothing=0,
                bar_format=None if equal else "{l_bar}{bar}| {n_fmt}/{total_fmt}{unit} [{elapsed}{postfix}]",
            )

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def add(self, count: int, note: str = "") -> None:
        """Record that ``count`` more units are done, and show ``note`` beside the progress."""
        self._done += count
        if self._bar is not None:
            self._bar.set_postfix_str(note, refresh=False)
            self._bar.update(count)
        elif self._show and time.monotonic() - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            _tell(self._line(note))

    def _line(self, note: str) -> str:
        of_all = "" if self._total is None else f" of {self._total:,}"
        line = f"{self._done:,}{of_all} {self._unit}"
        if self._equal and self._total is not None:
            seconds_each = (time.monotonic() - self._start) / (self._done - self._before)
            line += f", {seconds_each * (self._total - self._done):.0f} s to go"
        return f"{line}; {note}" if note else line


class RecentSpeed:
    """The mean speed over the last half minute of work, which is the time between two lines.

    >>> speed = RecentSpeed()
    >>> [speed(8, seconds) for seconds in (2.0, 6.0, 26.0)]
    [4.0, 2.0, 0.5]
    """

    def __init__(self) -> None:
        self._recent: deque[tuple[int, float]] = deque()
        self._count, self._seconds = 0, 0.0

    def __call__(self, count: int, seconds: float) -> float:
        """Add ``count`` units that took ``seconds``, and return the number of units per second."""
        self._recent.append((count, seconds))
        self._count, self._seconds = self._count + count, self._seconds + seconds
        while self._seconds - self._recent[0][1] > _SECONDS_BETWEEN_LINES:
            count, seconds = self._recent.popleft()
            self._count, self._seconds = self._count - count, self._seconds - seconds
        return self._count / self._seconds


def _in_notebook() -> bool:
    """Return whether a Jupyter kernel runs this program, by the same test as tqdm."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and "IPKernelApp" in shell.config


def _tell(line: str) -> None:
    """Log ``line``, or write it to standard error if the program does not log messages of this level."""
    if logger.hasHandlers() and logger.isEnabledFor(logging.INFO):
        logger.info("%s", line)
    else:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
