"""``sbert pairs``: finds the most similar pairs of texts in a file."""

from __future__ import annotations

from typing import Annotated

import typer

from sbert.cli import show
from sbert.cli.embeddings import embeddings_of
from sbert.cli.options import Column, Device, Format, Json, ModelName, TextFile
from sbert.data.rows import read_texts
from sbert.models.bi import BiEncoder
from sbert.search.exact import most_similar_pairs
from sbert.text.display import number, one_line


def pairs(
    source: TextFile,
    top: Annotated[int, typer.Option(min=1, help="Number of pairs to show.")] = 20,
    threshold: Annotated[float | None, typer.Option(help="Lowest score of a pair that is shown.")] = None,
    model: ModelName = None,
    device: Device = None,
    column: Column = None,
    kind: Format = None,
    json: Json = False,
) -> None:
    """Find the pairs of texts in a file that are nearest in meaning, such as paraphrases and duplicates.

    The texts are embedded first, unless sbert encode wrote the file with embeddings.
    """
    rows, encoder = read_texts(source, column, kind), BiEncoder.from_pretrained(model, device=device)
    texts, vectors = [row.texts[0] for row in rows], embeddings_of(rows, encoder)
    if vectors is None:
        vectors = encoder.encode(texts, show_progress_bar=True)
    found = most_similar_pairs(vectors, top, threshold, encoder.similarity_fn_name)
    if json:
        show.as_json([{"score": score, "rows": [a, b], "texts": [texts[a], texts[b]]} for a, b, score in found])
    elif found:
        shown = [one_line(text) for text in texts]
        lines = [
            [str(rank), number(score, 4), f"{a}\n{b}", f"{shown[a]}\n{shown[b]}"]
            for rank, (a, b, score) in enumerate(found, 1)
        ]
        show.table(["rank", "score", "row", "text"], lines)
    else:
        show.note("no pairs" if threshold is None else f"no pair scores {threshold:g} or more")
