"""Table 6: poolings and concatenations, by the Spearman correlation on the STS benchmark's development pairs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from sbert.errors import BadInput, counted
from sbert.evaluate.suites import sts
from sbert.evaluate.suites.task import Model, Options
from sbert.losses.pairs import Part
from sbert.models.bi import BiEncoder
from sbert.paper import measure, rows
from sbert.paper.backbone import SEED
from sbert.paper.context import Context
from sbert.paper.ledger import Cell, Job
from sbert.paper.materials import STSB_DEV, Materials
from sbert.paper.rows import Contestant, Row
from sbert.paper.training import CONCAT, sbert_nli, train_graded
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


def jobs(context: Context) -> list[Job]:
    """Return one job for each cell; mean pooling and (u, v, |u-v|) are one model, which table 1 has, too."""
    try:
        path = context.materials.find(STSB_DEV)
    except BadInput as error:
        context.lacks("table6", error)
        return []
    cells: list[tuple[str, Pooling, tuple[Part, ...]]] = [(pooling.upper(), pooling, CONCAT) for pooling in POOLINGS]
    cells += [(f"({', '.join(concat)})", "mean", concat) for concat in CONCATENATIONS]
    materials = context.materials
    columns: dict[str, rows.Makers] = {
        "NLI": {f"{cell[0]} after NLI": partial(_after_nli, materials, *cell) for cell in cells},
        "STSb": {f"{pooling.upper()} after STSb": partial(_after_stsb, materials, pooling) for pooling in POOLINGS},
    }
    return [
        _job(context, path, contestant, column)
        for column, makers in columns.items()
        for contestant in context.contestants(makers, with_named=False)
    ]


def _job(context: Context, path: Path, contestant: Contestant, column: str) -> Job:
    row = contestant.row

    def run() -> list[Cell]:
        pairs, sampled = measure.sample(sts.pairs_from_table("dev")([path]), context.materials.limits.test)
        score, *_ = sts.similarity(pairs, Options()).scores(context.model(contestant))
        return [measure.cell(measure.Place("table6", row, column), score, sampled)]

    return Job(context.key("table6", row, column, [path]), f"table6: {row.name}, {column}", run)


def _after_nli(materials: Materials, name: str, pooling: Pooling, concat: tuple[Part, ...]) -> Contestant:
    def load() -> BiEncoder:
        return BiEncoder.from_pretrained(sbert_nli(materials, pooling, concat))

    return _contestant(materials, name, counted(len(materials.nli), "NLI pair"), load, materials.after_nli)


def _after_stsb(materials: Materials, pooling: Pooling) -> Contestant:
    stsb, start = materials.stsb, materials.backbone.digest
    new = partial(materials.backbone.bi_encoder, pooling)
    load = partial(train_graded, materials, f"sbert-stsb-{pooling}", new, start, stsb, SEED)
    made_of = f"{start} {stsb.fingerprint}"
    return _contestant(materials, pooling.upper(), counted(len(stsb), "STSb pair"), load, made_of)


def _contestant(
    materials: Materials, name: str, trained_on: str, load: Callable[[], Model], made_of: str
) -> Contestant:
    row = Row(name, name, f"{materials.backbone.trained_note}, {trained_on}, one seed", made_of)
    return Contestant(row, load)
