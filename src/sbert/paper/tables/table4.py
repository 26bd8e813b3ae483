"""Table 4: accuracy of telling sentences of the same Wikipedia section from sentences of another section."""

from __future__ import annotations

from functools import partial

from sbert import losses
from sbert.errors import counted
from sbert.evaluate.suites import sections
from sbert.paper import measure, rows
from sbert.paper.context import Context
from sbert.paper.ledger import Job
from sbert.paper.materials import Materials
from sbert.paper.rows import Contestant
from sbert.paper.training import on_backbone

(TASK,) = sections.TASKS


def jobs(context: Context) -> list[Job]:
    """Return one job for each row."""
    materials = context.materials
    makers: rows.Makers = {
        "mean-vectors": partial(rows.glove, materials, "mean-vectors"),
        "Dor et al.": partial(_dor, materials),
        "SBERT-WikiSec": partial(_sbert, materials),
    }
    return measure.jobs(context, "table4", context.contestants(makers), {"Accuracy": TASK})


def _dor(materials: Materials) -> Contestant:
    return rows.trained_bilstm(materials, "Dor et al.", "dor", materials.sections, lambda _: losses.triplet, "triplet")


def _sbert(materials: Materials) -> Contestant:
    triplets, backbone = materials.sections, materials.backbone
    name, paper = f"{backbone.family}-WikiSec", f"{backbone.family}-WikiSec-{backbone.size}"
    recipe = on_backbone(materials, name.lower(), backbone.bi_encoder, triplets, lambda _: losses.triplet)
    note = f"{backbone.trained_note}, trained on {counted(len(triplets), 'triplet')}; the paper's is {paper}"
    return rows.by_recipe(materials, recipe, name, paper, note, backbone.comparable)
