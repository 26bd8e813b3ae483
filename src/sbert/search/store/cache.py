"""Keeps an index consistent with the rows of a store. The index can always be rebuilt from the rows."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from sbert.disk.progress import Progress
from sbert.errors import BadModel, counted
from sbert.hub.files import reads_folder
from sbert.search.index import ExactIndex, FaissIndex, Kind, Neighbours
from sbert.search.packing import Packed, Packing, checksums, content
from sbert.types import FloatArray, IntArray, Similarity

Result = TypeVar("Result")
logger = logging.getLogger(__name__)

EXACT_ROWS = 50_000
"""Maximum number of vectors for comparing all of them."""
_FEWEST_ROWS = 256  # minimum number of rows of an index with cells, even on request
_SHOWN_ROWS = 10_000  # number of rows above which reading takes long enough for a progress bar
_TOLERATED_LOSS = 0.05
_UNSAVED_SHARE = 0.1  # share of new rows at which an index on the disk is saved again


class Changes(NamedTuple):
    """The rows that were added and deleted after a certain state of the store."""

    generation: int
    """Number of the current state."""
    complete: bool
    """Whether the store still records all rows that were deleted since then."""
    total: int
    """Number of all rows."""
    last_key: int
    """The largest key that was ever used."""
    content: int
    """The result of :func:`~sbert.search.packing.content` for all rows."""
    deleted: IntArray
    added: Iterator[tuple[IntArray, Packed]]
    """Keys and packed vectors, in ascending order of the keys."""


class Source(Protocol):
    """The rows that an index is built from."""

    def generation(self) -> int:
        """Return the number of the current state, which every change increases."""
        ...

    def changes(self, last_key: int, generation: int) -> Changes:
        """Return the rows with larger keys, and the keys deleted after a generation, in one consistent state."""
        ...


class CachedIndex:
    """An index in memory, a part of which may be in a folder. Several threads may use it at the same time.

    Args:
        source: The rows.
        packing: The packing of the vectors.
        similarity: How vectors are compared.
        folder: The folder for an index of many vectors.
        show_progress_bar: Whether to show progress bars while the index is built or updated.
    """

    def __init__(
        self, source: Source, packing: Packing, similarity: Similarity, folder: Path, show_progress_bar: bool = False
    ) -> None:
        self.source, self.packing, self.similarity, self.folder = source, packing, similarity, folder
        self.show_progress_bar = show_progress_bar
        self._lock = threading.Lock()
        self._index: ExactIndex | FaissIndex | None = None
        self._last_key = self._generation = 0
        self._why = ""  # the reason why an existing index cannot be used
        self._compared = True  # whether the index was compared with the rows of the store since it was opened

    def search(self, vectors: FloatArray, k: int, allowed: IntArray | None) -> Neighbours:
        """Find the nearest rows in the current state of the store."""
        return self._use(lambda index: index.search(vectors, k, allowed))

    def current(self) -> ExactIndex | FaissIndex:
        """Return the index of the current state of the store."""
        with self._lock:
            try:
                return self._updated()
            except BaseException:  # an interrupt may have come between two steps of an update
                self._index = None
                raise

    def _updated(self) -> ExactIndex | FaissIndex:
        if self._index is None:
            self._load()
        elif self.source.generation() == self._generation:  # Reading the changes counts all rows, which is slow.
            return self._index
        changes = self.source.changes(self._last_key, self._generation)
        if not changes.complete:
            self._clear()
            changes = self.source.changes(0, changes.generation)
        if not self._last_key and changes.total > EXACT_ROWS:
            rows = counted(changes.total, "row")
            logger.warning("the index of %s is being built in %s%s", rows, self.folder, self._why)
            self._build(None)
        elif changes.generation != self._generation or not (self._last_key and self._compared):
            self._apply(changes)
        if not self._compared:
            self._clear(", because it belongs to other rows than those of the store")
            return self._updated()
        assert self._index is not None
        return self._index

    def describe(self) -> dict[str, object]:
        """Return the facts about the index."""
        index = self.current()
        if isinstance(index, FaissIndex):
            return {"index": index.facts.kind, "recall": index.facts.recall, "not_yet_indexed": index.unsaved}
        return {"index": "exact", "recall": 1.0, "not_yet_indexed": 0}

    def check(self) -> list[str]:
        """Compare the index with an exact search on a sample, and return a sentence about each problem."""
        index = self.current()
        if not isinstance(index, FaissIndex):
            return []
        if not index.is_intact():
            return [f"the vectors in {self.folder} are damaged; run sbert store compact"]
        recall = index.measured_recall()
        if recall < index.facts.recall - _TOLERATED_LOSS:
            return [f"the recall of the index fell from {index.facts.recall} to {recall}; run sbert store compact"]
        return []

    def save(self) -> None:
        """Save the index to the disk if it has many rows and many of them are new."""

        def write(index: ExactIndex | FaissIndex) -> None:
            with self._lock:
                if isinstance(index, FaissIndex):
                    if index.unsaved > _UNSAVED_SHARE * index.facts.rows:
                        index.save(self.folder)
                        self._index = None
                elif len(index) > EXACT_ROWS:
                    self._build(None)

        self._use(write)

    def rebuild(self, kind: Kind | None = None) -> None:
        """Rebuild the index if there are many rows.

        Args:
            kind: The compression. Defaults to a choice by the number of dimensions; if it is given, a few hundred
                rows are enough.
        """
        with self._lock:  # The current index is not updated first, because this could also build it.
            if self.source.changes(0, 0).total > (EXACT_ROWS if kind is None else _FEWEST_ROWS):
                self._build(kind)

    def _use(self, function: Callable[[ExactIndex | FaissIndex], Result]) -> Result:
        """Call ``function`` with the current index, and again with a new one if the vectors are damaged."""
        index = self.current()
        try:
            return function(index)
        except BadModel as error:
            logger.warning("%s", error)
            with self._lock:
                self._clear()
        return function(self.current())

    def _load(self) -> None:
        """Open the index in the folder, or start with an empty one."""
        self._clear()
        if not self.folder.is_dir():
            return
        try:
            index = reads_folder(FaissIndex.open)(self.folder)
        except BadModel as error:
            self._why = f", because {error}"
            return
        if (index.packing, index.facts.similarity) == (self.packing, self.similarity):
            self._index, self._last_key, self._generation = index, index.last_key, index.facts.generation
            self._compared = False

    def _clear(self, why: str = "") -> None:
        self._index = ExactIndex(self.packing.dimension, self.similarity)
        self._last_key = self._generation = 0
        self._compared, self._why = True, why

    def _apply(self, changes: Changes) -> None:
        assert self._index is not None
        if len(changes.deleted):
            self._index.remove(changes.deleted)
        blocks = list(self._shown(changes.added, changes.total - len(self._index)))
        if not self._compared:  # the store may have been replaced since the index was written
            assert isinstance(self._index, FaissIndex)
            own = self._index.content() + sum(content(keys, checksums(rows)) for keys, rows in blocks)
            self._compared = own % 2**64 == changes.content
        if blocks and self._compared:
            keys, rows = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
            self._index.add(keys, self.packing.unpack(rows))
        self._last_key, self._generation = changes.last_key, changes.generation

    def _build(self, kind: Kind | None) -> None:
        self._compared, changes = True, self.source.changes(0, 0)
        blocks = self._shown(changes.added, changes.total)
        self._index = FaissIndex.build(
            self.folder, self.packing, blocks, self.similarity, kind, changes.generation, self._shows(changes.total)
        )
        self._last_key, self._generation = changes.last_key, changes.generation

    def _shown(self, blocks: Iterator[tuple[IntArray, Packed]], total: int) -> Iterator[tuple[IntArray, Packed]]:
        """Yield blocks of vectors, and show a progress bar."""
        with Progress(total, "vectors read", self._shows(total)) as progress:
            for keys, rows in blocks:
                yield keys, rows
                progress.add(len(keys))

    def _shows(self, total: int) -> bool:
        """Return whether to show a progress bar for this number of vectors."""
        return self.show_progress_bar and total > _SHOWN_ROWS
