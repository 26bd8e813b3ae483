"""Defines a route: its path, its request and response types, and its handler. Works on types only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from sbert.serve.http.refusal import Dialect

Right = Literal["public", "status", "read", "write"]
"""The right that a request needs: none; none unless the server is private; a key; or a key that permits changes."""


class Raw(NamedTuple):
    """An answer that is not JSON, or that has another status than 200."""

    body: bytes
    media_type: str
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Route:
    """One operation of the server."""

    method: Literal["GET", "POST", "DELETE"]
    path: str
    handle: Callable[..., Awaitable[Any]]
    """Called with the service, the request and its account; its docstring describes the operation."""
    request: Any
    """The msgspec type of the body or, if there is none, of the parameters of the URL."""
    response: Any
    """The type of the answer; None for one that is not JSON."""
    dialect: Dialect
    right: Right = "read"
    counts: bool = True
    """Whether metrics count the request."""

    @property
    def has_body(self) -> bool:
        """Whether the request is in the body rather than in the URL."""
        return self.method != "GET" and "{" not in self.path

    @property
    def summary(self) -> str:
        """The first line of the description."""
        return (self.handle.__doc__ or "").strip().split("\n")[0]
