"""Lets Ctrl-C and SIGTERM end a training run between two steps. Knows signals only."""

from __future__ import annotations

import logging
import signal
import threading
from types import FrameType, TracebackType
from typing import Any

logger = logging.getLogger(__name__)

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Context manager that records the first Ctrl-C or SIGTERM; the second one has its usual effect."""

    def __init__(self) -> None:
        self.received = False
        self._handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> StopRequest:
        if threading.current_thread() is threading.main_thread():  # Python allows handlers in the main thread only
            self._handlers = {number: signal.signal(number, self._receive) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore_handlers()

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.received = True
        self._restore_handlers()
        logger.info("stopping after this step, its evaluation and its checkpoint; press Ctrl-C again to stop at once")

    def _restore_handlers(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
