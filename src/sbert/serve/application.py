"""The ASGI application: routes, errors for unknown paths, CORS, and trusted hosts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Address

from sbert.disk.machine import version
from sbert.serve import site
from sbert.serve.api import ROUTES
from sbert.serve.http.exchange import Exchange
from sbert.serve.http.openapi import document
from sbert.serve.http.refusal import OPENAI, Refusal
from sbert.serve.loading import Loaded, load_all
from sbert.serve.service import Service
from sbert.serve.settings import Settings

LOOPBACK = ("localhost", "127.0.0.1", "[::1]", "testserver")


def app(
    models: Sequence[str] = (),
    *,
    rerank: str | None = None,
    store: str | None = None,
    settings: Settings | None = None,
) -> Starlette:
    """Load models and return an ASGI application, for servers other than ``sbert serve``.

    Args:
        models: Names of models of any kind. Defaults to the model of the store, or to all-MiniLM-L6-v2.
        rerank: Name of the model that sorts hits and ranks documents.
        store: A store to search, which is created if there is none.
        settings: Limits, API keys and other settings. Defaults to those of ``sbert serve``.

    >>> from starlette.testclient import TestClient
    >>> with TestClient(app()) as client:
    ...     answer = client.post("/embed", json={"inputs": "안녕하세요"}).json()
    >>> len(answer), len(answer[0])
    (1, 384)
    """
    return application(load_all(models, rerank, store), settings or Settings())


def application(loaded: Loaded, settings: Settings, shared_metrics: str | None = None) -> Starlette:
    """Return the application for loaded models. Its threads start when a server starts it."""
    running: list[Service] = []

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        running.append(Service(loaded, settings, shared_metrics))
        yield
        running.pop().close()

    described = document(ROUTES, version("sbert"), bool(settings.keys))

    async def openapi(_: Request) -> Response:
        return Response(orjson.dumps(described), media_type="application/json")

    routes = [Address(one.path, Exchange(one, lambda: running[0]).__call__, methods=[one.method]) for one in ROUTES]
    routes += [Address(path, site.page) for path in ("/", "/docs", "/page/{name}")]
    routes.append(Address("/openapi.json", openapi))
    return Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=_middleware(settings),
        exception_handlers={HTTPException: _outside},
    )


def _middleware(settings: Settings) -> list[Middleware]:
    layers = []
    if settings.hosts:
        layers.append(Middleware(TrustedHostMiddleware, allowed_hosts=list(settings.hosts), www_redirect=False))
    if settings.origins:
        layers.append(
            Middleware(
                CORSMiddleware,
                allow_origins=list(settings.origins),
                allow_methods=["GET", "POST", "DELETE"],
                allow_headers=["authorization", "content-type", "x-request-id"],
            )
        )
    return layers


async def _outside(_: Request, error: Any) -> Response:
    """Answer a request that matches no route."""
    message = "there is no such path; /docs lists all of them" if error.status_code == 404 else str(error.detail)
    body = OPENAI.body(Refusal("not_found" if error.status_code == 404 else "invalid", message))
    return Response(orjson.dumps(body), error.status_code, getattr(error, "headers", None), "application/json")
