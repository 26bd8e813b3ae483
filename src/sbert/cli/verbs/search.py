"""``sbert search``: the texts of a file that are nearest to a query."""

from __future__ import annotations

from typing import Annotated

import typer

from sbert.cli import show
from sbert.cli.options import Column, Format, Json, ModelName, TextFile
from sbert.data import texts as files


def search(
    source: TextFile,
    query: Annotated[str, typer.Argument(help="What to look for.")],
    k: Annotated[int, typer.Option("-k", min=1, help="So many hits.")] = 10,
    model: ModelName = None,
    column: Column = None,
    kind: Format = None,
    json: Json = False,
) -> None:
    """Find the texts nearest in meaning to a query."""
    texts = files.read(source, column, kind).texts

    from sbert.models.bi import BiEncoder
    from sbert.search.exact import semantic_search

    encoder = BiEncoder.from_pretrained(model)
    corpus = encoder.encode_document(texts, show_progress_bar=True)
    hits = semantic_search(encoder.encode_query(query), corpus, k, encoder.similarity_fn_name)[0]
    show.hits([(hit.score, int(hit.id), texts[int(hit.id)]) for hit in hits], json)
