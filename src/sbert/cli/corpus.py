"""The texts and vectors that the subcommands about whole collections work on: those of a file, or those of a store."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sbert.cli.embeddings import EMBEDDING, MODEL, embeddings_of
from sbert.cli.stores import is_store
from sbert.data.rows import read_texts
from sbert.data.writers import STANDARD_OUTPUT, TABLE_SUFFIXES, check_output, check_record
from sbert.disk.files import write_bytes
from sbert.errors import BadInput, WrongUsage
from sbert.models.bi import BiEncoder
from sbert.models.fingerprint import fingerprint
from sbert.models.vectors import VectorModel
from sbert.search.opening import open_store
from sbert.types import FloatArray, IntArray

PAGE_SUFFIXES = (".html", ".htm")


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
    source: str,
    model: str | None,
    column: str | None = None,
    kind: str | None = None,
    device: str | None = None,
    *,
    out: Path | None = None,
    added: Sequence[str] = (),
) -> Corpus:
    """Read the texts of a file or a store, and embed those that have no vectors yet.

    Args:
        source: The file or the store.
        model: The model; None for the default one, or for that of the store.
        column: The field of a file that holds the texts.
        kind: The format of a file.
        device: Where to run the model.
        out: A table that the rows are written to later. What it cannot hold is refused before any work.
        added: The fields that are added to the rows in that table.
    """
    if is_store(source):
        if column is not None or kind is not None:
            raise WrongUsage(f"{source} is a store, but --column and --format are for files; leave them out")
        corpus = _stored(source, model, device)
        _check_records(corpus.records, source, out, added)
        return corpus
    rows = read_texts(source, column, kind)
    if not rows:
        raise BadInput(f"{source} has no texts, but at least one is needed")
    records = [{name: value for name, value in row.fields.items() if name not in (EMBEDDING, MODEL)} for row in rows]
    _check_records(records, source, out, added)
    encoder = BiEncoder.from_pretrained(model, device=device)
    texts, vectors = [row.texts[0] for row in rows], embeddings_of(rows, encoder)
    if vectors is None:
        vectors = encoder.encode_document(texts, show_progress_bar=True)
    return Corpus(source, texts, vectors, records, encoder)


def _check_records(records: list[dict[str, Any]], source: str, out: Path | None, added: Sequence[str]) -> None:
    if out is None:
        return
    for row, record in enumerate(records):
        if taken := [name for name in added if name in record]:
            raise BadInput(f"{source} has a field {taken[0]!r} already, which -o would replace; rename it")
        check_record(out, record, f"{source}, row {row}")


def _stored(location: str, model: str | None, device: str | None) -> Corpus:
    store, encoder = open_store(location, model, device=device)
    documents = list(store)
    if not documents:
        raise BadInput(f"{location} has no texts, but at least one is needed")
    vectors = np.stack([document.vector for document in documents if document.vector is not None])
    records = [{"id": document.id, "text": document.text, **document.metadata} for document in documents]
    return Corpus(location, [document.text for document in documents], vectors, records, encoder)


def check_same_model(first: Corpus, second: Corpus) -> None:
    """Refuse two collections whose vectors come from different models."""
    if fingerprint(first.model) != fingerprint(second.model):
        raise BadInput(
            f"the vectors of {first.source} and {second.source} come from different models, but they are compared; "
            "name the model of the store with --model"
        )


def check_outputs(
    inputs: Sequence[str | None], outputs: Mapping[str, tuple[Path | None, Collection[str]]], in_json: bool = False
) -> None:
    """Refuse, before any work, outputs that cannot be written, that are an input, or that are the same file.

    Args:
        inputs: The files and stores that are read.
        outputs: The path and the suffixes of each output by its option; "-" is accepted for a table.
        in_json: Whether a JSON object goes to standard output, where no table may go beside it.
    """
    seen: dict[Path, str] = {}
    for option, (path, suffixes) in outputs.items():
        if path is None:
            continue
        for source in inputs:
            check_output(path, suffixes, source, standard_output=suffixes == TABLE_SUFFIXES)
        if path == STANDARD_OUTPUT:
            if in_json:
                raise WrongUsage(f"{option} - and --json both write to standard output; leave one of them out")
            continue
        if (place := path.resolve()) in seen:
            raise WrongUsage(f"{seen[place]} and {option} both name {str(path)!r}; name two files")
        seen[place] = option


def write_map(path: Path, title: str, corpus: Corpus, groups: IntArray, names: Sequence[str]) -> FloatArray:
    """Place the texts on a plane, write the map as a page, and return the places: (N, 2)."""
    from sbert.explore.layout import plane_layout
    from sbert.pages import map
    from sbert.pages.records import TextMap

    places = plane_layout(corpus.vectors)
    write_bytes(path, map.page(TextMap(title, places, corpus.texts, groups.tolist(), names)).encode())
    return places
