"""``sbert mine``: finds hard negatives for training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import numpy as np
import typer

from sbert.cli import show
from sbert.cli.corpus import check_outputs
from sbert.cli.options import Columns, Device, Format, Json, ModelName, names
from sbert.data.rows import read_texts, scan
from sbert.data.writers import TABLE_SUFFIXES, check_record, open_table
from sbert.disk.progress import Progress
from sbert.errors import BadInput, counted
from sbert.explore.negatives import NegativeOptions, ScorePairs, mine_negatives
from sbert.models.bi import BiEncoder
from sbert.models.load import load

_WINDOW = 1024


def mine(
    source: Annotated[str, typer.Argument(metavar="PAIRS", help="File of anchors and matching texts.")],
    out: Annotated[Path, typer.Option("--output", "-o", help="Triplets: .tsv, .csv, .jsonl or .parquet.")],
    corpus: Annotated[str | None, typer.Option(metavar="FILE", help="More texts to choose negatives from.")] = None,
    count: Annotated[int, typer.Option(min=1, help="Number of negatives of each pair.")] = 1,
    skip: Annotated[int, typer.Option(min=0, help="Number of nearest texts to skip.")] = 0,
    depth: Annotated[int, typer.Option(min=1, help="Number of nearest texts to choose from.")] = 50,
    margin: Annotated[
        float, typer.Option(help="Minimum difference between the scores of positive and negative.")
    ] = 0.05,
    most_score: Annotated[float, typer.Option(help="Maximum score of a negative.")] = 0.95,
    rescore: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Cross-encoder that scores the candidates again.")
    ] = None,
    model: ModelName = None,
    columns: Columns = None,
    kind: Format = None,
    device: Device = None,
    json: Json = False,
) -> None:
    """Find hard negatives: texts near to an anchor that do not belong to it, as triplets for sbert train.

    Example: sbert mine questions_answers.tsv -o triplets.tsv --margin 0.1
    """
    check_outputs([source, corpus], {"-o": (out, TABLE_SUFFIXES)})
    options = NegativeOptions(count, skip, depth, margin, most_score)
    rows = scan(source, names(columns), kind)
    if len(rows.columns) != 2:
        raise BadInput(
            f"{rows.source.name} has {counted(len(rows.columns), 'text')} a row, but an anchor and its text are "
            "expected; name them with --columns"
        )
    pairs = [cast(tuple[str, str], row.texts) for row in rows]
    more = [] if corpus is None else [row.texts[0] for row in read_texts(corpus)]
    for row, text in enumerate([*(text for pair in pairs for text in pair), *more]):
        check_record(out, {"text": text}, f"text {row}")
    encoder = BiEncoder.from_pretrained(model, device=device)
    found = set[tuple[str, str]]()
    written = 0
    with open_table(out) as write, Progress(len(set(pairs)), "pairs", True) as progress:
        window = []
        for triplet in mine_negatives(pairs, encoder.encode, options, more, _scorer(rescore, device)):
            window.append({"anchor": triplet.anchor, "positive": triplet.positive, "negative": triplet.negative})
            if (triplet.anchor, triplet.positive) not in found:
                found.add((triplet.anchor, triplet.positive))
                progress.add(1)
            if len(window) == _WINDOW:
                write(window)
                written, window = written + len(window), []
        write(window)
        written += len(window)
        if not written:
            raise BadInput("no text is a hard negative; use a smaller --margin, a higher --most-score or more --depth")
    without = len(set(pairs)) - len(found)
    facts: dict[str, object] = {"triplets": written, "pairs": len(set(pairs)), "without": without}
    show.summary(out, facts, f"{counted(written, 'triplet')}; {counted(without, 'pair')} without a negative", json)


def _scorer(name: str | None, device: str | None) -> ScorePairs | None:
    if name is None:
        return None
    model = load(name, device=device)
    return lambda pairs: np.asarray(model.score_pairs(pairs))
