"""``sbert rank``: ranks the texts of a file for a query with a model of any kind."""

from __future__ import annotations

import os

from sbert.cli import show
from sbert.cli.options import AnyModel, Column, Device, Format, Json, Query, TextFile, TopK
from sbert.data.rows import read_texts
from sbert.models.load import load


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
    texts = [row.texts[0] for row in read_texts(source, column, kind)]
    hits = load(model, device=device).rank(query, texts, k, show_progress_bar=True)
    show.hits(hits, [{} for _ in hits], json)


def _is_input(argument: str) -> bool:
    return argument == "-" or os.path.isfile(argument)
