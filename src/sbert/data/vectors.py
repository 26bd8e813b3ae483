"""Writes files that appear whole or not at all, and vectors in three formats. Knows no model."""

from __future__ import annotations

import json
import os
import secrets
import stat
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from sbert.data.texts import Rows
from sbert.errors import BadInput, WrongUsage

if TYPE_CHECKING:
    from sbert.types import Array

STANDARD_OUTPUT = Path("-")
VECTOR_SUFFIXES = (".npy", ".parquet", ".jsonl")


def check_output(path: Path, suffixes: Collection[str]) -> None:
    """Prove, before any work, that a file can be written at ``path``."""
    if path.suffix.lower() not in suffixes:
        raise WrongUsage(f"the output {str(path)!r} must end in {', '.join(suffixes)}, but ends in {path.suffix!r}")
    target = _target(path)
    try:
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(target.stat().st_mode):
                raise BadInput(f"the output {str(path)!r} exists and is no file; name another one")
        draft = _draft(target)
        draft.touch(exist_ok=False)
        draft.unlink()
    except OSError as error:
        raise BadInput(f"cannot write {str(path)!r}: {error.strerror} ({str(target.parent)!r})") from None


def check_other(path: Path, source: str) -> None:
    """Refuse to write over what is being read."""
    if path.exists() and Path(source).exists() and path.samefile(source):
        raise BadInput(f"the output {str(path)!r} is the input, which it would replace; name another one")


@contextmanager
def whole(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes its name when the block ends, and leaves no trace where the block fails."""
    target = _target(path)
    draft = _draft(target)
    try:
        with draft.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_vectors(path: Path, rows: Rows, vectors: Array) -> None:
    """(N, D) vectors: alone as .npy, or beside the fields of their rows."""
    if path == STANDARD_OUTPUT:
        _write_jsonl(sys.stdout.buffer, rows, vectors)
        return
    with whole(path) as file:
        _WRITERS[path.suffix.lower()](file, rows, vectors)


def _target(path: Path) -> Path:
    """Where the bytes go: a link stays a link."""
    return Path(os.path.realpath(path))


def _draft(target: Path) -> Path:
    """A sibling, so that it can be renamed; its name is short, whatever the target is called."""
    return target.with_name(f".sbert-{secrets.token_hex(8)}.tmp")


def _write_npy(file: IO[bytes], rows: Rows, vectors: Array) -> None:
    import numpy as np

    np.save(file, vectors)


def _write_parquet(file: IO[bytes], rows: Rows, vectors: Array) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    embedding = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
    pq.write_table(rows.table().append_column("embedding", embedding), file)


def _write_jsonl(file: IO[bytes], rows: Rows, vectors: Array) -> None:
    for record, vector in zip(rows.records(), vectors, strict=True):
        line = json.dumps({**record, "embedding": numbers(vector)}, ensure_ascii=False, default=str)
        file.write(line.encode() + b"\n")


def numbers(values: Array) -> list[Any]:
    """As few digits as bring every number back to the bit; rows of numbers as lists of them."""
    if values.ndim > 1:
        return [numbers(row) for row in values]
    if values.dtype.kind != "f":
        return list(values.tolist())
    return [float(digits) for digits in values.astype(str)]


_WRITERS = {".npy": _write_npy, ".parquet": _write_parquet, ".jsonl": _write_jsonl}
