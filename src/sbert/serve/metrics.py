"""Counts what the server does, for Prometheus, with TEI's names where the meaning is equal. Works on numbers only."""

from __future__ import annotations

import re
from collections import deque
from typing import NamedTuple

import prometheus_client as prometheus
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.multiprocess import MultiProcessCollector

from sbert.serve.account import Account
from sbert.serve.engine import Engine

MEDIA_TYPE = prometheus.CONTENT_TYPE_LATEST
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_COUNTS = (1, 4, 16, 64, 256, 1024, 4096)
_TOKENS = (16, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
_RECENT = 2000
_WINDOW = 60.0
_TEI_COUNTER = re.compile(rb"\b(te_\w+)_total\b")


class Recent(NamedTuple):
    """One of the last requests."""

    ended: float
    seconds: float
    tokens: int
    ok: bool


class Metrics:
    """The counters and distributions of one process.

    Args:
        folder: Folder in which several processes share their numbers. Defaults to a single process.
    """

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder
        self.registry = CollectorRegistry()
        self.recent: deque[Recent] = deque(maxlen=_RECENT)
        self._count = self._counter("te_request_count", "Requests to models and stores", "method")
        self._success = self._counter("te_request_success", "Requests that succeeded", "method")
        self._failure = self._counter("te_request_failure", "Requests that failed", "err")
        self._tokens = self._counter("sbert_tokens", "Tokens of all requests")
        self._truncated = self._counter("sbert_truncated_tokens", "Tokens dropped by truncation")
        self._hits = self._counter("sbert_cache_hits", "Rows found in the cache")
        self._misses = self._counter("sbert_cache_misses", "Rows not found in the cache")
        self._duration = self._histogram("te_request_duration", "Duration of a request in seconds", _SECONDS)
        self._tokenization = self._histogram(
            "te_request_tokenization_duration", "Duration of tokenization in seconds", _SECONDS
        )
        self._queue = self._histogram("te_request_queue_duration", "Time in the queue in seconds", _SECONDS)
        self._inference = self._histogram(
            "te_request_inference_duration", "Duration of inference in seconds", _SECONDS
        )
        self._length = self._histogram("te_request_input_length", "Tokens of a request", _TOKENS)
        self._batch_size = self._histogram("te_batch_next_size", "Texts of a batch", _COUNTS)
        self._batch_tokens = self._histogram("te_batch_next_tokens", "Tokens of a batch", _TOKENS)
        self._queue_size = self._gauge("te_queue_size", "Queued requests")
        self._queue_tokens = self._gauge("sbert_queue_tokens", "Queued tokens")
        self._cache_bytes = self._gauge("sbert_cache_bytes", "Size of the cache in bytes")
        self._seen = (0, 0)

    def batch(self, rows: int, tokens: int) -> None:
        """Count a batch."""
        self._batch_size.observe(rows)
        self._batch_tokens.observe(tokens)

    def request(self, path: str, account: Account, now: float, error: str | None) -> None:
        """Count a request to models or the store.

        Args:
            path: The route.
            account: Its counts and timings.
            now: The time at which it ended.
            error: The kind of its error; None if it succeeded.
        """
        self._count.labels(method=path).inc()
        (self._success.labels(method=path) if error is None else self._failure.labels(err=error)).inc()
        self._duration.observe(account.total)
        self._tokens.inc(account.tokens)
        self._truncated.inc(account.truncated_tokens)
        if account.tokens:
            self._tokenization.observe(account.tokenization)
            self._queue.observe(account.queue)
            self._inference.observe(account.inference)
            self._length.observe(account.tokens)
        self.recent.append(Recent(now, account.total, account.tokens, error is None))

    def page(self, engine: Engine) -> bytes:
        """Return all numbers in the text format of Prometheus."""
        self.observe(engine)
        registry = self.registry
        if self._folder is not None:
            registry = CollectorRegistry()
            MultiProcessCollector(registry, path=self._folder)  # type: ignore[no-untyped-call]
        return _TEI_COUNTER.sub(rb"\1", prometheus.generate_latest(registry))

    def observe(self, engine: Engine) -> None:
        """Update the numbers of the queues and the cache."""
        self._queue_size.set(engine.waiting_jobs)
        self._queue_tokens.set(engine.waiting_tokens)
        self._cache_bytes.set(engine.cache.size)
        hits, misses = engine.cache.hits, engine.cache.misses
        self._hits.inc(hits - self._seen[0])
        self._misses.inc(misses - self._seen[1])
        self._seen = hits, misses

    def last_minute(self, now: float) -> dict[str, float]:
        """Return throughput and latency of the last minute."""
        recent = [one for one in self.recent if one.ended > now - _WINDOW]
        seconds = sorted(one.seconds for one in recent)
        span = max(1.0, now - min((one.ended for one in recent), default=now))
        return {
            "requests": len(recent),
            "failed": sum(not one.ok for one in recent),
            "requests_per_second": round(len(recent) / span, 2),
            "tokens_per_second": round(sum(one.tokens for one in recent) / span, 1),
            "p50_ms": round(1000 * _quantile(seconds, 0.5), 2),
            "p99_ms": round(1000 * _quantile(seconds, 0.99), 2),
        }

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(name, text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str) -> Gauge:
        return Gauge(name, text, registry=self.registry, multiprocess_mode="livesum")

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(name, text, registry=self.registry, buckets=buckets)


def forget_process(folder: str, pid: int) -> None:
    """Remove the current values of a process that has ended; its counters are kept."""
    prometheus.multiprocess.mark_process_dead(pid, path=folder)  # type: ignore[no-untyped-call]


def _quantile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
