"""``sbert serve``: models and a store over HTTP, and a page to search with."""

from __future__ import annotations

import ipaddress
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sbert.cli import show
from sbert.cli.options import Device
from sbert.errors import WrongUsage, check_value, counted

if TYPE_CHECKING:
    from sbert.serve.loading import Loaded
    from sbert.serve.settings import Settings

_LOGS = ("json", "off", "texts")


def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(metavar="MODEL", help="Models of any kind. Defaults to the model of the store."),
    ] = None,
    rerank: Annotated[str | None, typer.Option(metavar="MODEL", help="Model that sorts hits and ranks.")] = None,
    store: Annotated[str | None, typer.Option(help="Store to search; it is created if there is none.")] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 is all interfaces.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 is any free port.")] = 8080,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Number of processes, which share the weights.")] = 1,
    api_key_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File of API keys, one per line; 'read' after a key makes it read-only."),
    ] = None,
    private: Annotated[bool, typer.Option("--private", help="/health and /metrics need a key, too.")] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse changes to documents.")] = False,
    cors: Annotated[
        list[str] | None, typer.Option(metavar="ORIGIN", help="Website whose scripts may send requests.")
    ] = None,
    cache_mb: Annotated[int, typer.Option(min=0, help="Size of the cache of vectors in MB, per process.")] = 256,
    max_body_mb: Annotated[int, typer.Option(min=1, max=1000, help="Maximum size of a request in MB.")] = 32,
    max_items: Annotated[int, typer.Option(min=1, help="Maximum number of texts in a request.")] = 2048,
    queue_tokens: Annotated[int, typer.Option(min=1, help="Maximum number of queued tokens per model.")] = 500_000,
    log: Annotated[str, typer.Option(help="json (a line for each request), off, or texts (with bodies).")] = "json",
    device: Device = None,
) -> None:
    """Serve models and a store over HTTP: the APIs of OpenAI, Cohere, Jina and TEI, and a search page.

    Example: sbert serve --store faq.db --rerank runs/cross
    """
    check_value("--log", log, _LOGS)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # requests are tokenized by several threads
    with tempfile.TemporaryDirectory(prefix="sbert-serve-") as folder:
        if workers > 1:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # read when prometheus_client is imported
        with _extra():
            from sbert.serve.settings import Settings, read_keys
        settings = Settings(
            keys=() if api_key_file is None else read_keys(api_key_file),
            private=private,
            read_only=read_only,
            origins=tuple(cors or ()),
            hosts=_hosts(host, api_key_file is not None),
            max_body_bytes=max_body_mb * 1_000_000,
            max_open_bytes=max(16 * max_body_mb, 256) * 1_000_000,
            max_items=max_items,
            queue_tokens=queue_tokens,
            cache_bytes=cache_mb * 1_000_000,
            log_texts=log == "texts",
        )
        _run(settings, (host, port), (models or [], rerank, store, device), workers, folder, log != "off")


def _run(
    settings: Settings,
    address: tuple[str, int],
    wanted: tuple[list[str], str | None, str | None, str | None],
    workers: int,
    folder: str,
    with_log: bool,
) -> None:
    """Load the models and the store, and serve them until a signal arrives."""
    from sbert.serve import access, process
    from sbert.serve.loading import load_all

    with process.bound_socket(*address) as listening:
        loaded = load_all(*wanted)
        access.write_to_standard_error(with_log)
        _announce(loaded, listening.getsockname()[:2], not (settings.hosts or settings.keys))
        if workers > 1:
            process.run_several(workers, loaded, settings, listening, folder)
        else:
            process.run(loaded, settings, listening)


@contextmanager
def _extra() -> Iterator[None]:
    """Convert the error of a missing package to one that explains how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise WrongUsage(f"the package {error.name} is missing; install it with: pip install 'sbert[serve]'") from None


def _hosts(host: str, with_keys: bool) -> tuple[str, ...]:
    """Return the accepted host names of a server that only this machine can reach.

    Otherwise a website could resolve its own name to this address, and read the responses.
    """
    if with_keys or not _is_loopback(host):
        return ()
    return ("localhost", "127.0.0.1", "::1", "[::1]", host)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _announce(loaded: Loaded, address: tuple[str, int], open_to_all: bool) -> None:
    host, port = address
    where = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    models = f"{counted(len(loaded.models), 'model')} ({', '.join(loaded.models)})"
    store = "" if loaded.store is None else f" and {counted(loaded.documents, 'document')}"
    show.note(f"{models}{store} at {where}; API at {where}/docs; Ctrl-C stops")
    if loaded.store is not None and not loaded.documents:
        show.note("warning: the store is empty; sbert index, or POST /documents, adds documents to it", "yellow")
    if open_to_all:
        show.note(
            "warning: everyone who can reach this address can use it; require keys with --api-key-file", "yellow"
        )
