"""An index of millions of vectors: FAISS proposes candidates, and the stored vectors decide. Works on arrays only.

The vectors are in a file that is mapped into memory. FAISS keeps a compressed copy of each vector in one of many cells
and probes only the cells nearest to a query. Its candidates are scored again, with the mapped vectors and the code of
the exact search, so that a vector has the same score in every kind of index. Vectors that are added later are searched
exactly until the index is saved. Removed vectors stay in the files, but are never found.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args

import numpy as np
import numpy.typing as npt

from sbert.disk.files import whole_folder
from sbert.disk.progress import Progress
from sbert.errors import BadModel, check_option, shown
from sbert.search.index.exact import ExactIndex, best_of, check_keys, search_rows
from sbert.search.index.folder import INDEX, VECTORS, IndexFacts, append_rows, read_facts, write_facts
from sbert.search.index.index import Neighbours, merged
from sbert.search.index.kinds import Kind, cell_count, default_kind, load_faiss, train, untrained
from sbert.search.index.recall import share_found, smallest
from sbert.search.packing import Checksums, Packed, Packing, checksums, content
from sbert.types import FloatArray, IntArray, Similarity

BoolArray = npt.NDArray[np.bool_]
EXACT_ROWS = 20_000
"""Maximum number of allowed vectors for comparing all of them."""
RECALL = 0.98
"""Recall of the ten nearest vectors for which the number of probed cells is chosen."""
_NEARLY_ALL = 0.9
_SAMPLE, _NEIGHBOURS = 256, 10
_MOST_CANDIDATES = 64
_TRAINING_ROWS_PER_CELL = 64
_BLOCK = 65_536
_QUERIES = 64  # number of queries whose candidates are scored at a time


class _Sample(NamedTuple):
    """Rows that are used as queries, a mask of the allowed rows, and the true neighbours among these."""

    rows: IntArray
    mask: BoolArray | None
    truth: Neighbours


class FaissIndex:
    """An approximate index in a folder. :meth:`build` creates one, and :meth:`open` reads one."""

    def __init__(
        self, folder: Path, facts: IndexFacts, keys: IntArray, sums: Checksums, index: Any, show_progress: bool = False
    ) -> None:
        self.facts, self._show_progress = facts, show_progress
        self.packing = Packing(facts.dimension, facts.precision)
        self._folder, self._keys, self._sums, self._index = folder, keys, sums, index
        self._rows: Packed = np.memmap(folder / VECTORS, np.uint8, "r").reshape(-1, self.packing.row_bytes)
        self._alive = np.ones(len(keys), np.bool_)
        self._hidden = False
        self._tail = ExactIndex(facts.dimension, facts.similarity)

    def __len__(self) -> int:
        return int(self._alive.sum()) + len(self._tail)

    @property
    def last_key(self) -> int:
        """The largest key among the vectors on the disk."""
        return int(self._keys[-1])

    @property
    def unsaved(self) -> int:
        """Number of vectors that were added since the index was built, opened or saved."""
        return len(self._tail)

    @classmethod
    def build(
        cls,
        folder: Path,
        packing: Packing,
        blocks: Iterable[tuple[IntArray, Packed]],
        similarity: Similarity = "cosine",
        kind: Kind | None = None,
        generation: int = 0,
        show_progress_bar: bool = False,
    ) -> FaissIndex:
        """Build an index in a folder, and replace an existing one.

        Args:
            folder: The folder of the index, which appears completely or not at all.
            packing: The packing of the vectors.
            blocks: Keys and packed vectors, in ascending order of the keys. At least one vector is needed.
            similarity: "cosine", "dot" or "euclidean".
            kind: The compression. Defaults to a choice by the number of dimensions.
            generation: A number to store with the index.
            show_progress_bar: Whether to show a progress bar.
        """
        check_option("similarity", similarity, ["cosine", "dot", "euclidean"])
        with whole_folder(folder) as new:
            keys, sums = append_rows(new, np.empty(0, np.int64), np.empty(0, np.uint64), blocks)
            if not len(keys):
                raise BadModel(f"there are no rows for the index in {folder}; run sbert store check")
            kind = kind or default_kind(packing.dimension)
            check_option("kind", kind, get_args(Kind))
            sizes = packing.dimension, packing.precision, len(keys), cell_count(len(keys))
            facts = IndexFacts(kind, similarity, *sizes, generation=generation)
            index = cls(new, facts, keys, sums, None, show_progress_bar)
            index._train()
            index._insert(0)
            index._measure()
            index._write(new)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> FaissIndex:
        """Read an index. Raises BadModel if it is incomplete or damaged."""
        faiss = load_faiss()
        try:
            facts, keys, sums = read_facts(folder)
            index = cls(folder, facts, keys, sums, faiss.read_index(str(folder / INDEX)))
        except (OSError, EOFError, KeyError, ValueError, TypeError, RuntimeError) as error:
            raise BadModel(f"the index in {folder} cannot be read ({shown(str(error))}); build it again") from None
        if not 0 < len(keys) == len(sums) == len(index._rows) == facts.rows:
            raise BadModel(f"the index in {folder} is damaged; build it again")
        return index

    def is_intact(self) -> bool:
        """Return whether all vectors on the disk are unchanged, which opening does not check."""
        parts = (slice(begin, begin + _BLOCK) for begin in range(0, self.facts.rows, _BLOCK))
        return all((checksums(self._rows[part]) == self._sums[part]).all() for part in parts)

    def content(self) -> int:
        """Return a checksum of the keys and vectors on the disk, without removed ones."""
        return content(self._keys[self._alive], self._sums[self._alive])

    def add(self, keys: IntArray, vectors: FloatArray) -> None:
        """Add vectors whose keys are larger than all existing keys."""
        check_keys(self._keys, keys)
        self._tail.add(keys, self.packing.unpack(self.packing.pack(vectors)))

    def remove(self, keys: IntArray) -> None:
        """Hide the vectors with these keys. They are deleted from the disk when the index is rebuilt."""
        self._alive[self._places(keys)] = False
        self._hidden = not self._alive.all()
        self._tail.remove(keys)

    def save(self, folder: Path) -> None:
        """Write the index, including added vectors. Removed vectors must be removed again after opening."""
        with whole_folder(folder) as new:
            shutil.copyfile(self._folder / VECTORS, new / VECTORS)
            keys, vectors = self._tail.rows()
            keys, sums = append_rows(new, self._keys, self._sums, [(keys, self.packing.pack(vectors))])
            copy = load_faiss().clone_index(self._index)  # so that searches can continue
            index = FaissIndex(new, replace(self.facts, rows=len(keys)), keys, sums, copy)
            index._insert(self.facts.rows)
            index._measure()
            index._write(new)

    def search(self, vectors: FloatArray, k: int, allowed: IntArray | None = None) -> Neighbours:
        """Find the ``k`` nearest vectors of each query; see :class:`~sbert.search.index.Index`."""
        mask = self._allowed_rows(allowed)
        count = self.facts.rows if mask is None else int(mask.sum())
        if count <= max(EXACT_ROWS, 2 * k):
            rows = np.arange(self.facts.rows) if mask is None else np.flatnonzero(mask)
            found = self._compare_all(vectors, rows, k)
        else:
            found = self._probe(vectors, k, mask, count, self._probes(count / self.facts.rows))
        return merged([found, self._tail.search(vectors, k, allowed)], k) if len(self._tail) else found

    def _allowed_rows(self, allowed: IntArray | None) -> BoolArray | None:
        """Return which rows may be found, (rows,), or None if all may."""
        alive = self._alive if self._hidden else None
        if allowed is None:
            return alive
        mask = np.zeros(self.facts.rows, np.bool_)
        mask[self._places(allowed)] = True
        return mask if alive is None else mask & alive

    def _places(self, keys: IntArray) -> IntArray:
        """Return the rows in the files of those keys that the files contain."""
        places = np.minimum(np.searchsorted(self._keys, keys), self.facts.rows - 1)
        return cast(IntArray, places[self._keys[places] == keys])

    def _compare_all(self, queries: FloatArray, rows: IntArray, k: int) -> Neighbours:
        parts = [
            search_rows(queries, self._keys[some], self._vectors(some), k, self.facts.similarity)
            for some in np.split(rows, range(_BLOCK, len(rows), _BLOCK))
        ]
        return merged(parts, k)

    def _probes(self, share: float) -> int:
        """Return the number of cells to probe first if this share of the vectors is allowed."""
        if share >= _NEARLY_ALL:
            return self.facts.probes
        if share >= 0.5:
            return self.facts.half_probes
        return min(self.facts.cells, math.ceil(self.facts.tenth_probes * max(1, 0.1 / share)))

    def _probe(self, queries: FloatArray, k: int, mask: BoolArray | None, count: int, probes: int) -> Neighbours:
        """Probe cells, and then more of them, until ``k`` of the allowed vectors are found for each query."""
        cells = self.facts.cells
        while True:
            found = self._candidates(queries, k, probes, mask)
            if probes == cells or (np.count_nonzero(found >= 0, axis=1) >= k).all():
                break
            probes = min(cells, 4 * probes)
        return self._scored(queries, found, k, compared=math.ceil(count * probes / cells))

    def _scored(self, queries: FloatArray, found: IntArray, k: int, compared: int) -> Neighbours:
        """Score the candidates of each query with the stored vectors, and return the ``k`` best."""
        keys, scores = [], []
        for start in range(0, len(queries), _QUERIES):
            block = found[start : start + _QUERIES]
            rows, counts = block[block >= 0], np.count_nonzero(block >= 0, axis=1)
            some = queries[start : start + _QUERIES], self._keys[rows], self._vectors(rows)
            for own_keys, own_scores in best_of(*some, counts, k, self.facts.similarity):
                keys.append(own_keys)
                scores.append(own_scores)
        return Neighbours(keys, scores, exact=False, compared=compared)

    def _candidates(self, queries: FloatArray, k: int, probes: int, mask: BoolArray | None) -> IntArray:
        """Return the rows that FAISS proposes, more than ``k``, -1 where it finds fewer: (Q, D) -> (Q, n)."""
        faiss = load_faiss()
        selector = None if mask is None else faiss.IDSelectorBitmap(np.packbits(mask, bitorder="little"))
        parameters = faiss.SearchParametersIVF(sel=selector, nprobe=probes)
        if isinstance(faiss.downcast_index(self._index), faiss.IndexPreTransform):
            parameters = faiss.SearchParametersPreTransform(index_params=parameters)
        wanted = self.facts.candidates * k + 16
        return cast(IntArray, self._index.search(self._ready(queries), wanted, params=parameters)[1])

    def _ready(self, vectors: FloatArray) -> FloatArray:
        """Return vectors in the form that FAISS compares: of unit length for "cosine"."""
        if self.facts.similarity == "cosine":
            norms = np.linalg.norm(vectors, axis=1, keepdims=True)
            vectors = vectors / np.where(norms > 0, norms, 1)
        return np.ascontiguousarray(vectors, np.float32)

    def _vectors(self, rows: IntArray) -> FloatArray:
        packed = self._rows[rows]
        if (checksums(packed) != self._sums[rows]).any():
            raise BadModel(f"the vectors in {self._folder} are damaged; build the index again")
        return self.packing.unpack(packed)

    def _train(self) -> None:
        cells, rows = self.facts.cells, self.facts.rows
        self._index = untrained(self.facts.kind, self.facts.dimension, cells, self.facts.similarity)
        wanted = min(rows, _TRAINING_ROWS_PER_CELL * cells)
        sample = np.random.default_rng(0).choice(rows, wanted, replace=False)
        train(self._index, self._ready(self._vectors(np.sort(sample))), self._show_progress)

    def _insert(self, start: int) -> None:
        """Add the rows from ``start`` on to FAISS."""
        with Progress(self.facts.rows - start, "vectors indexed", self._show_progress) as progress:
            for begin in range(start, self.facts.rows, _BLOCK):
                rows = np.arange(begin, min(self.facts.rows, begin + _BLOCK))
                self._index.add(self._ready(self._vectors(rows)))
                progress.add(len(rows))

    def _measure(self) -> None:
        """Choose the numbers of candidates and of cells to probe by the recall on a sample of the vectors."""
        random = np.random.default_rng(2).random(self.facts.rows)
        everything, half, tenth = (self._sampled(mask) for mask in (None, random < 0.5, random < 0.1))
        # Under a filter the neighbours are farther away, and more vectors are compressed to about their distance.
        while self.facts.candidates < _MOST_CANDIDATES and any(
            self._recall(sample, self.facts.cells) < RECALL for sample in (everything, tenth)
        ):
            self.facts = replace(self.facts, candidates=2 * self.facts.candidates)
        probes, recall = self._fewest_probes(1, everything)
        half_probes, _ = self._fewest_probes(probes, half)
        tenth_probes, _ = self._fewest_probes(half_probes, tenth)
        self.facts = replace(
            self.facts, probes=probes, half_probes=half_probes, tenth_probes=tenth_probes, recall=recall
        )

    def _fewest_probes(self, least: int, sample: _Sample) -> tuple[int, float]:
        """Return approximately the smallest number of cells that reaches the recall, and its recall."""
        return smallest(lambda probes: self._recall(sample, probes), RECALL, least, self.facts.cells)

    def measured_recall(self) -> float:
        """Return the recall of a search, measured on a sample of the vectors."""
        return self._recall(self._sampled(None), self.facts.probes)

    def _sampled(self, mask: BoolArray | None) -> _Sample:
        rows = np.arange(self.facts.rows)
        sample = np.sort(np.random.default_rng(1).choice(rows, min(_SAMPLE, len(rows)), replace=False))
        allowed = rows if mask is None else np.flatnonzero(mask)
        return _Sample(sample, mask, self._compare_all(self._vectors(sample), allowed, _NEIGHBOURS + 1))

    def _recall(self, sample: _Sample, probes: int) -> float:
        queries, k = self._vectors(sample.rows), _NEIGHBOURS + 1
        found = self._scored(queries, self._candidates(queries, k, probes, sample.mask), k, compared=0)
        return share_found(found, sample.truth, self._keys[sample.rows])

    def _write(self, folder: Path) -> None:
        load_faiss().write_index(self._index, str(folder / INDEX))
        write_facts(folder, self.facts)
