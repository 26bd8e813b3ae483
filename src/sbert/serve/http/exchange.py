"""Handles one request of any route: key, body, time limit, headers, metrics and log."""

from __future__ import annotations

import asyncio
import json
import re
import time
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import msgspec
import orjson
from starlette.requests import Request
from starlette.responses import Response

from sbert.errors import SbertError
from sbert.serve import access
from sbert.serve.account import Account
from sbert.serve.http.refusal import Refusal, as_refusal
from sbert.serve.http.route import Raw, Route
from sbert.serve.service import Service

_REQUEST_ID = re.compile(r"[\w.:-]{1,100}", re.ASCII)
_LOGGED = 10_000  # maximum number of bytes of a body in the log
_CLOSED = 499  # status in the log if the client closed the connection
_SMALL = 32  # maximum number of items of a response that is serialized on the event loop
_SAFE = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}


class _Gone(Exception):
    """The client has closed the connection."""


class Exchange:
    """The endpoint of a route."""

    def __init__(self, route: Route, service: Callable[[], Service]) -> None:
        self._route, self._service = route, service
        self._decoder = msgspec.json.Decoder(route.request) if route.has_body else None

    async def __call__(self, request: Request) -> Response:
        """Answer a request."""
        service, account = self._service(), Account()
        given = request.headers.get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        text: list[bytes] = []
        error: str | None = None
        try:
            response = await self._answer(service, request, account, text)
        except Exception as problem:
            refusal = as_refusal(problem)
            gone = isinstance(problem, _Gone)
            error = "gone" if gone else refusal.kind
            if not isinstance(problem, Refusal | SbertError | _Gone | TimeoutError):
                access.failure(request_id, problem)
            response = Response(status_code=_CLOSED) if gone else self.refused(refusal)
        response.headers.update({"x-request-id": request_id, **_SAFE, **_times(account, service.device)})
        self._record(service, request, account, response.status_code, error, request_id, text)
        return response

    def refused(self, refusal: Refusal) -> Response:
        """Return an error in the dialect of the route."""
        dialect = self._route.dialect
        headers = {} if refusal.retry_after is None else {"retry-after": str(refusal.retry_after)}
        if refusal.kind == "unauthorized":
            headers["www-authenticate"] = "Bearer"
        if refusal.kind == "failed":
            headers["x-should-retry"] = "false"  # the same text fails again
        body = dialect.body(refusal)
        content = b"" if body is None else orjson.dumps(body)
        return Response(content, dialect.status_of(refusal), headers, "application/json")

    async def _answer(self, service: Service, request: Request, account: Account, text: list[bytes]) -> Response:
        _check_right(service, self._route, request, account)
        if not self._route.has_body:
            await request.body()
            return await self._handled(service, request, _parameters(self._route, request), account)
        async with service.open_bytes.read(request) as body:
            if service.settings.log_texts:
                text.append(body[:_LOGGED])
            return await self._handled(service, request, self._decoded(body), account)

    def _decoded(self, body: bytes) -> Any:
        assert self._decoder is not None
        try:
            return self._decoder.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Refusal("invalid", f"the body is not a valid request: {_one_line(error)}") from None

    async def _handled(self, service: Service, request: Request, asked: Any, account: Account) -> Response:
        limit = None if self._route.right == "write" else service.settings.answer_seconds
        found = await _unless_gone(request, self._route.handle(service, asked, account), limit)
        if isinstance(found, Raw):
            return Response(found.body, found.status, dict(found.headers), found.media_type)
        if account.items <= _SMALL:
            return Response(_json(found), media_type="application/json")
        content = await asyncio.get_running_loop().run_in_executor(service.executor, _json, found)
        return Response(content, media_type="application/json")

    def _record(
        self,
        service: Service,
        request: Request,
        account: Account,
        status: int,
        error: str | None,
        request_id: str,
        text: list[bytes],
    ) -> None:
        if self._route.counts:
            service.metrics.request(self._route.path, account, time.perf_counter(), error)
        client = request.client.host if request.client else ""
        body = b"".join(text).decode(errors="replace") if text else None
        access.request_line(request_id, client, request.method, self._route.path, status, account, error, body)


def _check_right(service: Service, route: Route, request: Request, account: Account) -> None:
    settings = service.settings
    if settings.keys and (route.right in ("read", "write") or (route.right == "status" and settings.private)):
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        key = settings.right(given.strip()) if scheme.lower() == "bearer" else None
        if key is None:
            raise Refusal("unauthorized", "the request has no valid key; send the header Authorization: Bearer KEY")
        account.may_write = key.may_write
        if route.right == "write" and not key.may_write:
            raise Refusal(
                "forbidden", "this key does not permit changes to documents; use one with the right to write"
            )
    if route.right == "write" and settings.read_only:
        raise Refusal("forbidden", "this server is read-only; start it without --read-only")


def _parameters(route: Route, request: Request) -> Any:
    """Return the parameters of the URL as the request type of the route."""
    if route.request is None:
        return None
    given = {**request.query_params, **request.path_params}
    try:
        return msgspec.convert(given, route.request, strict=False)
    except msgspec.ValidationError as error:
        raise Refusal("invalid", f"the URL has an invalid parameter: {_one_line(error)}") from None


async def _unless_gone(request: Request, work: Awaitable[Any], limit: float | None) -> Any:
    """Wait for a result. If the client disconnects or the time limit passes, queued rows are removed.

    A request without a time limit changes documents, and is completed even if the client disconnects.
    """
    task = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({task} if limit is None else {task, leaving}, timeout=limit, return_when="FIRST_COMPLETED")
        if task.done():
            return task.result()
        raise _Gone if leaving.done() else TimeoutError
    finally:
        for one in (task, leaving):
            if not one.done():
                one.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await one


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _json(found: Any) -> bytes:
    try:
        return orjson.dumps(found, option=orjson.OPT_SERIALIZE_NUMPY)
    except orjson.JSONEncodeError:  # metadata may hold whole numbers of more than 64 bits
        return json.dumps(found, ensure_ascii=False, default=lambda array: array.tolist()).encode()


def _times(account: Account, device: str) -> dict[str, str]:
    """Return TEI's headers with the timings of a request in milliseconds."""
    headers = {"x-total-time": _ms(account.total)}
    if account.items:
        headers |= {
            "x-compute-type": device,
            "x-compute-time": _ms(account.total),
            "x-compute-characters": str(account.characters),
            "x-compute-tokens": str(account.tokens),
            "x-truncated-tokens": str(account.truncated_tokens),
            "x-tokenization-time": _ms(account.tokenization),
            "x-queue-time": _ms(account.queue),
            "x-inference-time": _ms(account.inference),
        }
    return headers


def _ms(seconds: float) -> str:
    return str(round(1000 * seconds))


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300].encode("ascii", "backslashreplace").decode()
