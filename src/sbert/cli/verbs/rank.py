"""``sbert rank``: the texts of a file in the order in which a model prefers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sbert.cli import show
from sbert.cli.options import AnyModel, Column, Format, Json, TextFile
from sbert.data import texts as files

if TYPE_CHECKING:
    from sbert.models.load import Model
    from sbert.types import Hit


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

    show.hits([(hit.score, int(hit.id), texts[int(hit.id)]) for hit in _rank(load(model), query, texts, k)], json)


def _rank(model: Model, query: str, texts: list[str], k: int) -> list[Hit]:
    from sbert.models.cross import CrossEncoder
    from sbert.models.poly import PolyEncoder
    from sbert.search.exact import semantic_search

    if isinstance(model, (CrossEncoder, PolyEncoder)):
        return model.rank(query, texts, k)
    corpus = model.encode_document(texts, show_progress_bar=True)
    return semantic_search(model.encode_query(query), corpus, k, model.similarity_fn_name)[0]
