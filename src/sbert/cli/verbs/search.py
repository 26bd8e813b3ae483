"""``sbert search``: finds the texts of a file that are nearest to a query."""

from __future__ import annotations

from typing import Any

import numpy as np

from sbert.cli import show
from sbert.cli.options import Column, Device, Format, Json, ModelName, Query, TextFile, TopK
from sbert.data.rows import Row, read_texts
from sbert.errors import BadInput, counted
from sbert.models.bi import BiEncoder
from sbert.models.vectors import VectorModel
from sbert.search.searcher import Searcher
from sbert.types import FloatArray, Hit

_EMBEDDING = "embedding"  # the field that sbert encode writes


def search(
    source: TextFile,
    query: Query,
    k: TopK = 10,
    model: ModelName = None,
    column: Column = None,
    kind: Format = None,
    device: Device = None,
    json: Json = False,
) -> None:
    """Find the texts of a file that are nearest in meaning to a query.

    The embeddings of a file that sbert encode wrote are used instead of computed again.

    Example: sbert search faq.txt "how do I get my money back" -k 5
    """
    rows = read_texts(source, column, kind)
    hits = nearest(BiEncoder.from_pretrained(model, device=device), rows, query, k)
    show.hits(hits, other_fields(rows, hits), json)


def nearest(model: VectorModel, rows: list[Row], query: str, k: int) -> list[Hit]:
    """Find the ``k`` rows whose embeddings are nearest to that of a query."""
    texts = [row.texts[0] for row in rows]
    searcher = Searcher(model)
    if _EMBEDDING in rows[0].fields:
        vectors = _stored(rows, len(model.encode_query(query)))
        show.note(f"{counted(len(rows), 'embedding')} of the file are used; they must come from the same model")
    else:
        vectors = model.encode_document(texts, show_progress_bar=True)
    searcher.add(texts, vectors=vectors)
    return searcher.search(query, k).hits


def other_fields(rows: list[Row], hits: list[Hit]) -> list[dict[str, Any]]:
    """Return the fields of each hit beside its text and embedding."""
    found = [rows[int(hit.id)] for hit in hits]
    return [
        {name: value for name, value in row.fields.items() if name not in (*row.columns, _EMBEDDING)} for row in found
    ]


def _stored(rows: list[Row], dimensions: int) -> FloatArray:
    """Return the embeddings of a file: (N, D)."""
    where, found = rows[0].source.name, [row.field(_EMBEDDING) for row in rows]
    try:
        vectors = np.array(found)
    except ValueError:  # rows of different lengths
        vectors = np.array(None)
    if vectors.ndim != 2 or not np.issubdtype(vectors.dtype, np.floating):
        raise BadInput(
            f"the field {_EMBEDDING!r} of {where} does not hold equally many decimal numbers in each row; write it "
            "with sbert encode and --precision float32 or float16, or drop it"
        )
    if vectors.shape[1] != dimensions:
        raise BadInput(
            f"the embeddings of {where} have {vectors.shape[1]} dimensions, but those of the model have {dimensions}; "
            "name the model that made them, or drop the field"
        )
    return vectors.astype(np.float32)
