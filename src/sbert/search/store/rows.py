"""Converts the rows of any database to documents."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Literal

import numpy as np

from sbert.errors import BadInput, BadModel
from sbert.search.filters import Condition
from sbert.search.packing import Packed, Packing
from sbert.search.store.document import Document, check_text, id_from_json, id_to_json
from sbert.search.store.store import Known, StoreFacts, damaged, decoding
from sbert.types import FloatArray, IntArray


class RowStore(ABC):
    """The part of a :class:`~sbert.search.store.Store` that reads documents by id, key or hash, or all documents."""

    facts: StoreFacts
    packing: Packing
    _metadata_column: ClassVar[str]

    @property
    @abstractmethod
    def address(self) -> str:
        """The location of the store for display, without user and password."""

    @abstractmethod
    def count(self, condition: Condition | None = None) -> int:
        """Return the number of documents that meet a condition."""

    @abstractmethod
    def _by(self, column: Literal["key", "id", "hash"], wanted: str, values: Sequence[Any]) -> list[Any]:
        """Return some columns of the rows that have one of ``values`` in a column."""

    @abstractmethod
    def _blocks(self, wanted: str) -> Iterator[list[Any]]:
        """Yield the key and some columns of all rows, in the order of the keys."""

    def __len__(self) -> int:
        return self.count()

    def __iter__(self) -> Iterator[Document]:
        for block in self._blocks(f"id, text, {self._metadata_column}, vector"):
            for _, *row in block:
                yield self._document(*row)

    def ids(self) -> Iterator[int | str]:
        """Yield all ids, in the order in which the documents were written."""
        for block in self._blocks("id"):
            with self._decoding():
                names = [id_from_json(name) for _, name in block]
            yield from names

    def known(self, ids: Sequence[int | str]) -> dict[int | str, Known]:
        """Return the hashes and metadata of those ids that exist."""
        rows = self._by("id", f"id, hash, {self._metadata_column}", [id_to_json(name) for name in ids])
        with self._decoding():
            return {id_from_json(name): Known(found, metadata) for name, found, metadata in rows}

    def vectors_of(self, hashes: Sequence[bytes]) -> dict[bytes, FloatArray]:
        """Return the vectors of those texts that are already stored, under any id."""
        return {found: self._vector(blob) for found, blob in self._by("hash", "hash, vector", list(hashes))}

    def get(self, ids: Sequence[int | str]) -> list[Document]:
        """Return the documents with these ids, in their order, with vectors. Unknown ids are skipped."""
        names = [id_to_json(name) for name in ids]
        rows = self._by("id", f"id, text, {self._metadata_column}, vector", names)
        found = {row[0]: self._document(*row) for row in rows}
        return [found[name] for name in names if name in found]

    def read(self, keys: IntArray, vectors: bool = False) -> dict[int, Document]:
        """Return documents by their keys, with vectors on request. Keys that do not exist any more are skipped."""
        wanted = f"key, id, text, {self._metadata_column}" + (", vector" if vectors else "")
        return {key: self._document(*row) for key, *row in self._by("key", wanted, keys.tolist())}

    def _document(self, name: str, text: str, metadata: str, blob: bytes | None = None) -> Document:
        with self._decoding():
            vector = None if blob is None else self._vector(blob)
            check_text("the text", text)
            return Document(id_from_json(name), text, dict(json.loads(metadata)), vector)

    def _vector(self, blob: bytes) -> FloatArray:
        with self._decoding():
            row = np.frombuffer(blob, np.uint8)[None]
            vector: FloatArray = self.packing.unpack(row)[0]
            self.packing.check(row)
        return vector

    def _packed(self, documents: Sequence[Document]) -> Packed:
        """Pack the vectors of those documents that have a vector: (N, row_bytes)."""
        vectors = [document.vector for document in documents if document.vector is not None]
        if not vectors:
            return np.empty((0, self.packing.row_bytes), np.uint8)
        wrong = next((vector for vector in vectors if vector.shape != (self.packing.dimension,)), None)
        return self.packing.pack(np.stack(vectors) if wrong is None else wrong[None])

    def _id_or_raw(self, name: str) -> object:
        """Return the id of a row, or the stored value if the id is damaged."""
        try:
            with self._decoding():
                return id_from_json(name)
        except BadModel:
            return name

    @contextmanager
    def _decoding(self) -> Iterator[None]:
        """Convert decoding errors to the error about a damaged store."""
        with decoding(self.address):
            try:
                yield
            except BadInput as error:  # for a value that sbert never writes
                raise damaged(self.address, str(error)) from None
