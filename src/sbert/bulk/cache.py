"""Keeps the vectors of texts on the disk while a job runs, so that a text in several shards is embedded only once."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

import numpy as np

from sbert.bulk.job import Job
from sbert.disk.digest import digest
from sbert.errors import NotWritten
from sbert.models.bi import BiEncoder
from sbert.models.encoding import encode_counted
from sbert.models.prompts import choose_prompt
from sbert.text import Truncation
from sbert.types import Array, EncodeOptions

NAME = ".vectors.db"
_WAIT_SECONDS = 120.0
_AT_ONCE = 500
_CHECK_SIZE = 8


class VectorCache:
    """Finished vectors by the hash of their text. Several processes may use it at the same time.

    Losing the cache costs only time, so a damaged file is replaced by an empty one, and a vector that is damaged or
    belongs to another job counts as missing. Two workers that encounter the same text at the same time both embed it,
    with the same result.

    Args:
        path: The file.
        job: Identifies everything beside the texts on which the vectors depend.
    """

    def __init__(self, path: Path, job: str) -> None:
        self._path, self._job = path, job.encode()
        try:
            self._create()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise self._not_written(error) from None
            remove_cache(path.parent)
            self._create()

    @classmethod
    def of_job(cls, job: Job) -> VectorCache:
        """Return the cache of a job, in its output folder."""
        return cls(Path(job.out) / NAME, digest([job.model.fingerprint, job.settings]))

    def encode(self, model: BiEncoder, texts: list[str], options: EncodeOptions) -> tuple[Array, Truncation]:
        """Embed the texts without a cached vector, and count the tokens of all texts."""
        hashes = [hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts]
        known = self._read(hashes)
        missing = [text for text, name in zip(texts, hashes, strict=True) if name not in known]
        vectors, counted = encode_counted(model, missing, options)
        if len(missing) == len(texts):
            self._write(hashes, vectors)
            return vectors, counted
        new = [name for name in hashes if name not in known]
        self._write(new, vectors)
        known.update((name, vector.tobytes()) for name, vector in zip(new, vectors, strict=True))
        whole = np.frombuffer(b"".join(known[name] for name in hashes), vectors.dtype)
        return whole.reshape(len(texts), -1), _counted(model, texts, options)

    def _create(self) -> None:
        with closing(self._connected()) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS vectors (hash BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    def _read(self, hashes: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the vectors that are there and whole."""
        found: dict[bytes, bytes] = {}
        with suppress(sqlite3.DatabaseError), closing(self._connected()) as connection:
            for start in range(0, len(hashes), _AT_ONCE):
                part = hashes[start : start + _AT_ONCE]
                marks = ", ".join("?" * len(part))
                found.update(connection.execute(f"SELECT hash, vector FROM vectors WHERE hash IN ({marks})", part))
        parts = ((name, kept[:-_CHECK_SIZE], kept[-_CHECK_SIZE:]) for name, kept in found.items())
        return {name: vector for name, vector, check in parts if check == self._check(name, vector)}

    def _write(self, hashes: Sequence[bytes], vectors: Array) -> None:
        pairs = ((name, vector.tobytes()) for name, vector in zip(hashes, vectors, strict=True))
        rows = ((name, vector + self._check(name, vector)) for name, vector in pairs)
        try:
            with closing(self._connected()) as connection, connection:
                connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        except sqlite3.DatabaseError as error:
            raise self._not_written(error) from None

    def _check(self, name: bytes, vector: bytes) -> bytes:
        return hashlib.blake2b(name + vector, digest_size=_CHECK_SIZE, key=self._job).digest()

    def _not_written(self, error: sqlite3.Error) -> NotWritten:
        return NotWritten(
            f"{self._path} could not be written ({error}); the finished shards are intact: make room, or run the "
            "same command without --dedupe"
        )

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=_WAIT_SECONDS)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection


def remove_cache(folder: Path) -> None:
    """Remove the cache of a job."""
    for suffix in ("", "-wal", "-shm"):
        with suppress(OSError):
            (folder / f"{NAME}{suffix}").unlink()


def _counted(model: BiEncoder, texts: list[str], options: EncodeOptions) -> Truncation:
    prompt = choose_prompt(
        model.prompts, options.get("prompt_name") or model.default_prompt_name, options.get("prompt")
    )
    return model.tokenizer(texts, prompt, windows=options.get("on_truncate") == "chunk").truncation
