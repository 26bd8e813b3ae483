"""The texts and vectors that the subcommands about whole collections work on: those of a file, or those of a store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sbert.cli.embeddings import EMBEDDING, MODEL, embeddings_of
from sbert.cli.options import Collection, Column, Device, Format, ModelName
from sbert.cli.stores import is_store
from sbert.data.rows import Row, read_texts
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

    def fields(self) -> list[str]:
        """Return the names of all fields."""
        return _fields(self.records)


class CorpusInput(NamedTuple):
    """A file or a store as the arguments of a subcommand name it."""

    source: str
    model: str | None
    """The model; None for the default one, or for that of the store."""
    column: str | None
    """The field of a file that holds the texts."""
    kind: str | None
    """The format of a file."""
    device: str | None

    def read(self, out: Path | None = None, added: Sequence[str] = (), needed: str | None = None) -> Corpus:
        """Read the texts, and embed those that have no vectors yet.

        Args:
            out: A table that the rows are written to later. What it cannot hold is refused before any work.
            added: The fields that are added to the rows in that table.
            needed: A field that at least one row must have.
        """
        if is_store(self.source):
            if self.column is not None or self.kind is not None:
                raise WrongUsage(f"{self.source} is a store, but --column and --format are for files; leave them out")
            corpus = _stored(self.source, self.model, self.device)
            self._check(corpus.records, out, added, needed)
            return corpus
        rows = read_texts(self.source, self.column, self.kind)
        if not rows:
            raise BadInput(f"{self.source} has no texts, but at least one is needed")
        records = [_other_fields(row) for row in rows]
        self._check(records, out, added, needed)
        encoder = BiEncoder.from_pretrained(self.model, device=self.device)
        texts, vectors = [row.texts[0] for row in rows], embeddings_of(rows, encoder)
        if vectors is None:
            vectors = encoder.encode_document(texts, show_progress_bar=True)
        return Corpus(self.source, texts, vectors, records, encoder)

    def _check(
        self, records: list[dict[str, Any]], out: Path | None, added: Sequence[str], needed: str | None
    ) -> None:
        if needed is not None and needed not in (fields := _fields(records)):
            raise BadInput(f"{self.source} has no field {needed!r}; its fields are {', '.join(fields)}")
        if out is None:
            return
        for row, record in enumerate(records):
            if taken := [name for name in added if name in record]:
                raise BadInput(f"{self.source} has a field {taken[0]!r} already, which -o would replace; rename it")
            check_record(out, record, f"{self.source}, row {row}")


def reads_corpus(subcommand: Callable[..., None]) -> Callable[..., None]:
    """Give a subcommand the argument SOURCE and the options that describe it, as its parameter ``given``.

    The options come after those of the subcommand, and before ``--json``.
    """

    def run(
        source: Collection,
        model: ModelName = None,
        column: Column = None,
        kind: Format = None,
        device: Device = None,
        **options: Any,
    ) -> None:
        subcommand(CorpusInput(source, model, column, kind, device), **options)

    shared = signature(run, eval_str=True).parameters
    own = signature(subcommand, eval_str=True).parameters
    source, *described = [one for one in shared.values() if one.kind is not Parameter.VAR_KEYWORD]
    names = [name for name in own if name not in ("given", "json")]
    last = [own["json"]] if "json" in own else []
    listed = [source, *(own[name] for name in names), *described, *last]
    run.__name__, run.__doc__ = subcommand.__name__, subcommand.__doc__
    run.__signature__ = Signature(listed)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in listed}
    return run


def _fields(records: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for record in records for name in record))


def _other_fields(row: Row) -> dict[str, Any]:
    return {name: value for name, value in row.fields.items() if name not in (EMBEDDING, MODEL)}


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
    inputs: Sequence[str | None], outputs: Mapping[str, tuple[Path | None, Sequence[str]]], in_json: bool = False
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
