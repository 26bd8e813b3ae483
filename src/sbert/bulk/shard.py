"""Embeds one shard and writes it. The same rows, model and settings give the same bytes in every process."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sbert.bulk.cache import VectorCache
from sbert.bulk.folder import Folder, folder_at
from sbert.bulk.job import EMBEDDING, Entry, Job, Settings, Shard
from sbert.bulk.rows import Reader
from sbert.data import parquet
from sbert.data.formats import Record
from sbert.disk.machine import release_memory
from sbert.errors import BadInput, TextTooLong
from sbert.models.bi import BiEncoder
from sbert.models.encoding import encode_counted
from sbert.models.fingerprint import fingerprint
from sbert.nn.processes import ReportProgress
from sbert.text import Truncation
from sbert.types import Array, EncodeOptions

if TYPE_CHECKING:
    import pyarrow as pa

TEXTS_AT_ONCE = 4096
_CHARACTERS_AT_ONCE = 1 << 22
_ROWS_PER_GROUP = 65_536
_METADATA = b"sbert"


class Step(NamedTuple):
    """A part of a shard that was embedded."""

    shard: int
    characters: int
    """Number of characters of the rows embedded so far."""


class ShardWriter:
    """Embeds shards of a job with a model that is loaded once."""

    def __init__(self, job: Job, model: BiEncoder | None = None) -> None:
        import pyarrow as pa

        self.job, self.model = job, model or loaded(job)
        self._folder: Folder = folder_at(job.out)
        self._types = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(job.types)))
        self._reader = Reader(job.inputs, job.columns)
        self._options = options_of(job.settings, job.running.batch_tokens)
        self._cache = VectorCache.of_job(job) if job.running.dedupe else None

    def __call__(self, shard: Shard, report: ReportProgress) -> Entry:
        """Read, embed and write a shard."""
        records = list(self._reader.rows(shard))
        texts = [record[self.job.columns.text] for record in records]
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        vectors, counted = self._embedded(list(places), shard, report)
        taken = vectors[[places[text] for text in texts]]  # (N, D)
        self._write(shard.file, records, taken)
        release_memory()
        report(Step(shard.number, shard.characters))
        return Entry(
            shard=shard.number,
            file=shard.file,
            rows=len(records),
            texts=counted.texts,
            tokens=counted.tokens,
            truncated=counted.truncated,
            lost=counted.lost,
            longest=counted.longest,
            exact=counted.exact,
            bytes=self._folder.size(shard.file),
            digest=self._folder.digest(shard.file),
        )

    def _embedded(self, texts: list[str], shard: Shard, report: ReportProgress) -> tuple[Array, Truncation]:
        """Embed distinct texts: (U, D)."""
        parts, counts, done = list[Array](), list[Truncation](), 0
        whole = sum(map(len, texts)) or 1
        for window in _windows(texts):
            vectors, counted = self._window(window)
            parts.append(vectors)
            counts.append(counted)
            done += sum(map(len, window))
            report(Step(shard.number, shard.characters * done // whole))
        return np.concatenate(parts), Truncation.total(counts)

    def _window(self, texts: list[str]) -> tuple[Array, Truncation]:
        try:
            if self._cache is not None:
                return self._cache.encode(self.model, texts, self._options)
            return encode_counted(self.model, texts, self._options)
        except TextTooLong as error:
            raise TextTooLong(f"{error}, and start over with --force") from None

    def _write(self, name: str, records: Sequence[Record], vectors: Array) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        others = self._types.names
        table = parquet.table(records, self._types)
        column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
        table = table.append_column(EMBEDDING, column).replace_schema_metadata({_METADATA: self._signature()})
        compression = {**dict.fromkeys(_leaves(table.schema), "zstd"), f"{EMBEDDING}.list.element": "none"}
        with self._folder.write(name) as file:
            pq.write_table(
                table,
                file,
                row_group_size=_ROWS_PER_GROUP,
                compression=compression,
                use_dictionary=_leaves(self._types),
                write_statistics=[leaf for leaf in _leaves(self._types) if leaf in others],
            )

    def _signature(self) -> bytes:
        return f"{self.job.model.fingerprint} {self.job.settings.precision}".encode()


def loaded(job: Job) -> BiEncoder:
    """Load the model of a job, and check that it is the one that the job began with."""
    model = load_model(job.model.name, job.settings, job.running.device)
    if (found := fingerprint(model, job.settings.precision)) != job.model.fingerprint:
        raise BadInput(
            f"the model {job.model.name or 'that is the default'} has the fingerprint {found} in a worker, but "
            f"{job.model.fingerprint} in the job; give every machine the same model"
        )
    return model


def load_model(name: str | None, settings: Settings, device: str | None) -> BiEncoder:
    """Load a model, and apply the settings to it."""
    return BiEncoder.from_pretrained(name, device=device, max_seq_length=settings.max_seq_length)


def options_of(settings: Settings, batch_tokens: int = 2048) -> EncodeOptions:
    """Return the options of ``encode`` for settings. Truncation is counted, and reported at the end."""
    return EncodeOptions(
        prompt_name=settings.prompt_name,
        prompt=settings.prompt,
        normalize_embeddings=settings.normalize_embeddings,
        truncate_dim=settings.truncate_dim,
        precision=settings.precision,
        batch_tokens=batch_tokens,
        on_truncate="ignore" if settings.on_truncate == "warn" else settings.on_truncate,
    )


def _windows(texts: list[str]) -> Iterator[list[str]]:
    """Divide texts into parts with a limited number of texts and characters."""
    rest, window, characters = iter(texts), list[str](), 0
    for text in rest:
        window.append(text)
        characters += len(text)
        if len(window) == TEXTS_AT_ONCE or characters > _CHARACTERS_AT_ONCE:
            yield window
            window, characters = [], 0
    if window:
        yield window


def _leaves(types: pa.Schema) -> list[str]:
    """Return the parquet paths of all columns, including the parts of nested columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(types.empty_table(), sink)
    schema = pq.ParquetFile(pa.BufferReader(sink.getvalue())).schema
    return [schema.column(place).path for place in range(len(schema))]
