"""Caches the results of rows by their content, up to a number of bytes. Works on bytes and arrays only."""

from __future__ import annotations

import threading
from collections import OrderedDict

from sbert.types import FloatArray

_ENTRY_BYTES = 250  # overhead of the objects of an entry, measured with tracemalloc


class ResultCache:
    """Keeps the most recently used results. It is exact, because the result of a row depends only on its key.

    Args:
        limit: Maximum size of keys and results in bytes; 0 disables the cache.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = self.hits = self.misses = 0
        self._kept: OrderedDict[bytes, FloatArray] = OrderedDict()
        self._changing = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: bytes) -> FloatArray | None:
        """Return the cached result of a row, or None."""
        with self._changing:
            found = self._kept.get(key)
            if found is None:
                self.misses += 1
                return None
            self.hits += 1
            self._kept.move_to_end(key)
            return found

    def put(self, key: bytes, result: FloatArray) -> None:
        """Add a result, which must not be changed later, and evict the least recently used ones."""
        needed = _bytes_of(key, result)
        if needed > self.limit:
            return
        with self._changing:
            if key in self._kept:
                return
            self._kept[key] = result
            self.size += needed
            while self.size > self.limit:
                self.size -= _bytes_of(*self._kept.popitem(last=False))


def _bytes_of(key: bytes, result: FloatArray) -> int:
    return len(key) + result.nbytes + _ENTRY_BYTES
