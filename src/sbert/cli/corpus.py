"""The texts and vectors that the subcommands about whole collections work on: those of a file, or those of a store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sbert.cli.embeddings import EMBEDDING, MODEL, embeddings_of
from sbert.cli.stores import is_store
from sbert.data.rows import read_texts
from sbert.data.writers import TABLE_SUFFIXES, check_output, open_table
from sbert.disk.files import write_bytes
from sbert.errors import BadInput, WrongUsage
from sbert.models.bi import BiEncoder
from sbert.models.vectors import VectorModel
from sbert.search.opening import open_store
from sbert.types import FloatArray, IntArray

_WINDOW = 4096


class Corpus(NamedTuple):
    """N texts with their vectors and all of their fields, and the model that embeds more texts."""

    source: str
    texts: list[str]
    vectors: FloatArray
    """(N, D)."""
    records: list[dict[str, Any]]
    model: VectorModel

    def column(self, name: str) -> list[Any]:
        """Return the values of a field, None for rows without it."""
        if not any(name in record for record in self.records):
            raise BadInput(f"{self.source} has no field {name!r}; its fields are {', '.join(self.fields())}")
        return [record.get(name) for record in self.records]

    def fields(self) -> list[str]:
        """Return the names of all fields."""
        return list(dict.fromkeys(name for record in self.records for name in record))


def read_corpus(
    source: str, model: str | None, column: str | None = None, kind: str | None = None, device: str | None = None
) -> Corpus:
    """Read the texts of a file or a store, and embed those that have no vectors yet."""
    if is_store(source):
        if column is not None or kind is not None:
            raise WrongUsage(f"{source} is a store, but --column and --format are for files; leave them out")
        return _stored(source, model, device)
    encoder = BiEncoder.from_pretrained(model, device=device)
    rows = read_texts(source, column, kind)
    if not rows:
        raise BadInput(f"{source} has no texts, but at least one is needed")
    texts, vectors = [row.texts[0] for row in rows], embeddings_of(rows, encoder)
    if vectors is None:
        vectors = encoder.encode_document(texts, show_progress_bar=True)
    records = [{name: value for name, value in row.fields.items() if name not in (EMBEDDING, MODEL)} for row in rows]
    return Corpus(source, texts, vectors, records, encoder)


def _stored(location: str, model: str | None, device: str | None) -> Corpus:
    store, encoder = open_store(location, model, device=device)
    documents = list(store)
    if not documents:
        raise BadInput(f"{location} has no texts, but at least one is needed")
    vectors = np.stack([document.vector for document in documents if document.vector is not None])
    records = [{"id": document.id, "text": document.text, **document.metadata} for document in documents]
    return Corpus(location, [document.text for document in documents], vectors, records, encoder)


def check_table(path: Path | None, source: str) -> None:
    """Refuse an output that cannot be a table, before any work."""
    if path is not None:
        check_output(path, TABLE_SUFFIXES, None if is_store(source) else source, standard_output=True)


def check_page(path: Path | None) -> None:
    """Refuse an output that cannot be a page, before any work."""
    if path is not None:
        check_output(path, (".html", ".htm"))


def write_table(path: Path, records: Sequence[dict[str, Any]]) -> None:
    """Write records with the same fields to a table."""
    fields = list(dict.fromkeys(name for record in records for name in record))
    with open_table(path) as write:
        for start in range(0, len(records), _WINDOW):
            window = records[start : start + _WINDOW]
            write([{name: record.get(name) for name in fields} for record in window])


def write_map(path: Path, title: str, corpus: Corpus, groups: IntArray, names: Sequence[str]) -> None:
    """Place the texts on a plane and write the map as a page."""
    from sbert.explore.layout import plane_layout
    from sbert.pages import map
    from sbert.pages.records import TextMap

    places = plane_layout(corpus.vectors)
    write_bytes(path, map.page(TextMap(title, places, corpus.texts, groups.tolist(), names)).encode())
