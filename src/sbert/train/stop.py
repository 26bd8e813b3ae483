"""Lets a run end between two steps when someone asks for it. Knows signals only, and says that it heard one."""

from __future__ import annotations

import logging
import signal
import threading
from types import FrameType, TracebackType
from typing import Any

logger = logging.getLogger(__name__)

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """While entered, the first Ctrl-C or SIGTERM is noted; the second one acts at once, as usual."""

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Stop:
        if threading.current_thread() is threading.main_thread():  # elsewhere Python allows no handlers
            self._before = {number: signal.signal(number, self._note) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        self._restore()
        logger.info("stopping after this step, its measurement and its checkpoint; Ctrl-C again stops at once")

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
