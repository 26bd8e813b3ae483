"""Shows how far long work is: a bar on a terminal, a line in the log every half minute elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from types import TracebackType

from tqdm.auto import tqdm

_LOG_EVERY_SECONDS = 30.0
logger = logging.getLogger(__name__)


class TokenProgress:
    """Counts tokens, which cost about equally much each, so that the remaining time is true."""

    def __init__(self, tokens: int, show: bool) -> None:
        self._total = tokens
        self._done = 0
        self._start = self._logged = time.monotonic()
        self._log = show and not sys.stderr.isatty()
        self._bar = tqdm(total=tokens, unit="tok", unit_scale=True, disable=not show or self._log)

    def __enter__(self) -> TokenProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.close()

    def add(self, tokens: int) -> None:
        """So many more tokens are done."""
        self._done += tokens
        self._bar.update(tokens)
        now = time.monotonic()
        if self._log and now - self._logged >= _LOG_EVERY_SECONDS:
            self._logged = now
            remaining = (now - self._start) * (self._total - self._done) / self._done
            logger.info("%s of %s tokens, %.0f s to go", f"{self._done:,}", f"{self._total:,}", remaining)
