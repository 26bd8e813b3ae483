"""Counts and timings of one request, for usage records, headers, metrics and the log. Works on numbers only."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from sbert.serve.engine import Computed
from sbert.text import Tokens


@dataclass(slots=True)
class Account:
    """The counts and timings of a request. Several threads may add to them."""

    began: float = field(default_factory=time.perf_counter)
    may_write: bool = True
    """Whether the key of the request allows changes."""
    items: int = 0
    """Number of texts or pairs."""
    characters: int = 0
    tokens: int = 0
    """Number of tokens that were read."""
    truncated_tokens: int = 0
    """Number of tokens that were dropped because a text was too long."""
    tokenization: float = 0.0
    queue: float = 0.0
    inference: float = 0.0
    _adding: threading.Lock = field(default_factory=threading.Lock)

    @property
    def total(self) -> float:
        """Seconds since the request began."""
        return time.perf_counter() - self.began

    def add_tokens(self, tokens: Tokens, characters: int, seconds: float) -> None:
        """Add the counts of tokenized texts, and the time that tokenization took."""
        with self._adding:
            self.items += len(tokens.lengths)
            self.characters += characters
            self.tokens += int(tokens.lengths.sum())
            self.truncated_tokens += tokens.truncation.lost
            self.tokenization += seconds

    def add_timings(self, computed: Computed) -> None:
        """Add the timings of a computation."""
        with self._adding:
            self.queue += computed.queue_seconds
            self.inference += computed.inference_seconds
