"""``sbert search``: finds the texts of a store or of a file that are nearest to a query."""

from __future__ import annotations

from typing import Annotated, Any, cast, get_args

import typer

from sbert.cli import show
from sbert.cli.embeddings import EMBEDDING, MODEL, embeddings_of
from sbert.cli.options import Column, Device, Format, Json, ModelName, TopK, checked_query
from sbert.cli.stores import StoreSearch, is_store
from sbert.data.files import source as find_source
from sbert.data.rows import Row, read_texts
from sbert.errors import WrongUsage, check_value
from sbert.models.bi import BiEncoder
from sbert.models.load import load
from sbert.models.vectors import VectorModel
from sbert.search.found import Reranker
from sbert.search.searcher import Mode, Searcher
from sbert.types import Hit


def search(
    source: Annotated[
        str,
        typer.Argument(metavar="FILE", help="Store that sbert index wrote, or a file of texts; - is standard input."),
    ],
    query: Annotated[
        str | None,
        typer.Argument(
            metavar="QUERY", callback=checked_query, help="Text to look for. A store asks for queries without one."
        ),
    ] = None,
    k: TopK = 10,
    filter: Annotated[
        str | None, typer.Option(metavar="CONDITION", help="Store: 'lang = \"ko\" and year >= 2020'.")
    ] = None,
    mode: Annotated[str, typer.Option(help="Store: vector, lexical (words) or hybrid (both).")] = "vector",
    rerank: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Store: cross- or poly-encoder that sorts the best hits.")
    ] = None,
    model: ModelName = None,
    column: Column = None,
    kind: Format = None,
    device: Device = None,
    json: Json = False,
) -> None:
    """Find the texts of a store or of a file that are nearest in meaning to a query.

    A store answers at once. The texts of a file are embedded first, unless sbert encode wrote it with embeddings.

    Example: sbert search faq.db "how do I get my money back" -k 5 --filter 'lang = "en"'
    """
    if is_store(source):
        check_value("--mode", mode, get_args(Mode))
        reranker = None if rerank is None else load(rerank, device=device)
        searcher = Searcher.open(source, model, cast(Reranker | None, reranker), show_progress_bar=True)
        asked = StoreSearch(searcher, k, filter, cast(Mode, mode), json)
        return asked.prompt() if query is None else asked.show(query)
    if query is None or filter or rerank or mode != "vector":
        find_source(source, kind)  # a missing file is reported first
        missing = "the query is missing" if query is None else "--filter, --mode and --rerank need a store"
        raise WrongUsage(f"{source} is a file of texts: {missing}; make a store with sbert index, or search a file")
    rows = read_texts(source, column, kind)
    hits = nearest(BiEncoder.from_pretrained(model, device=device), rows, query, k)
    show.hits(hits, other_fields(rows, hits), json)


def nearest(model: VectorModel, rows: list[Row], query: str, k: int) -> list[Hit]:
    """Find the ``k`` rows whose embeddings are nearest to that of a query."""
    texts = [row.texts[0] for row in rows]
    searcher, vectors = Searcher(model), embeddings_of(rows, model)
    if vectors is None:
        vectors = model.encode_document(texts, show_progress_bar=True)
    searcher.add(texts, vectors=vectors)
    return [Hit(hit.id, hit.score, hit.text) for hit in searcher.search(query, k).hits]


def other_fields(rows: list[Row], hits: list[Hit]) -> list[dict[str, Any]]:
    """Return the fields of each hit beside its text and embedding."""
    found = [rows[int(hit.id)] for hit in hits]
    return [
        {name: value for name, value in row.fields.items() if name not in (*row.columns, EMBEDDING, MODEL)}
        for row in found
    ]
