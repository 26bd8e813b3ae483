"""The files of an approximate index: packed vectors, keys, checksums, the index of FAISS, and its facts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from sbert.disk.digest import digest, file_digest
from sbert.search.index.exact import check_keys
from sbert.search.index.kinds import Kind
from sbert.search.packing import Checksums, Packed, StoredPrecision, checksums
from sbert.types import IntArray, Similarity

VECTORS, KEYS, INDEX = "vectors.bin", "keys.npy", "index.faiss"
_CHECKSUMS, _FACTS = "checksums.npy", "index.json"


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """The facts about an index on the disk."""

    kind: Kind
    similarity: Similarity
    dimension: int
    precision: StoredPrecision
    rows: int
    cells: int
    probes: int = 1
    """Number of cells that a search without a filter probes."""
    half_probes: int = 1
    """Number of cells to probe if a random half of the vectors is allowed."""
    tenth_probes: int = 1
    """Number of cells to probe if a random tenth of the vectors is allowed."""
    candidates: int = 4
    """Number of vectors to score again for each requested neighbour."""
    recall: float = 0.0
    """Share of the ten nearest vectors that such a search finds, measured on a sample of the vectors."""
    generation: int = 0
    """The generation of the store from which the index was built."""


def append_rows(
    folder: Path, keys: IntArray, sums: Checksums, blocks: Iterable[tuple[IntArray, Packed]]
) -> tuple[IntArray, Checksums]:
    """Append packed vectors to the file of vectors, then write and return all keys and checksums."""
    found, all_sums = [keys], [sums]
    with (folder / VECTORS).open("ab") as file:
        for new, rows in blocks:
            check_keys(found[-1], new)
            found.append(new)
            all_sums.append(checksums(rows))
            file.write(rows.tobytes())
    keys, sums = np.concatenate(found), np.concatenate(all_sums)
    np.save(folder / KEYS, keys)
    np.save(folder / _CHECKSUMS, sums)
    return keys, sums


def write_facts(folder: Path, facts: IndexFacts) -> None:
    """Write the facts about the index, with their digest and those of the files that are read completely."""
    known = asdict(facts)
    digests = {name: file_digest(folder / name) for name in (KEYS, _CHECKSUMS, INDEX)}
    stored = {"facts": known, "digests": digests | {_FACTS: digest(known)}}
    (folder / _FACTS).write_text(json.dumps(stored, indent=2), encoding="utf-8")


def read_facts(folder: Path) -> tuple[IndexFacts, IntArray, Checksums]:
    """Read the facts about the index, the keys and the checksums.

    Raises ValueError if a file has changed. The vectors are not read: their checksums are compared
    whenever some of them are.
    """
    stored: dict[str, Any] = json.loads((folder / _FACTS).read_text(encoding="utf-8"))
    if stored["facts"].keys() != {field.name for field in fields(IndexFacts)}:
        raise ValueError("it was written by another version")
    found = {name: file_digest(folder / name) for name in (KEYS, _CHECKSUMS, INDEX)}
    if any(stored["digests"][name] != value for name, value in (found | {_FACTS: digest(stored["facts"])}).items()):
        raise ValueError("a digest differs")
    keys: IntArray = np.load(folder / KEYS, allow_pickle=False)
    sums: Checksums = np.load(folder / _CHECKSUMS, allow_pickle=False)
    return IndexFacts(**stored["facts"]), keys, sums
