"""Checks a folder of shards: the counts, the digests, and a sample of the vectors against the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sbert.bulk.folder import Folder, folder_at
from sbert.bulk.job import EMBEDDING, Entry
from sbert.bulk.manifest import Manifest, damaged_shards, read_manifest
from sbert.bulk.shard import load_model, options_of
from sbert.errors import BadInput, counted
from sbert.models.encoding import encode_counted
from sbert.models.fingerprint import fingerprint
from sbert.types import Array

if TYPE_CHECKING:
    import pyarrow as pa

_ROUNDING = 1e-5


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of checking a folder of shards."""

    shards: int
    rows: int
    compared: int
    """Number of vectors that were compared with the model."""
    equal: int
    """Number of compared vectors that are equal bit for bit."""
    difference: float
    """The largest difference between two values."""
    problems: tuple[str, ...]
    """A sentence about each problem."""


def verify_shards(out: str | Path, sample: int = 100, seed: int = 0, device: str | None = None) -> Verified:
    """Check a complete job, and embed a random sample of its texts again.

    Args:
        out: The folder that :func:`embed_files` wrote.
        sample: Number of rows to embed again.
        seed: Random seed of the sample.
        device: Device of torch to run the model on.
    """
    folder = folder_at(str(out))
    manifest = complete_manifest(folder)
    problems = tuple(_problems(folder, manifest))
    if problems:
        return Verified(len(manifest.shards), manifest.rows, 0, 0, 0.0, problems)
    texts, vectors = _sampled(folder, manifest, sample, seed)
    again = _embedded_again(manifest, texts, device)
    equal = int((again == vectors).all(axis=1).sum())
    difference = float(np.abs(again.astype(np.float64) - vectors.astype(np.float64)).max(initial=0.0))
    tolerated = difference <= _ROUNDING if vectors.dtype.kind == "f" else equal == len(texts)
    if not tolerated:
        other = f"{counted(len(texts) - equal, 'vector')} of {len(texts)} in a sample differ from the model's"
        problems = (f"{other} by up to {difference:.2g}; embed the input again with --force",)
    return Verified(len(manifest.shards), manifest.rows, len(texts), equal, difference, problems)


def _problems(folder: Folder, manifest: Manifest) -> Iterator[str]:
    """Yield a sentence about each shard that differs from the manifest."""
    damaged = damaged_shards(folder, manifest.shards)
    for why in damaged.values():
        yield f"{why}; run the same sbert embed to write it again"
    for entry in manifest.shards:
        if entry.shard not in damaged and (wrong := _wrong_rows(folder, entry, manifest)):
            yield f"{folder.location(entry.file)} {wrong}"
    held = sum(entry.rows for entry in manifest.shards)
    if held != manifest.rows:
        yield f"the shards hold {held:,} rows, not {manifest.rows:,}; embed the input again with --force"


def complete_manifest(folder: Folder) -> Manifest:
    """Return the manifest of a finished job."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise BadInput(f"{folder.location('')} holds no job of sbert embed; name the folder that it wrote")
    if not manifest.complete:
        done = f"{len({entry.shard for entry in folder.entries()})} shards are finished"
        raise BadInput(f"the job in {folder.location('')} is not complete ({done}); run the same sbert embed again")
    return manifest


def read_shard(folder: Folder, entry: Entry, rows: Sequence[int] | None = None) -> Iterator[tuple[pa.Table, Array]]:
    """Yield the row groups of a shard, or some rows of each, with their vectors: (N, D)."""
    import pyarrow.parquet as pq

    with folder.open(entry.file) as file:
        shard, first = pq.ParquetFile(file), 0
        for group in range(shard.num_row_groups):
            table = shard.read_row_group(group)
            here = range(first, first + len(table))
            first += len(table)
            if rows is not None:
                table = table.take([row - here.start for row in rows if row in here])
            column = table[EMBEDDING].combine_chunks()
            yield table, column.flatten().to_numpy().reshape(len(table), -1)


def _wrong_rows(folder: Folder, entry: Entry, manifest: Manifest) -> str:
    import pyarrow.parquet as pq

    with folder.open(entry.file) as file:
        metadata = pq.read_metadata(file)
    names = metadata.schema.to_arrow_schema().names
    columns = manifest.columns
    if names != ["id", columns.text, *columns.keep, EMBEDDING]:
        return "has other columns than the manifest says; embed the input again with --force"
    if metadata.num_rows != entry.rows:
        return f"has {metadata.num_rows:,} rows, but the manifest says {entry.rows:,}; embed the input again"
    return ""


def _sampled(folder: Folder, manifest: Manifest, sample: int, seed: int) -> tuple[list[str], Array]:
    """Return the texts and vectors of random rows."""
    chosen = np.random.default_rng(seed).choice(manifest.rows, min(sample, manifest.rows), replace=False)
    texts, parts, first = list[str](), list[Array](), 0
    for entry in manifest.shards:
        rows = np.sort(chosen[(chosen >= first) & (chosen < first + entry.rows)] - first).tolist()
        first += entry.rows
        for table, vectors in read_shard(folder, entry, rows) if rows else ():
            texts += table[manifest.columns.text].to_pylist()
            parts.append(vectors)
    return texts, np.concatenate(parts)


def _embedded_again(manifest: Manifest, texts: list[str], device: str | None) -> Array:
    model = load_model(manifest.model.name, manifest.settings, device)
    if (found := fingerprint(model, manifest.settings.precision)) != manifest.model.fingerprint:
        raise BadInput(
            f"the model {manifest.model.name or 'that is the default'} has the fingerprint {found} now, but the "
            f"vectors come from {manifest.model.fingerprint}; put that model in its place"
        )
    return encode_counted(model, texts, options_of(manifest.settings))[0]
