"""What the subcommands about stores share: recognising a store, searching it, and a prompt for queries."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from sbert.cli import show
from sbert.errors import SbertError, counted
from sbert.search.found import Found
from sbert.search.searcher import Mode, Searcher
from sbert.search.store import is_postgres
from sbert.text import display
from sbert.types import Hit

_HEADER = b"SQLite format 3\0"


def is_store(location: str) -> bool:
    """Return whether a location is a PostgreSQL address or an SQLite file."""
    if is_postgres(location):
        return True
    path = Path(location)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_HEADER)) == _HEADER


class StoreSearch:
    """Searches a store with the same options for every query."""

    def __init__(self, searcher: Searcher, k: int, filter: str | None, mode: Mode, in_json: bool) -> None:
        self.searcher, self.k, self.filter, self.mode, self.in_json = searcher, k, filter, mode, in_json

    def show(self, query: str) -> None:
        """Search for one query, and print the hits."""
        found = self.searcher.search(query, self.k, filter=self.filter, mode=self.mode)
        if self.in_json:
            show.as_json(found.to_json())
            return
        hits = [Hit(hit.id, hit.score, hit.text) for hit in found.hits]
        show.hits(hits, [hit.metadata for hit in found.hits], in_json=False, key="id")
        if self.filter and not hits:
            show.note("no text meets the filter")
        show.note(_summary(found, self.mode))

    def prompt(self) -> None:
        """Ask for queries until the input ends."""
        with suppress(ImportError):
            import_module("readline")  # gives the prompt a history
        texts = counted(len(self.searcher), "text")
        show.note(f"{texts}; type a query and press Enter, or press Ctrl-D to end")
        while True:
            try:
                query = input("> " if sys.stdin.isatty() else "").strip()
            except EOFError:
                return
            if query:
                try:
                    self.show(query)
                except SbertError as error:
                    show.note(f"error: {error}", "red")


def _summary(found: Found, mode: Mode) -> str:
    seconds = found.seconds
    parts = [f"query {display.duration(seconds.encode)}", f"search {display.duration(seconds.retrieve)}"]
    parts += [f"re-ranking of {found.candidates:,} {display.duration(seconds.rerank)}"] if found.candidates else []
    if mode == "lexical":
        return ", ".join(parts)
    how = "exact" if found.exact else "approximate"
    return f"{', '.join(parts)}; {how}, {'' if found.exact else 'about '}{counted(found.compared, 'text')} compared"
