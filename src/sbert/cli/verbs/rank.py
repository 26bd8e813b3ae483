"""``sbert rank``: the texts of a file in the order in which a model prefers them."""

from __future__ import annotations

from typing import Annotated

import typer

from sbert.cli import show
from sbert.cli.options import AnyModel, Column, Format, Json, TextFile
from sbert.data import texts as files


def rank(
    model: AnyModel,
    query: Annotated[str, typer.Argument(help="What to look for.")],
    source: TextFile,
    k: Annotated[int, typer.Option("-k", min=1, help="So many texts.")] = 10,
    column: Column = None,
    kind: Format = None,
    json: Json = False,
) -> None:
    """Order texts by how well they answer a query: by vectors, or reading both together with a cross-encoder.

    Example: sbert rank cross-encoder/ms-marco-MiniLM-L6-v2 "How do I bake bread?" answers.txt -k 3
    """
    texts = files.read(source, column, kind).texts

    from sbert.models.load import load

    hits = load(model).rank(query, texts, k, show_progress_bar=True)
    show.hits([(hit.score, int(hit.id), texts[int(hit.id)]) for hit in hits], json)
