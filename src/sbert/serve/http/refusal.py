"""Errors of requests, and their form in each of the APIs. Works on plain values."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any, Literal

from sbert.errors import BadInput, BadModel, SbertError
from sbert.serve.engine import Busy

Kind = Literal[
    "invalid",
    "empty",
    "too_large",
    "unauthorized",
    "forbidden",
    "not_found",
    "media",
    "busy",
    "late",
    "failed",
    "down",
]
"""Why a request is refused; each API has a status and a name for it."""
_STATUS: dict[Kind, int] = {
    "invalid": 400,
    "empty": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "too_large": 413,
    "media": 415,
    "busy": 429,
    "failed": 500,
    "late": 503,
    "down": 503,
}


class Refusal(Exception):
    """Raised to answer a request with an error."""

    def __init__(self, kind: Kind, message: str, retry_after: int | None = None, param: str | None = None) -> None:
        super().__init__(message)
        self.kind, self.message, self.retry_after, self.param = kind, message, retry_after, param


@dataclass(frozen=True, slots=True)
class Dialect:
    """How an API writes errors."""

    name: str
    body: Callable[[Refusal], dict[str, Any] | None]
    """Returns the body of an error, or None for an empty body."""
    schema: dict[str, Any]
    """JSON schema of the body."""
    status: dict[Kind, int]

    def status_of(self, refusal: Refusal) -> int:
        """Return the status code of an error."""
        return self.status.get(refusal.kind, _STATUS[refusal.kind])


def as_refusal(error: BaseException) -> Refusal:
    """Convert an exception to a refusal. Unexpected exceptions reveal no details."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, Busy):
        return Refusal("busy", str(error), error.seconds)
    if isinstance(error, BadModel):
        return Refusal("failed", str(error))
    if isinstance(error, BadInput):
        return Refusal("invalid", str(error))
    if isinstance(error, TimeoutError | CancelledError):
        return Refusal("late", "the request timed out; send fewer texts, or retry later", 5)
    if isinstance(error, SbertError):
        return Refusal("failed", str(error))
    return Refusal(
        "failed", "an unexpected error occurred; the log of the server describes it under the id of the request"
    )


_TYPES: dict[Kind, str] = {
    "unauthorized": "authentication_error",
    "forbidden": "permission_error",
    "not_found": "not_found_error",
    "busy": "rate_limit_error",
    "failed": "server_error",
    "late": "server_error",
    "down": "server_error",
}
_TEI_TYPES: dict[Kind, str] = {
    "empty": "Empty",
    "busy": "Overloaded",
    "failed": "Backend",
    "late": "Unhealthy",
    "down": "Unhealthy",
}


def _openai(refusal: Refusal) -> dict[str, Any]:
    kind = _TYPES.get(refusal.kind, "invalid_request_error")
    return {"error": {"message": refusal.message, "type": kind, "param": refusal.param, "code": refusal.kind}}


def _tei(refusal: Refusal) -> dict[str, Any] | None:
    if refusal.kind == "unauthorized":
        return None
    return {"error": refusal.message, "error_type": _TEI_TYPES.get(refusal.kind, "Validation")}


def _object(**fields: object) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields)}


_TEXT = {"type": "string"}
_TEXT_OR_NULL = {"type": ["string", "null"]}
OPENAI = Dialect(
    "OpenAI", _openai, _object(error=_object(message=_TEXT, type=_TEXT, param=_TEXT_OR_NULL, code=_TEXT_OR_NULL)), {}
)
"""``{"error": {"message", "type", "param", "code"}}``; our own routes use it, too."""
COHERE = Dialect("Cohere", lambda refusal: {"message": refusal.message}, _object(message=_TEXT), {})
JINA = Dialect("Jina", lambda refusal: {"detail": refusal.message}, _object(detail=_TEXT), {})
TEI = Dialect("TEI", _tei, _object(error=_TEXT, error_type=_TEXT), {"invalid": 422, "failed": 424})
"""Text Embeddings Inference: 422 for invalid requests, 424 for a failing model, an empty body for 401."""
