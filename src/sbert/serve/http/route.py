"""Defines a route: its address, what it reads and gives, and the function that answers. Works on types only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from sbert.serve.http.refusal import Dialect

Right = Literal["public", "status", "read", "write"]
"""Who may ask: everyone, everyone unless the server is private, whoever has a key, or a key that may write."""


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
    """The msgspec type of the body or, where there is none, of the parameters in the address."""
    response: Any
    """The type of the answer; None for one that is not JSON."""
    dialect: Dialect
    right: Right = "read"
    counts: bool = True
    """Whether the request is counted among those that models answer."""

    @property
    def has_body(self) -> bool:
        """Whether the request is in the body rather than in the address."""
        return self.method != "GET" and "{" not in self.path

    @property
    def summary(self) -> str:
        """The first line of the description."""
        return (self.handle.__doc__ or "").strip().split("\n")[0]
