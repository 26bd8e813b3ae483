"""``sbert similarity``: compares two texts, or every text of a file with every other."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from sbert.cli import show
from sbert.cli.options import Column, Device, Format, Json, ModelName
from sbert.data.files import FORMATS
from sbert.data.rows import read_texts
from sbert.data.writers import check_output
from sbert.disk.files import whole_file
from sbert.errors import BadInput, WrongUsage, check_value
from sbert.models.bi import BiEncoder
from sbert.pages.heatmap import draw
from sbert.text import display
from sbert.types import FloatArray, Similarity

_MOST_TEXTS = 2000
_SHOWN = 60
_PLOT_SUFFIXES = (".png", ".svg", ".pdf")


def similarity(
    first: Annotated[str, typer.Argument(metavar="A", help="A text; without B, a file of texts (- for stdin).")],
    second: Annotated[str | None, typer.Argument(metavar="B", help="The text to compare A with.")] = None,
    measure: Annotated[
        str | None, typer.Option(help="cosine, dot, euclidean or manhattan. Defaults to the model's measure.")
    ] = None,
    model: ModelName = None,
    column: Column = None,
    kind: Format = None,
    device: Device = None,
    plot: Annotated[Path | None, typer.Option(help="Draw a heat map of the file to a .png, .svg or .pdf.")] = None,
    json: Json = False,
) -> None:
    """Compare two texts, or all texts of a file with each other. Distances are negated: a higher score is nearer."""
    _check(first, second, measure, plot, kind)
    texts = [row.texts[0] for row in read_texts(first, column, kind)] if second is None else [first, second]
    if len(texts) > _MOST_TEXTS:
        raise BadInput(f"{first} has {len(texts):,} texts, but a matrix takes {_MOST_TEXTS:,}; use: sbert pairs")
    encoder = BiEncoder.from_pretrained(model, device=device)
    if measure is not None:
        encoder.similarity_fn_name = cast(Similarity, measure)
    used = encoder.similarity_fn_name
    vectors = encoder.encode(texts, show_progress_bar=second is None)
    scores = encoder.similarity(vectors, vectors)  # (N, N)
    if plot is not None:
        with whole_file(plot) as file:
            draw(file, plot.suffix[1:].lower(), texts, scores, used)
        show.note(f"{len(texts)} x {len(texts)} -> {plot}")
    if json and second is not None:
        show.as_json({"measure": used, "score": float(scores[0, 1])})
    elif json:
        show.as_json({"measure": used, "texts": texts, "scores": scores.tolist()})
    elif second is not None:
        show.line(display.number(float(scores[0, 1]), 4))
    elif plot is None:
        _print_matrix(texts, scores)


def _check(first: str, second: str | None, measure: str | None, plot: Path | None, kind: str | None) -> None:
    """Refuse wrong options before any work."""
    if measure is not None:
        check_value("--measure", measure, get_args(Similarity))
    if plot is not None:
        check_output(plot, _PLOT_SUFFIXES, first)
    named_like_file = first.lower().removesuffix(".gz").endswith(tuple(f".{name}" for name in FORMATS))
    is_file = first == "-" or named_like_file or os.path.exists(first)  # a text may be too long for a path
    if second is None and kind is None and not is_file:
        raise WrongUsage(
            f"got {display.shorten(first, _SHOWN)!r} alone, which is not a file, but two texts or a file of texts are "
            "needed; give a second text, or name a file"
        )
    if plot is not None and second is not None:
        raise WrongUsage("--plot draws the texts of a file, but two texts were given; write them to a file")


def _print_matrix(texts: list[str], scores: FloatArray) -> None:
    numbers = [str(row) for row in range(len(texts))]
    lines = [
        [number, *map(display.number, row.tolist()), display.one_line(text)]
        for number, row, text in zip(numbers, scores, texts, strict=True)
    ]
    show.table(["row", *numbers, "text"], lines)
