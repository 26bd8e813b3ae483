"""``sbert distill``: unlabelled texts in, a file to train on out, labelled by a cross-encoder."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sbert.cli import show
from sbert.cli.options import INTERRUPTED, AnyModel, Columns, Json, names
from sbert.data import vectors as output
from sbert.data import writers as tables
from sbert.errors import BadInput, BadModel, counted

if TYPE_CHECKING:
    from sbert.data.rows import Rows
    from sbert.disk.workplace import Workplace
    from sbert.models.bi import BiEncoder
    from sbert.models.cross import CrossEncoder
    from sbert.types import FloatArray

_HIGHEST = 5  # scores of pairs run from 0 to 5, as those of STS files do, so that both can be trained on together


def distill(
    teacher: AnyModel,
    source: Annotated[
        str, typer.Argument(metavar="TEXTS", help="Texts, pairs or triples: txt, tsv, csv, jsonl (or .gz), parquet.")
    ],
    out: Annotated[Path, typer.Option("--output", "-o", help=".tsv, .csv, .jsonl, .parquet; triples the last two.")],
    columns: Columns = None,
    retriever: Annotated[
        str | None, typer.Option(help="Bi-encoder that finds pairs of single texts; the embedded one unless named.")
    ] = None,
    neighbours: Annotated[int, typer.Option(min=1, help="With how many others a single text is paired.")] = 5,
    json: Json = False,
) -> None:
    """Label texts with a cross-encoder, so that a bi-encoder can be trained on them.

    After an interruption the same command resumes.

    Example: sbert distill runs/cross-stsb sentences.txt -o silver.tsv
    """
    from sbert.data.rows import scan

    output.check_output(out, tables.SUFFIXES)
    output.check_other(out, source)
    rows = scan(source, names(columns))
    if len(rows.columns) > 2 and out.suffix.lower() not in (".jsonl", ".parquet"):
        raise BadInput(
            f"{source} has {len(rows.columns)} texts a row, whose scores are a list, but {out.suffix} has no lists; "
            "write .jsonl or .parquet"
        )
    tables.check_fields(out, ((row.where, {name: row.fields[name] for name in rows.columns}) for row in rows))
    texts = _single_texts(rows) if len(rows.columns) == 1 else []

    from sbert.disk.workplace import Workplace
    from sbert.models.bi import BiEncoder
    from sbert.train import distill as label

    model = label.teacher(teacher)
    place = Workplace(out.with_name(f"{out.name}.parts"))
    facts = {"columns": list(rows.columns), **label.fingerprint(model, (row.texts for row in rows))}
    encoder = BiEncoder.from_pretrained(retriever) if texts else None
    mined = {"retriever": label.weights_digest(encoder), "neighbours": neighbours} if encoder else {}
    start = time.perf_counter()
    try:
        with place.opened(facts | mined):
            examples = _paired(texts, place, encoder, neighbours) if encoder else [row.texts for row in rows]
            _label(model, examples, out, place)
    except KeyboardInterrupt:
        show.note(f"interrupted; what is labelled is kept in {place.folder}, and the same command goes on from there")
        raise typer.Exit(INTERRUPTED) from None
    except BadModel:
        place.remove()  # which a repaired model could not go on with
        raise
    place.remove()
    _report(len(examples), len(rows.columns), out, time.perf_counter() - start, json)


def _single_texts(rows: Rows) -> list[str]:
    """The different ones that are not empty."""
    texts = list(dict.fromkeys(row.texts[0] for row in rows if row.texts[0].strip()))
    if len(texts) < 2:
        raise BadInput(f"{rows.path} has {counted(len(texts), 'different text')}, but a pair needs two; give more")
    return texts


def _paired(texts: list[str], place: Workplace, encoder: BiEncoder, neighbours: int) -> list[tuple[str, ...]]:
    """Pairs of texts that are near each other."""
    from sbert.train.distill import near_pairs

    pairs = place.once("pairs", lambda: near_pairs(encoder, texts, neighbours))
    return [(texts[first], texts[second]) for first, second in pairs.tolist()]


def _label(model: CrossEncoder, examples: Sequence[Sequence[str]], out: Path, place: Workplace) -> None:
    from sbert.train.distill import WINDOW, label

    windows = [examples[start : start + WINDOW] for start in range(0, len(examples), WINDOW)]
    model.pair_truncation(windows).report("warn")
    of_pairs = len(examples[0]) == 2
    with tables.table(out) as write:
        for window, scores in label(model, windows, place, "probability" if of_pairs else "score"):
            write([_pair(*row) if of_pairs else _list(*row) for row in zip(window, scores, strict=True)])


def _pair(texts: Sequence[str], scores: FloatArray) -> dict[str, Any]:
    return {"sentence1": texts[0], "sentence2": texts[1], "score": output.numbers(_HIGHEST * scores)[0]}


def _list(texts: Sequence[str], scores: FloatArray) -> dict[str, Any]:
    negatives = {f"negative_{number}" if number else "negative": text for number, text in enumerate(texts[2:])}
    return {"query": texts[0], "positive": texts[1], **negatives, "scores": output.numbers(scores)}


def _report(count: int, columns: int, out: Path, seconds: float, json: bool) -> None:
    if json:
        show.as_json({"output": str(out), "rows": count, "seconds": round(seconds, 3)})
        return
    loss = "margin-mse" if columns > 2 else "cosine"
    learn = f"sbert train --data {quote(str(out))} --loss {loss} -o ..."
    show.note(f"{counted(count, 'row')} in {seconds:.1f} s -> {out}; learn from it: {learn}")
