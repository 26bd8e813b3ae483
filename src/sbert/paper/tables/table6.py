"""Table 6: poolings and concatenations, by the Spearman correlation on the STS benchmark's development pairs."""

from __future__ import annotations

from functools import partial

from sbert.errors import counted
from sbert.evaluate.suites import sts
from sbert.evaluate.suites.sources import Source, own, tables
from sbert.evaluate.suites.task import Task
from sbert.losses.pairs import Part
from sbert.paper import measure, rows
from sbert.paper.context import Context
from sbert.paper.ledger import Job
from sbert.paper.materials import Materials
from sbert.paper.rows import Contestant
from sbert.paper.training import CONCAT, Recipe, on_scores, sbert_nli
from sbert.types import Pooling

_PUBLISHER = "STS benchmark, ixa2.si.ehu.eus/stswiki"
_SOURCES = (
    Source(("sts-dev.csv",), _PUBLISHER, tables(sts.read_pairs, "dev")),
    own("stsb", _PUBLISHER, sts.read_pairs, "dev"),
)
TASK = Task("stsb-dev", _SOURCES, sts.similarity, ("encoder",))
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
    materials = context.materials
    cells: list[tuple[str, Pooling, tuple[Part, ...]]] = [(pooling.upper(), pooling, CONCAT) for pooling in POOLINGS]
    cells += [(f"({', '.join(concat)})", "mean", concat) for concat in CONCATENATIONS]
    columns: dict[str, rows.Makers] = {
        "NLI": {f"{cell[0]} after NLI": partial(_after_nli, materials, *cell) for cell in cells},
        "STSb": {f"{pooling.upper()} after STSb": partial(_after_stsb, materials, pooling) for pooling in POOLINGS},
    }
    return [
        job
        for column, makers in columns.items()
        for job in measure.jobs(context, "table6", context.made(makers), {column: TASK})
    ]


def _after_nli(materials: Materials, name: str, pooling: Pooling, concat: tuple[Part, ...]) -> Contestant:
    return _contestant(materials, name, sbert_nli(materials, pooling, concat), "NLI pair")


def _after_stsb(materials: Materials, pooling: Pooling) -> Contestant:
    new = partial(materials.backbone.bi_encoder, pooling)
    recipe = on_scores(materials, f"sbert-stsb-{pooling}", new, materials.backbone.digest, materials.stsb)
    return _contestant(materials, pooling.upper(), recipe, "STSb pair")


def _contestant(materials: Materials, name: str, recipe: Recipe, noun: str) -> Contestant:
    note = f"{materials.backbone.trained_note}, {counted(len(recipe.data), noun)}, one seed"
    return rows.by_recipe(materials, recipe, name, name, note, materials.backbone.comparable)
