"""The state of the server: health, metrics, and the figures of the status page."""

from __future__ import annotations

import time
from typing import Any, TypedDict

from sbert.serve import metrics as metrics_
from sbert.serve.account import Account
from sbert.serve.http.refusal import OPENAI, TEI, Refusal
from sbert.serve.http.route import Raw, Route
from sbert.serve.service import Service


class StatusResponse(TypedDict):
    """The state of the process that answers."""

    version: str
    uptime_seconds: float
    models: list[dict[str, Any]]
    store: dict[str, Any] | None
    writable: bool
    reranker: str | None
    queue: dict[str, int]
    cache: dict[str, int]
    last_minute: dict[str, float]


async def health(service: Service, asked: None, account: Account) -> Raw:
    """Run every model on reference texts. The status is 200 if all vectors equal the expected ones, otherwise 503."""
    problem = await service.health.problem()
    if problem is not None:
        raise Refusal("down", problem, 5)
    return Raw(b"", "text/plain")


async def metrics(service: Service, asked: None, account: Account) -> Raw:
    """Return counters and distributions for Prometheus."""
    return Raw(service.metrics.page(service.engine), metrics_.MEDIA_TYPE)


async def status(service: Service, asked: None, account: Account) -> dict[str, Any]:
    """Return the state of the server: models, store, queue, and the requests of the last minute."""
    engine, retrieval = service.engine, service.retrieval
    return {
        "version": service.version,
        "uptime_seconds": round(time.time() - service.started, 1),
        "models": [
            {"name": served.name, "kind": served.kind, "max_length": served.model.max_seq_length}
            for served in service.models.values()
        ],
        "store": None if retrieval is None else {"texts": await retrieval.run(retrieval.store.count)},
        "writable": retrieval is not None and account.may_write and not service.settings.read_only,
        "reranker": service.loaded.reranker,
        "queue": {"requests": engine.waiting_jobs, "tokens": engine.waiting_tokens, "limit": engine.queue_tokens},
        "cache": {
            "bytes": engine.cache.size,
            "limit": engine.cache.limit,
            "hits": engine.cache.hits,
            "misses": engine.cache.misses,
        },
        "last_minute": service.metrics.last_minute(time.perf_counter()),
    }


ROUTES = (
    Route("GET", "/health", health, None, None, TEI, "status", counts=False),
    Route("GET", "/ping", health, None, None, TEI, "status", counts=False),
    Route("GET", "/metrics", metrics, None, None, TEI, "status", counts=False),
    Route("GET", "/status", status, None, StatusResponse, OPENAI, counts=False),
)
