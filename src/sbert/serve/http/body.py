"""Reads the bodies of requests within limits of size and time. Works on bytes only."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from starlette.requests import Request

from sbert.serve.http.refusal import Refusal
from sbert.serve.settings import Settings

_DISCARDED_SECONDS = 60.0  # time to receive the rest of a rejected body, before which clients read no response


class OpenBytes:
    """Counts the bytes of all bodies in memory."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.size = 0

    @asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the body of a request; its bytes are counted until the block ends."""
        taken = 0
        parts: list[bytes] = []
        try:
            _check_media_type(request)
            self._check(_declared(request), self.size + _declared(request))
            with anyio.fail_after(self.settings.body_seconds):
                async for part in request.stream():
                    taken += len(part)
                    self.size += len(part)
                    parts.append(part)
                    self._check(taken, self.size)
        except Refusal:
            self.size -= taken
            taken = 0
            parts.clear()
            await _discard(request)
            raise
        except TimeoutError:
            self.size -= taken
            seconds = self.settings.body_seconds
            raise Refusal(
                "late", f"the body did not arrive within {seconds:g} seconds; send it without pauses", 1
            ) from None
        try:
            yield b"".join(parts)
        finally:
            self.size -= taken

    def _check(self, size: int, together: int) -> None:
        most = self.settings.max_body_bytes
        if size > most:
            raise Refusal("too_large", f"the body has more than {most:,} bytes, which is the limit; split the request")
        if together > self.settings.max_open_bytes:
            raise Refusal("busy", "the bodies of other requests fill the memory reserved for bodies; retry later", 2)


async def _discard(request: Request) -> None:
    """Read the rest of a body without keeping it, so that the client reads the response."""
    if "expect" in request.headers:  # the client waits for permission to send the body
        return
    with anyio.move_on_after(_DISCARDED_SECONDS):
        message = await request.receive()
        while message["type"] == "http.request" and message.get("more_body"):
            message = await request.receive()


def _declared(request: Request) -> int:
    length = request.headers.get("content-length", "0")
    return int(length) if length.isdigit() and len(length) < 16 else 0


def _check_media_type(request: Request) -> None:
    """Require JSON, which browsers send for another website only after a preflight request."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refusal("media", "the body must be JSON; send it with the header Content-Type: application/json")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal("media", "the body is compressed, which is not supported; send it without Content-Encoding")
