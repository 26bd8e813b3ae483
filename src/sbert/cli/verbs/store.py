"""``sbert store``: shows, checks, compacts or exports a store."""

from __future__ import annotations

import json as json_
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated, cast, get_args

import numpy as np
import typer

from sbert.cli import show
from sbert.cli.options import Json
from sbert.data.writers import check_output, open_table
from sbert.disk.progress import Progress
from sbert.errors import SbertError, WrongUsage, check_value, counted
from sbert.search.index import Kind
from sbert.search.opening import existing_store
from sbert.search.store import Document, Store

ACTIONS = ("info", "check", "compact", "export")
_SUFFIXES = (".parquet", ".jsonl")
_WINDOW = 4096


def store(
    action: Annotated[str, typer.Argument(metavar="ACTION", help="info, check, compact or export.")],
    location: Annotated[str, typer.Argument(metavar="STORE", help="SQLite file, or postgresql://...")],
    out: Annotated[
        Path | None, typer.Option("--output", "-o", help="export: .parquet, or .jsonl; - writes jsonl to stdout.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help=f"compact: kind of the index, {', '.join(get_args(Kind))}.")] = None,
    json: Json = False,
) -> None:
    """Show, check, compact or export a store that sbert index wrote.

    check verifies every row, compares the index with an exact search, and exits with code 1 if it finds a problem;
    compact rebuilds the index and frees the space of deleted texts.

    Example: sbert store check faq.db
    """
    check_value("ACTION", action, ACTIONS)
    if (out is not None) != (action == "export"):
        raise WrongUsage(f"-o is for export and needed there, but the action is {action}; add it or leave it out")
    if kind is not None:
        check_value("--kind", kind, get_args(Kind))
        if action != "compact":
            raise WrongUsage(f"--kind is for compact, but the action is {action}; leave it out")
    opened = existing_store(location, show_progress_bar=True)
    if action == "info":
        _info(opened, json)
    elif action == "check":
        _check(opened, json)
    elif action == "compact":
        opened.compact(cast(Kind | None, kind))
        show.note(f"{location} is compact: {counted(opened.count(), 'text')}")
    elif out is not None:
        _export(opened, out)


def _info(opened: Store, in_json: bool) -> None:
    facts = {**asdict(opened.facts), "texts": opened.count(), **opened.index_facts()}
    if in_json:
        show.as_json(facts)
        return
    show.table(["", "value"], [[name, str(value)] for name, value in facts.items()])


def _check(opened: Store, in_json: bool) -> None:
    found = opened.check()
    if in_json:
        show.as_json({"problems": found})
    for problem in found:
        show.note(problem)
    if found:
        raise SbertError(f"{counted(len(found), 'problem')} found; see above")
    if not in_json:
        show.note(f"nothing is wrong: {counted(opened.count(), 'text')}")


def _export(opened: Store, out: Path) -> None:
    check_output(out, _SUFFIXES, "", standard_output=True)
    documents = iter(opened)
    with open_table(out) as write, Progress(opened.count(), "documents", show=True) as progress:
        while window := list(islice(documents, _WINDOW)):
            vectors = np.stack([document.vector for document in window if document.vector is not None])
            write([_record(one) for one in window], vectors)
            progress.add(len(window))
    show.note(f"{counted(opened.count(), 'text')} -> {out}")


def _record(document: Document) -> dict[str, str]:
    metadata = json_.dumps(document.metadata, ensure_ascii=False, sort_keys=True)
    return {"id": str(document.id), "text": document.text, "metadata": metadata}
