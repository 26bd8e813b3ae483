"""Table 6: which pooling and which concatenation matter, by Spearman on the STS benchmark's development pairs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from sbert.errors import BadInput, counted
from sbert.evaluate.suites import sts
from sbert.evaluate.suites.task import Model
from sbert.losses.softmax import Part
from sbert.models.bi import BiEncoder
from sbert.paper import measure, sources
from sbert.paper.backbone import SEED
from sbert.paper.ledger import Cell, Job
from sbert.paper.rows import CONCAT, Encoders, Makers, Row
from sbert.types import Pooling

TASK = next(task for task in sts.ENGLISH if task.name == "stsb")
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
    except BadInput as error:
        encoders.lose("table6", error)
        return []
    cells: list[tuple[str, Pooling, tuple[Part, ...]]] = [(pooling.upper(), pooling, CONCAT) for pooling in POOLINGS]
    cells += [(f"({', '.join(concat)})", "mean", concat) for concat in CONCATENATIONS]
    rows: dict[str, Makers] = {
        "NLI": {f"{cell[0]} after NLI": partial(_after_nli, encoders, *cell) for cell in cells},
        "STSb": {f"{pooling.upper()} after STSb": partial(_after_stsb, encoders, pooling) for pooling in POOLINGS},
    }
    return [
        _job(encoders, path, row, column)
        for column, makers in rows.items()
        for row in encoders.rows(makers, named=False)
    ]


def _job(encoders: Encoders, path: Path, row: Row, column: str) -> Job:
    place = measure.Place("table6", row, column)

    def run() -> list[Cell]:
        pairs, note = measure.cut(sts.pairs_from_table("dev")([path]), encoders.limits.test)
        (score,) = TASK.scores(pairs, encoders.hold(row))
        return [measure.cell(place, score, note)]

    return Job(encoders.key("table6", row, column, [path]), f"table6: {row.name}, {column}", run)


def _after_nli(encoders: Encoders, name: str, pooling: Pooling, concat: tuple[Part, ...]) -> Row:
    def load() -> BiEncoder:
        return BiEncoder.from_pretrained(encoders.nli_folder(pooling, concat))

    return _row(encoders, name, counted(len(encoders.nli), "NLI pair"), load, encoders.after_nli)


def _after_stsb(encoders: Encoders, pooling: Pooling) -> Row:
    stsb, start = encoders.stsb, encoders.bare.fingerprint

    def load() -> Model:
        return encoders.graded(f"sbert-stsb-{pooling}", partial(encoders.bare.bi, pooling), start, stsb, SEED)

    return _row(encoders, pooling.upper(), counted(len(stsb), "STSb pair"), load, f"{start} {stsb.fingerprint}")


def _row(encoders: Encoders, name: str, trained_on: str, load: Callable[[], Model], made_of: str) -> Row:
    return Row(name, name, f"{encoders.bare.trained_note}, {trained_on}, one seed", load, made_of)
