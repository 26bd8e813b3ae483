"""Table 6: which pooling and which concatenation matter, by Spearman on the STS benchmark's development pairs."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from sbert.errors import BadInput
from sbert.evaluate import sts
from sbert.evaluate.tasks import Model, Options
from sbert.losses.softmax import Part
from sbert.models.bi import BiEncoder
from sbert.paper import measure, sources
from sbert.paper.cells import Cell, Job
from sbert.paper.encoders import CONCAT, SEED, Encoders, Row
from sbert.types import Pooling

POOLINGS: tuple[Pooling, ...] = ("mean", "max", "cls")
CONCATENATIONS: tuple[tuple[Part, ...], ...] = (
    ("u", "v"),
    ("|u-v|",),
    ("u*v",),
    ("|u-v|", "u*v"),
    ("u", "v", "u*v"),
    CONCAT,
    (*CONCAT, "u*v"),
)


def jobs(encoders: Encoders) -> list[Job]:
    """One a cell; those trained on NLI with mean pooling and (u, v, |u-v|) are one model, table 1's."""
    try:
        path = sources.find(encoders.folder, sources.STSB_DEV)
        nli, stsb = encoders.nli, encoders.stsb
    except BadInput as error:
        encoders.missing.append(f"table6: {error}")
        return []
    after_nli, after_stsb = f"{len(nli):,} NLI pairs", f"{len(stsb):,} STSb pairs"
    cells = [("NLI", after_nli, pooling.upper(), pooling, CONCAT) for pooling in POOLINGS]
    cells += [("NLI", after_nli, f"({', '.join(concat)})", "mean", concat) for concat in CONCATENATIONS]
    found = [
        _job(encoders, path, name, column, trained_on, partial(_after_nli, encoders, pooling, concat))
        for column, trained_on, name, pooling, concat in cells
    ]
    return found + [
        _job(encoders, path, pooling.upper(), "STSb", after_stsb, partial(_after_stsb, encoders, pooling))
        for pooling in POOLINGS
    ]


def _job(encoders: Encoders, path: Path, name: str, column: str, trained_on: str, load: Callable[[], Model]) -> Job:
    row = Row(name, name, f"{encoders.trained_note}, {trained_on}, one seed", load)
    place = measure.Place("table6", row, column)

    def run() -> list[Cell]:
        began = time.perf_counter()
        pairs, note = measure.cut(sts.table("dev")([path]), encoders.limits.test)
        (score,) = sts.score("stsb_dev", pairs, encoders.hold(row), Options())
        return [measure.cell(place, score, began, note)]

    return Job(encoders.key("table6", row, column, [path]), f"table6: {name}, {column}", run)


def _after_nli(encoders: Encoders, pooling: Pooling, concat: tuple[Part, ...]) -> BiEncoder:
    return BiEncoder.from_pretrained(encoders.nli_folder(pooling, concat))


def _after_stsb(encoders: Encoders, pooling: Pooling) -> Model:
    return encoders.graded(f"sbert-stsb-{pooling}", partial(encoders.bare, pooling), encoders.stsb, SEED)
