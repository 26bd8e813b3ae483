"""``sbert index``: adds files of texts to a store, which can be searched. Repeating the command updates the store."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import chain
from typing import Annotated, cast

import typer

from sbert.bulk.documents import ShardDocuments, is_finished_job
from sbert.cli import show
from sbert.cli.embeddings import EMBEDDING, MODEL
from sbert.cli.options import Column, Device, Format, Json, ModelName, StoreOption, names
from sbert.data.rows import Row, Rows, scan
from sbert.errors import BadInput, WrongUsage, check_value, counted
from sbert.search.found import Added
from sbert.search.opening import open_store
from sbert.search.packing import PRECISIONS, StoredPrecision
from sbert.search.store import Document, Store
from sbert.search.store.document import check_text, content_hash
from sbert.search.stored import StoredCollection

_NUMBER = re.compile(r"(-?(0|[1-9]\d{0,17})(\.\d{1,17})?)?\Z")
"""An empty field, or a number that can be written again without a change."""


def index(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILES",
            help="Files of texts: txt, tsv, csv, jsonl, json (or .gz), parquet; or -; or a folder of sbert embed.",
        ),
    ],
    store: StoreOption,
    id: Annotated[
        str | None, typer.Option("--id", help="Field with the id of each text. Defaults to a hash of the text.")
    ] = None,
    column: Column = None,
    metadata: Annotated[
        str | None,
        typer.Option(help="Fields to keep for filters, such as lang,year; 'none' for none. Defaults to all others."),
    ] = None,
    model: ModelName = None,
    precision: Annotated[
        str, typer.Option(help="Precision of the vectors in a new store: float32, float16, int8, binary.")
    ] = "float32",
    delete_missing: Annotated[
        bool, typer.Option("--delete-missing", help="Delete the texts of the store that are not in FILES.")
    ] = False,
    kind: Format = None,
    device: Device = None,
    as_json: Json = False,
) -> None:
    """Add the texts of files to a store; repeating the command embeds only new and changed texts.

    Example: sbert index faq.tsv --store faq.db --id number --metadata lang,year
    """
    check_value("--precision", precision, PRECISIONS)
    documents: Iterable[Document]
    if any(is_finished_job(file) for file in files):
        shards = _shards(files, (id, column, kind), names(metadata))
        model = shards.manifest.model.name if model is None else model
        shards.check_model(model, device)
        documents, total = shards, len(shards)
    else:
        tables = [scan(file, None if column is None else [column], kind, one_text=True) for file in files]
        for table in tables:  # before a store is created
            _check_fields(table, id, names(metadata))
        documents = chain.from_iterable(_documents(table, id, names(metadata)) for table in tables)
        total = sum(table.count for table in tables)
    began = time.perf_counter()
    opened, encoder = open_store(store, model, cast(StoredPrecision, precision), device, show_progress_bar=True)
    if isinstance(documents, ShardDocuments):
        documents = documents.new_to(opened)
    seen: set[int | str] = set()
    added = StoredCollection(opened, encoder).add_documents(_noted(documents, seen), total, show_progress_bar=True)
    deleted = _delete_others(opened, seen) if delete_missing else 0
    opened.save_index()
    _report(opened, added, deleted, time.perf_counter() - began, as_json)


def _shards(files: list[str], for_files: tuple[str | None, ...], kept: list[str] | None) -> ShardDocuments:
    if len(files) > 1 or any(for_files):
        raise WrongUsage(
            f"{files[0]} is a folder of sbert embed, which is indexed alone, with its own ids and texts; "
            "leave out other files, --id, --column and --format"
        )
    return ShardDocuments(files[0], [] if kept == ["none"] else kept)


def _check_fields(table: Rows, id: str | None, kept: list[str] | None) -> None:
    row = next(iter(table))
    for name in [*([] if id is None else [id]), *(kept or [])]:
        if name != "none":
            row.field(name)


def _documents(table: Rows, id: str | None, kept: list[str] | None) -> Iterator[Document]:
    """Yield the rows of a table as documents."""
    numeric = _numeric_fields(table)
    for row in table:
        check_text(f"{row.where}: the text", row.texts[0])
        name = content_hash(row.texts[0]).hex() if id is None else _id(row, id)
        beside = (*row.columns, id, EMBEDDING, MODEL)
        fields = [field for field in row.fields if field not in beside] if kept is None else kept
        metadata = {} if kept == ["none"] else {field: row.field(field) for field in fields}
        for field in numeric & metadata.keys():
            metadata[field] = json.loads(metadata[field] or "null")
        yield Document(name, row.texts[0], metadata)


def _numeric_fields(table: Rows) -> set[str]:
    """Return the fields whose texts are all numbers: tsv and csv have no other way to write one."""
    found = set(table.fields)
    for row in table:
        found = {name for name in found if isinstance(row.fields.get(name), str) and _NUMBER.match(row.fields[name])}
        if not found:
            break
    return found


def _id(row: Row, column: str) -> int | str:
    name = row.field(column)
    if isinstance(name, bool) or not isinstance(name, int | str) or name == "":
        raise BadInput(f"{row.where}: the id is {name!r}, but must be a text or a whole number; repair the row")
    return name


def _noted(documents: Iterable[Document], seen: set[int | str]) -> Iterator[Document]:
    for document in documents:
        seen.add(document.id)
        yield document


def _delete_others(store: Store, seen: set[int | str]) -> int:
    return store.delete([name for name in store.ids() if name not in seen])


def _report(store: Store, added: Added, deleted: int, seconds: float, in_json: bool) -> None:
    total = store.count()
    if in_json:
        show.as_json({**asdict(added), "deleted": deleted, "total": total, "seconds": round(seconds, 3)})
        return
    parts = [f"{added.new:,} new", f"{added.changed:,} changed", f"{added.unchanged:,} unchanged"]
    parts += [f"{deleted:,} deleted"] if deleted else []
    show.note(f"{', '.join(parts)}; {counted(added.embedded, 'text')} embedded in {seconds:.1f} s")
    if added.repeated:
        show.note(
            f"{counted(added.repeated, 'row')} had an id that occurs again later; only the last row of an id is kept"
        )
    show.note(f"the store holds {counted(total, 'text')}")
