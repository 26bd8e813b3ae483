"""Keeps the results of rows by their content, within a number of bytes. Works on bytes and arrays only."""

from __future__ import annotations

import threading
from collections import OrderedDict

from sbert.types import FloatArray

_ENTRY_BYTES = 250  # the objects around a key and an array, measured with tracemalloc


class ResultCache:
    """The results that were used last. It is exact: the result of a row depends on nothing but its key.

    Args:
        limit: Number of bytes that keys and results may take; 0 keeps nothing.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = self.hits = self.misses = 0
        self._kept: OrderedDict[bytes, FloatArray] = OrderedDict()
        self._changing = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: bytes) -> FloatArray | None:
        """Return the result of a row if it is known."""
        with self._changing:
            found = self._kept.get(key)
            if found is None:
                self.misses += 1
                return None
            self.hits += 1
            self._kept.move_to_end(key)
            return found

    def put(self, key: bytes, result: FloatArray) -> None:
        """Keep a result, which must not be changed later, and forget the least recently used ones."""
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
