"""``sbert rank``: ranks the texts of a file for a query with a model of any kind."""

from __future__ import annotations

import os

from sbert.cli import show
from sbert.cli.options import AnyModel, Column, Device, Format, Json, Query, TextFile, TopK
from sbert.cli.verbs.search import nearest, other_fields
from sbert.data.rows import read_texts
from sbert.models.load import load
from sbert.models.vectors import VectorModel


def rank(
    model: AnyModel,
    source: TextFile,
    query: Query,
    k: TopK = 10,
    column: Column = None,
    kind: Format = None,
    device: Device = None,
    json: Json = False,
) -> None:
    """Rank the texts of a file by how well they answer a query, with a model of any kind.

    A bi-encoder compares embeddings; a cross-encoder reads the query and each text together.

    Example: sbert rank cross-encoder/ms-marco-MiniLM-L6-v2 answers.txt "How do I bake bread?" -k 3
    """
    if _is_input(query) and not _is_input(source):
        show.note(f"warning: {query} was given after the query; the order is sbert rank MODEL FILE QUERY", "yellow")
        source, query = query, source
    rows, ranker = read_texts(source, column, kind), load(model, device=device)
    if isinstance(ranker, VectorModel):
        hits = nearest(ranker, rows, query, k)
    else:
        hits = ranker.rank(query, [row.texts[0] for row in rows], k, show_progress_bar=True)
    show.hits(hits, other_fields(rows, hits), json)


def _is_input(argument: str) -> bool:
    return argument == "-" or os.path.isfile(argument)
