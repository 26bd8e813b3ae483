"""``sbert similarity``: how near two texts are, or every text of a file to every other."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from sbert.cli import show
from sbert.cli.options import Column, Format, Json, ModelName
from sbert.data.files import FORMATS
from sbert.data.rows import read_texts
from sbert.data.writers import check_output
from sbert.disk.files import whole_file
from sbert.errors import BadInput, WrongUsage, check_value
from sbert.text import display

if TYPE_CHECKING:
    from sbert.types import FloatArray, Similarity

_MOST_TEXTS = 2000
_SHOWN = 60
_PLOT_SUFFIXES = (".png", ".svg", ".pdf")


def similarity(
    first: Annotated[str, typer.Argument(metavar="A", help="A text; or alone, a file of texts (- is stdin).")],
    second: Annotated[str | None, typer.Argument(metavar="B", help="Another text.")] = None,
    measure: Annotated[
        str | None, typer.Option(help="cosine, dot, euclidean or manhattan; the model's own unless named.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="FILE as a heat map: .png, .svg or .pdf.")] = None,
    model: ModelName = None,
    column: Column = None,
    kind: Format = None,
    json: Json = False,
) -> None:
    """Compare two texts, or all texts of a file with each other. Distances come out negative: higher is nearer."""
    _check(first, measure, plot)
    _check_texts(first, second, kind, plot)
    texts = [row.texts[0] for row in read_texts(first, column, kind)] if second is None else [first, second]
    if len(texts) > _MOST_TEXTS:
        raise BadInput(
            f"{first} holds {len(texts):,} texts, but a matrix is for at most {_MOST_TEXTS:,}; see: sbert pairs"
        )

    from sbert.models.bi import BiEncoder

    encoder = BiEncoder.from_pretrained(model)
    if measure is not None:
        encoder.similarity_fn_name = cast("Similarity", measure)
    vectors = encoder.encode(texts, show_progress_bar=second is None)
    scores = encoder.similarity(vectors, vectors)  # (N, N)
    if plot is not None:
        from sbert.pages.heatmap import draw

        with whole_file(plot) as file:
            draw(file, plot.suffix[1:].lower(), texts, scores, encoder.similarity_fn_name)
        show.note(f"{len(texts)} x {len(texts)} -> {plot}")
    if json and second is not None:
        show.as_json({"measure": encoder.similarity_fn_name, "score": float(scores[0, 1])})
    elif json:
        show.as_json({"measure": encoder.similarity_fn_name, "texts": texts, "scores": scores.tolist()})
    elif second is not None:
        show.line(display.number(float(scores[0, 1]), 4))
    elif plot is None:
        _print_matrix(texts, scores)


def _is_text(argument: str) -> bool:
    """Neither a file nor called like one; a text may be too long for a path, which ``os.path.exists`` survives."""
    called_like_one = argument.lower().removesuffix(".gz").endswith(tuple(f".{name}" for name in FORMATS))
    return argument != "-" and not called_like_one and not os.path.exists(argument)


def _check(first: str, measure: str | None, plot: Path | None) -> None:
    from sbert.types import Similarity

    if measure is not None:
        check_value("--measure", measure, get_args(Similarity))
    if plot is not None:
        check_output(plot, _PLOT_SUFFIXES, first)


def _check_texts(first: str, second: str | None, kind: str | None, plot: Path | None) -> None:
    if second is None and kind is None and _is_text(first):
        raise BadInput(
            f"got {display.shorten(first, _SHOWN)!r} alone, which is no file, but need two to compare, or a file of "
            "texts; give a second text, or name a file"
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
