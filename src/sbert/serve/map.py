"""The map of the store: ``sbert map`` draws it in a process of its own, so that requests do not wait for it."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from sbert.errors import shown
from sbert.serve.http.refusal import Refusal

MOST_TEXTS = 100_000
"""Maximum number of texts of which a map is drawn."""
_SECONDS = 600.0


class StoreMap:
    """The page with the most recently drawn map of a store.

    Args:
        store: The location of the store.
        model: The name of its model, by which it is loaded.
    """

    def __init__(self, store: str, model: str) -> None:
        self._command = [sys.executable, "-m", "sbert", "map", store, "--model", model, "--title", "sbert"]
        self._page: bytes | None = None
        self._drawn_for = -1
        self._drawing: asyncio.Task[None] | None = None
        self._problem: str | None = None

    def page(self, texts: int) -> bytes | None:
        """Return the page for a store with this number of texts, or None while it is being drawn."""
        if texts < 1:
            raise Refusal("not_found", "the store has no texts, but a map needs some; add documents first")
        if texts > MOST_TEXTS:
            raise Refusal(
                "invalid",
                f"the store has {texts:,} texts, but the server draws at most {MOST_TEXTS:,}; use sbert map",
            )
        if self._drawing is not None and not self._drawing.done():
            return None
        if self._problem is not None:
            problem, self._problem = self._problem, None
            raise Refusal("failed", f"the map could not be drawn ({problem})")
        if self._page is None or self._drawn_for != texts:
            self._drawing = asyncio.get_running_loop().create_task(self._draw(texts))
            return None
        return self._page

    def close(self) -> None:
        """Stop drawing."""
        if self._drawing is not None:
            with suppress(RuntimeError):  # the event loop has ended, and the process with it
                self._drawing.cancel()

    async def _draw(self, texts: int) -> None:
        with tempfile.TemporaryDirectory(prefix="sbert-map-") as folder:
            page = Path(folder) / "map.html"
            process = await asyncio.create_subprocess_exec(
                *self._command, "-o", str(page), stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
            )
            try:
                _, said = await asyncio.wait_for(process.communicate(), _SECONDS)
                if process.returncode == 0:
                    self._page, self._drawn_for = page.read_bytes(), texts
                else:
                    self._problem = shown(said.decode(errors="replace").strip().splitlines()[-1:], 200)
            except asyncio.TimeoutError:
                self._problem = f"it took more than {_SECONDS:g} seconds"
            finally:
                if process.returncode is None:
                    process.kill()
