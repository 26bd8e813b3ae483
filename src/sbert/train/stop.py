"""Lets Ctrl-C and SIGTERM end a training run between two steps. Works on signals only."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

logger = logging.getLogger(__name__)


@contextmanager
def stop_request() -> Iterator[threading.Event]:
    """Set an event at the first Ctrl-C or SIGTERM; the second one has its usual effect."""
    received = threading.Event()
    handlers: dict[signal.Signals, Any] = {}

    def restore_handlers() -> None:
        for number, handler in handlers.items():
            signal.signal(number, handler)

    def receive(number: int, frame: FrameType | None) -> None:
        received.set()
        restore_handlers()
        logger.info("stopping after this step, its evaluation and its checkpoint; press Ctrl-C again to stop at once")

    if threading.current_thread() is threading.main_thread():  # Python allows handlers in the main thread only
        handlers |= {number: signal.signal(number, receive) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        restore_handlers()
