"""``sbert search``: finds the texts of a file that are nearest to a query."""

from __future__ import annotations

from sbert.cli import show
from sbert.cli.options import Column, Device, Format, Json, ModelName, Query, TextFile, TopK
from sbert.data.rows import read_texts
from sbert.models.bi import BiEncoder
from sbert.search.exact import semantic_search


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

    Example: sbert search faq.txt "how do I get my money back" -k 5
    """
    texts = [row.texts[0] for row in read_texts(source, column, kind)]
    encoder = BiEncoder.from_pretrained(model, device=device)
    corpus = encoder.encode_document(texts, show_progress_bar=True)
    hits = semantic_search(encoder.encode_query(query), corpus, k, encoder.similarity_fn_name)[0]
    show.hits([hit._replace(text=texts[int(hit.id)]) for hit in hits], [{} for _ in hits], json)
