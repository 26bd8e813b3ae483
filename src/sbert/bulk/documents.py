"""Reads the shards of a finished job as documents with vectors, for a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from sbert.bulk.folder import Folder, folder_at
from sbert.bulk.job import ID
from sbert.bulk.manifest import MANIFEST, Manifest, damaged_shards
from sbert.bulk.verify import complete_manifest, read_shard
from sbert.errors import BadInput, shown
from sbert.models.bi import BiEncoder
from sbert.search.store import Document, Store
from sbert.search.store.document import content_hash

_PRECISIONS = ("float32", "float16")
_COMPARED = 16
_WINDOW = 1024


def is_finished_job(location: str) -> bool:
    """Return whether a location is a folder that ``sbert embed`` wrote."""
    return (Path(location) / MANIFEST).is_file()


class ShardDocuments:
    """The rows of a finished job: texts, ids, the kept fields, and vectors.

    Args:
        location: The folder.
        metadata: The kept fields to take. Defaults to all.
    """

    def __init__(self, location: str, metadata: Sequence[str] | None = None) -> None:
        self._folder: Folder = folder_at(location)
        self.manifest: Manifest = complete_manifest(self._folder)
        self._location, precision = location, self.manifest.settings.precision
        if precision not in _PRECISIONS:
            raise BadInput(
                f"the vectors of {location} have the precision {precision}, but a store needs float32 or float16; "
                "embed the input again with one of them"
            )
        kept = self.manifest.columns.keep
        if unknown := next((name for name in metadata or () if name not in kept), None):
            raise BadInput(
                f"{location} has no field {shown(unknown)}; its kept fields are {', '.join(kept) or 'none'}"
            )
        self._metadata = kept if metadata is None else tuple(metadata)

    def __len__(self) -> int:
        return self.manifest.rows

    def __iter__(self) -> Iterator[Document]:
        """Yield all documents. A text without an id is identified by its content."""
        columns = self.manifest.columns
        for entry in self.manifest.shards:
            for why in damaged_shards(self._folder, [entry]).values():
                raise BadInput(f"{why}; the same sbert embed writes it again")
            for table, vectors in read_shard(self._folder, entry):
                records = table.select([ID, columns.text, *self._metadata]).to_pylist()
                for record, vector in zip(records, vectors, strict=True):
                    text = record[columns.text]
                    name = content_hash(text).hex() if columns.id is None else record[ID]
                    yield Document(
                        name, text, {field: record[field] for field in self._metadata}, vector.astype(np.float32)
                    )

    def new_to(self, store: Store) -> Iterator[Document]:
        """Yield all documents, without a vector if the store has already embedded the text."""
        documents = iter(self)
        while window := list(islice(documents, _WINDOW)):
            known = store.known([document.id for document in window])
            for document in window:
                there = known.get(document.id)
                same = there is not None and there.hash == content_hash(document.text)
                yield replace(document, vector=None) if same else document

    def check_model(self, name: str | None, device: str | None) -> None:
        """Raise BadInput if the vectors are not those that a model computes for documents of a store."""
        first = list(islice(self, _COMPARED))
        model = BiEncoder.from_pretrained(name, device=device)
        expected = model.encode_document([document.text for document in first], on_truncate="ignore")
        tolerance = 1e-5 if self.manifest.settings.precision == "float32" else 2e-3
        found = np.stack([document.vector for document in first if document.vector is not None])
        if expected.shape != found.shape or not np.allclose(expected, found, rtol=0, atol=tolerance):
            raise BadInput(
                f"the vectors of {self._location} are not those that a store would hold, because they were made with "
                "another model, prompt, length or number of dimensions; embed the input again with the options that "
                "the store needs"
            )
