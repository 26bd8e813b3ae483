"""``sbert distill``: unlabelled texts in, a file to train on out, labelled by a cross-encoder."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from sbert.cli import show
from sbert.cli.options import INTERRUPTED, Columns, Device, Format, Json, names
from sbert.data.rows import Rows, scan
from sbert.data.writers import TABLE_SUFFIXES, check_fields, check_output, numbers, open_table
from sbert.disk.workplace import Workplace
from sbert.errors import BadInput, BadModel, counted
from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder
from sbert.train import distill as labelling
from sbert.types import FloatArray, Output

_HIGHEST = 5
"""The scores of pairs go from 0 to 5, as in STS files, so that a model can be trained on both together."""


def distill(
    teacher: Annotated[
        str, typer.Argument(metavar="MODEL", help="Trained cross-encoder with one score: a folder or a name.")
    ],
    source: Annotated[
        str,
        typer.Argument(
            metavar="TEXTS",
            help="Texts, pairs or triples: txt, tsv, csv, jsonl, json (or .gz), parquet; - reads standard input.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--output", "-o", help=".tsv, .csv, .jsonl or .parquet; triples need .jsonl or .parquet.")
    ],
    columns: Columns = None,
    kind: Format = None,
    retriever: Annotated[
        str | None, typer.Option(help="Bi-encoder that pairs single texts. Defaults to all-MiniLM-L6-v2.")
    ] = None,
    neighbours: Annotated[int, typer.Option(min=1, help="Number of texts to pair each single text with.")] = 5,
    device: Device = None,
    json: Json = False,
) -> None:
    """Label texts with a cross-encoder, so that a bi-encoder can be trained on them.

    After an interruption the same command resumes.

    Example: sbert distill runs/cross-stsb sentences.txt -o silver.tsv
    """
    check_output(out, TABLE_SUFFIXES, source)
    rows = scan(source, names(columns), kind)
    if len(rows.columns) > 2 and out.suffix.lower() not in (".jsonl", ".parquet"):
        raise BadInput(
            f"{rows.source.name} has {len(rows.columns)} texts a row, whose scores are a list, but {out.suffix} has "
            "no lists; write .jsonl or .parquet"
        )
    check_fields(out, rows, rows.columns)
    texts = _single_texts(rows) if len(rows.columns) == 1 else []
    model = labelling.teacher(teacher, device)
    place = Workplace(out.with_name(f"{out.name}.parts"))
    facts = {"columns": list(rows.columns), **labelling.fingerprint(model, (row.texts for row in rows))}
    encoder = BiEncoder.from_pretrained(retriever, device=device) if texts else None
    mined = {"retriever": labelling.weights_digest(encoder), "neighbours": neighbours} if encoder else {}
    start = time.perf_counter()
    try:
        with place.opened(facts | mined):
            examples = _paired(texts, place, encoder, neighbours) if encoder else [row.texts for row in rows]
            _label(model, examples, out, place)
    except KeyboardInterrupt:
        show.note(f"interrupted; finished labels are kept in {place.folder}, and the same command resumes")
        raise typer.Exit(INTERRUPTED) from None
    except BadModel:
        place.remove()  # a repaired model could not go on with the labels of a broken one
        raise
    place.remove()
    _report(len(examples), len(rows.columns), out, time.perf_counter() - start, json)


def _single_texts(rows: Rows) -> list[str]:
    """Return the distinct texts that are not empty."""
    texts = list(dict.fromkeys(row.texts[0] for row in rows if row.texts[0].strip()))
    if len(texts) < 2:
        found = counted(len(texts), "different text")
        raise BadInput(f"{rows.source.name} has {found}, but a pair needs two; give more")
    return texts


def _paired(texts: list[str], place: Workplace, encoder: BiEncoder, neighbours: int) -> list[tuple[str, ...]]:
    """Return pairs of texts that are close to each other."""
    pairs = place.once("pairs", lambda: labelling.near_pairs(encoder, texts, neighbours))
    return [(texts[first], texts[second]) for first, second in pairs.tolist()]


def _label(model: CrossEncoder, examples: Sequence[Sequence[str]], out: Path, place: Workplace) -> None:
    size = labelling.WINDOW
    windows = [examples[start : start + size] for start in range(0, len(examples), size)]
    model.pair_truncation(windows).report("warn")
    output: Output = "probability" if len(examples[0]) == 2 else "score"
    with open_table(out) as write:
        for window, scores in labelling.label(model, windows, place, output):
            write([_record(*row) for row in zip(window, scores, strict=True)])


def _record(texts: Sequence[str], scores: FloatArray) -> dict[str, Any]:
    """Return a pair with its score, or a query with its texts and their scores."""
    if len(texts) == 2:
        return {"sentence1": texts[0], "sentence2": texts[1], "score": numbers(_HIGHEST * scores)[0]}
    negatives = {f"negative_{number}" if number else "negative": text for number, text in enumerate(texts[2:])}
    return {"query": texts[0], "positive": texts[1], **negatives, "scores": numbers(scores)}


def _report(count: int, columns: int, out: Path, seconds: float, json: bool) -> None:
    if json:
        show.as_json({"output": str(out), "rows": count, "seconds": round(seconds, 3)})
        return
    loss = "margin-mse" if columns > 2 else "cosine"
    command = f"sbert train --data {quote(str(out))} --loss {loss} -o ..."
    show.note(f"{counted(count, 'row')} in {seconds:.1f} s -> {out}; train on it with: {command}")
