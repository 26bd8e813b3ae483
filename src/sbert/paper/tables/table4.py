"""Table 4: accuracy of telling sentences of the same Wikipedia section from sentences of another section."""

from __future__ import annotations

from functools import partial

from sbert import losses
from sbert.errors import counted
from sbert.evaluate.suites import sections
from sbert.models.bi import BiEncoder
from sbert.paper import measure, rows
from sbert.paper.context import Context
from sbert.paper.ledger import Job
from sbert.paper.materials import Materials
from sbert.paper.rows import Contestant, Row
from sbert.paper.training import Recipe, train

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
    triplets = materials.sections
    trained_on = counted(len(triplets), "triplet")
    return rows.trained_bilstm(materials, "Dor et al.", "dor", triplets, lambda _: losses.triplet, trained_on)


def _sbert(materials: Materials) -> Contestant:
    triplets, backbone = materials.sections, materials.backbone
    name = f"{backbone.family}-WikiSec"
    recipe = Recipe(
        name=name.lower(),
        new=backbone.bi_encoder,
        start=backbone.digest,
        data=triplets,
        loss=lambda _: losses.triplet,
        learning_rate=backbone.learning_rate,
    )
    paper = f"{name}-{backbone.size}"
    note = f"{backbone.trained_note}, trained on {counted(len(triplets), 'triplet')}; the paper's is {paper}"
    row = Row(name, paper, note, f"{recipe.start} {triplets.fingerprint}")
    return Contestant(row, lambda: BiEncoder.from_pretrained(train(recipe, materials)))
