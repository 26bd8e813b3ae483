"""The files of an approximate index: packed vectors, keys, the index of FAISS, and what is known about it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sbert.disk.digest import file_digest
from sbert.search.index.exact import check_keys
from sbert.search.packing import Packed, StoredPrecision
from sbert.types import IntArray, Similarity

Kind = Literal["ivf-sq8", "ivf-rabitq"]
"""How FAISS compresses vectors: one byte per dimension, or about half a byte after a rotation."""

VECTORS, KEYS, INDEX, _FACTS = "vectors.bin", "keys.npy", "index.faiss", "index.json"


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """What is known about an index on the disk."""

    kind: Kind
    similarity: Similarity
    dimension: int
    precision: StoredPrecision
    rows: int
    cells: int
    probes: int = 1
    """Number of cells that a search without a filter looks into."""
    half_probes: int = 1
    """Number of cells that have to be looked into if half of the vectors, chosen at random, may be found."""
    tenth_probes: int = 1
    """Number of cells that have to be looked into if a tenth of them may be found."""
    recall: float = 0.0
    """Share of the ten nearest vectors that such a search finds, measured on a sample of the vectors."""
    generation: int = 0
    """State of the store that the index was built from or saved at."""


def cell_count(rows: int) -> int:
    """Return the number of cells: the power of two nearest to four times the square root of the number of rows.

    >>> cell_count(1_000_000), cell_count(50_000), cell_count(1)
    (4096, 1024, 1)
    """
    return int(2 ** round(math.log2(min(rows, 4 * math.sqrt(rows)))))


def append_rows(folder: Path, keys: IntArray, blocks: Iterable[tuple[IntArray, Packed]]) -> IntArray:
    """Append packed vectors to the file of vectors, and write and return all keys."""
    found = [keys]
    with (folder / VECTORS).open("ab") as file:
        for new, rows in blocks:
            check_keys(found[-1], new)
            found.append(new)
            file.write(rows.tobytes())
    keys = np.concatenate(found)
    np.save(folder / KEYS, keys)
    return keys


def write_facts(folder: Path, facts: IndexFacts) -> None:
    """Write what is known about the index, with the digests of the other files."""
    digests = {name: file_digest(folder / name) for name in (VECTORS, KEYS, INDEX)}
    (folder / _FACTS).write_text(json.dumps({"facts": asdict(facts), "digests": digests}, indent=2), encoding="utf-8")


def read_facts(folder: Path) -> tuple[IndexFacts, IntArray]:
    """Read what is known about the index, and the keys. Raises ValueError if a file is not the one that was written.

    The vectors are not read; see :func:`vectors_are_intact`.
    """
    stored = _stored(folder)
    if stored["facts"].keys() != {field.name for field in fields(IndexFacts)}:
        raise ValueError("it was written by another version")
    if any(file_digest(folder / name) != stored["digests"][name] for name in (KEYS, INDEX)):
        raise ValueError("a digest differs")
    keys: IntArray = np.load(folder / KEYS, allow_pickle=False)
    return IndexFacts(**stored["facts"]), keys


def vectors_are_intact(folder: Path) -> bool:
    """Return whether the file of vectors is the one that was written."""
    return bool(file_digest(folder / VECTORS) == _stored(folder)["digests"][VECTORS])


def _stored(folder: Path) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads((folder / _FACTS).read_text(encoding="utf-8"))
    return stored
