"""Serves the page from files of the package, with a content security policy. Works on bytes only."""

from __future__ import annotations

from functools import cache
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response

from sbert.pages.map import script_hash

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_PAGES = {"/": "index.html", "/docs": "api.html"}


async def page(request: Request) -> Response:
    """Return a page or one of its files. Only files of the package are served."""
    path = request.url.path
    name = _PAGES.get(path) or path.removeprefix("/page/")
    found = files().get(name)
    if found is None:
        return Response(status_code=404)
    suffix = name[name.rindex(".") :]
    headers = {"cache-control": "no-cache", "x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}
    if suffix == ".html":
        headers["content-security-policy"] = policy()
    return Response(found, 200, headers, _TYPES[suffix])


@cache
def files() -> dict[str, bytes]:
    """Return the files of the page by their names."""
    folder = resources.files("sbert.serve").joinpath("page")
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.name[one.name.rfind(".") :] in _TYPES}


@cache
def policy() -> str:
    """Return the content security policy: the page loads its own files, and the map with inline style in a frame."""
    return (
        "default-src 'none'; connect-src 'self'; img-src 'self'; style-src 'self' 'unsafe-inline'; "
        f"script-src 'self' '{script_hash()}'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'self'"
    )
