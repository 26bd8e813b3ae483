"""Five ways to keep a million vectors and to find the nearest ones, with one interface: what index.py compares.

``effort`` is the setting by which each trades speed for recall; sbert chooses its own when an index is built.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import numpy as np

from sbert.search.filters import Condition
from sbert.search.store import Document, StoreFacts
from sbert.search.store.sqlite import SqliteStore

K = 10


class VectorStore(Protocol):
    """Vectors by their row numbers."""

    lasting: bool
    """Whether every change is on the disk when the call returns."""

    def build(self, corpus: np.ndarray) -> None: ...
    def search(self, query: np.ndarray, effort: int) -> np.ndarray: ...
    def add(self, rows: np.ndarray, vectors: np.ndarray) -> None: ...
    def delete(self, rows: np.ndarray) -> None: ...
    def bytes_on_disk(self) -> int: ...


class Sbert:
    """The store of sbert: rows in SQLite, and FAISS beside it."""

    lasting = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        facts = StoreFacts("benchmark", "benchmark", 384, "cosine", "float32", morphemes=False)
        self.store = SqliteStore(folder / "store.db", facts)
        self.index_seconds = 0.0

    def build(self, corpus: np.ndarray) -> None:
        for start, block in _blocks(corpus, 4096):
            self.add(np.arange(start, start + len(block)), block)
        began = time.perf_counter()
        self.store.save_index()
        self.index_seconds = time.perf_counter() - began

    def search(self, query: np.ndarray, effort: int = 0, condition: Condition | None = None) -> np.ndarray:
        return self.store.nearest(query[None], K, condition).keys[0] - 1

    def add(self, rows: np.ndarray, vectors: np.ndarray) -> None:
        numbered = zip(rows.tolist(), vectors, strict=True)
        self.store.put([Document(row, f"row {row}", {"part": row % 100}, vector) for row, vector in numbered])

    def delete(self, rows: np.ndarray) -> None:
        self.store.delete(rows.tolist())

    def bytes_on_disk(self) -> int:
        return _size(self.folder)


class FaissHnsw:
    """HNSW of FAISS, which is in memory and cannot delete."""

    lasting = False

    def __init__(self, _: Path) -> None:
        import faiss

        self._parameters = faiss.SearchParametersHNSW
        self._index = faiss.IndexHNSWFlat(384, 32, faiss.METRIC_INNER_PRODUCT)
        self._index.hnsw.efConstruction = 80

    def build(self, corpus: np.ndarray) -> None:
        self._index.add(corpus)

    def search(self, query: np.ndarray, effort: int) -> np.ndarray:
        return self._index.search(query[None], K, params=self._parameters(efSearch=effort))[1][0]

    def add(self, rows: np.ndarray, vectors: np.ndarray) -> None:
        self._index.add(vectors)

    def delete(self, rows: np.ndarray) -> None:
        raise NotImplementedError

    def bytes_on_disk(self) -> int:
        return self._index.ntotal * 4 * (384 + 64)


class Usearch:
    """HNSW of usearch, in memory."""

    lasting = False

    def __init__(self, _: Path) -> None:
        from usearch.index import Index

        self._index = Index(ndim=384, metric="ip", dtype="f32", connectivity=16, expansion_add=80)

    def build(self, corpus: np.ndarray) -> None:
        self.add(np.arange(len(corpus)), corpus)

    def search(self, query: np.ndarray, effort: int) -> np.ndarray:
        self._index.expansion_search = effort
        return np.asarray(self._index.search(query, K).keys, np.int64)

    def add(self, rows: np.ndarray, vectors: np.ndarray) -> None:
        self._index.add(rows, vectors)

    def delete(self, rows: np.ndarray) -> None:
        self._index.remove(rows)

    def bytes_on_disk(self) -> int:
        return int(self._index.serialized_length)


class LanceDb:
    """LanceDB with the index that its documentation recommends for recall, and exact re-scoring of its candidates."""

    lasting = True

    def __init__(self, folder: Path) -> None:
        import lancedb

        self._folder = folder
        self._database = lancedb.connect(folder)

    def build(self, corpus: np.ndarray) -> None:
        import pyarrow as pa

        tables = (self._table(np.arange(start, start + len(block)), block) for start, block in _blocks(corpus, 65_536))
        first = next(tables)
        batches = (batch for table in (first, *tables) for batch in table.to_batches())
        reader = pa.RecordBatchReader.from_batches(first.schema, batches)
        self._rows = self._database.create_table("rows", reader)
        self._rows.create_index(metric="dot", vector_column_name="vector", index_type="IVF_HNSW_SQ")

    def search(self, query: np.ndarray, effort: int) -> np.ndarray:
        found = self._rows.search(query, vector_column_name="vector").distance_type("dot").limit(K)
        tuned = found.nprobes(max(1, effort // 16)).ef(max(effort, 2 * K)).refine_factor(2)
        return tuned.select(["id", "_distance"]).to_arrow()["id"].to_numpy()

    def add(self, rows: np.ndarray, vectors: np.ndarray) -> None:
        self._rows.add(self._table(rows, vectors))

    def delete(self, rows: np.ndarray) -> None:
        self._rows.delete(f"id IN ({', '.join(map(str, rows.tolist()))})")

    def bytes_on_disk(self) -> int:
        return _size(self._folder)

    @staticmethod
    def _table(rows: np.ndarray, vectors: np.ndarray):
        import pyarrow as pa

        return pa.table({"id": rows, "vector": pa.FixedSizeListArray.from_arrays(vectors.ravel(), 384)})


class Chroma:
    """Chroma with its default construction settings."""

    lasting = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._client = self._open()
        configuration = {"hnsw": {"space": "ip"}}
        self._rows = self._client.create_collection("rows", configuration=configuration, embedding_function=None)
        self._effort = 0

    def _open(self):
        import chromadb

        return chromadb.PersistentClient(str(self._folder), chromadb.Settings(anonymized_telemetry=False))

    def build(self, corpus: np.ndarray) -> None:
        for start, block in _blocks(corpus, 5000):
            self.add(np.arange(start, start + len(block)), block)

    def search(self, query: np.ndarray, effort: int) -> np.ndarray:
        if effort != self._effort:
            self._set_effort(effort)
        found = self._rows.query(query_embeddings=[query], n_results=K, include=[])
        return np.array(found["ids"][0], np.int64)

    def _set_effort(self, effort: int) -> None:
        """Set ``ef_search`` and open the database again: an open collection keeps the value it was loaded with."""
        from chromadb.api.shared_system_client import SharedSystemClient

        self._rows.modify(configuration={"hnsw": {"ef_search": effort}})
        self._client._system.stop()
        SharedSystemClient.clear_system_cache()
        self._client = self._open()
        self._rows = self._client.get_collection("rows", embedding_function=None)
        self._effort = effort

    def add(self, rows: np.ndarray, vectors: np.ndarray) -> None:
        self._rows.add(ids=[str(row) for row in rows], embeddings=vectors)

    def delete(self, rows: np.ndarray) -> None:
        self._rows.delete(ids=[str(row) for row in rows])

    def bytes_on_disk(self) -> int:
        return _size(self._folder)


OTHERS: dict[str, tuple[str, Callable[[Path], VectorStore]]] = {
    "FAISS HNSW": ("faiss", FaissHnsw),
    "usearch": ("usearch", Usearch),
    "LanceDB": ("lancedb", LanceDb),
    "Chroma": ("chromadb", Chroma),
}
"""Name -> the package that it needs, and how it is made."""


def _blocks(corpus: np.ndarray, size: int) -> Iterator[tuple[int, np.ndarray]]:
    return ((start, corpus[start : start + size]) for start in range(0, len(corpus), size))


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
