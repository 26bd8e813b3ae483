"""Table 2: Spearman correlation on the STS benchmark's test pairs, with and without training on the benchmark.

Models trained on the benchmark are trained with several random seeds; the table shows the mean and the standard
deviation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from sbert.errors import BadInput, counted
from sbert.evaluate.suites import sts
from sbert.models.bi import BiEncoder
from sbert.paper import measure, rows
from sbert.paper.context import Context
from sbert.paper.ledger import Cell, Job
from sbert.paper.materials import Materials
from sbert.paper.rows import Row
from sbert.paper.training import Graded, cross_nli, sbert_nli, train_graded

TASK = next(task for task in sts.ENGLISH if task.name == "stsb")


class Trained(NamedTuple):
    """A row whose models are trained on the benchmark, one for each seed."""

    row: Row
    new: Callable[[], Graded]
    start: str


def jobs(context: Context) -> list[Job]:
    """Return one job for each row."""
    usual = rows.usual(context.materials)
    del usual["BERT CLS-vector"]
    found = measure.jobs(context, "table2", context.contestants(usual), {"Spearman": TASK})
    try:
        _, paths = TASK.found(context.materials.folder)
    except BadInput:  # which has been noted above
        return found
    makers = _trained_rows(context.materials)
    return found + [_job(context, trained, paths) for trained in context.made(makers)]


def _trained_rows(materials: Materials) -> Mapping[str, Callable[[], Trained]]:
    backbone = materials.backbone
    on_stsb: dict[str, Callable[[], Graded]] = {
        "BERT-STSb": backbone.cross_encoder,
        "SBERT-STSb": backbone.bi_encoder,
    }
    on_both: dict[str, Callable[[], Graded]] = {
        "BERT-NLI-STSb": lambda: backbone.cross_encoder(start=cross_nli(materials)),
        "SBERT-NLI-STSb": lambda: BiEncoder.from_pretrained(sbert_nli(materials)),
    }
    return {name: partial(_after_stsb, materials, name, new) for name, new in on_stsb.items()} | {
        name: partial(_after_both, materials, name, new) for name, new in on_both.items()
    }


def _after_stsb(materials: Materials, name: str, new: Callable[[], Graded]) -> Trained:
    return _trained(materials, name, new, counted(len(materials.stsb), "STSb pair"), materials.backbone.digest)


def _after_both(materials: Materials, name: str, new: Callable[[], Graded]) -> Trained:
    trained_on = f"{counted(len(materials.nli), 'NLI pair')}, then {len(materials.stsb):,} of STSb"
    return _trained(materials, name, new, trained_on, materials.after_nli)


def _trained(materials: Materials, name: str, new: Callable[[], Graded], trained_on: str, start: str) -> Trained:
    backbone = materials.backbone
    name = backbone.named(name)
    seeds = counted(len(materials.limits.seeds), "seed")
    note = f"{backbone.trained_note}, {trained_on}; mean over {seeds}"
    row = Row(name, f"{name}-{backbone.size}", note, f"{start} {materials.stsb.fingerprint}")
    return Trained(row, new, start)


def _job(context: Context, trained: Trained, paths: list[Path]) -> Job:
    materials, (row, new, start) = context.materials, trained
    seeds = materials.limits.seeds

    def run() -> list[Cell]:
        data, _ = TASK.read(materials.folder)
        pairs, sampled = measure.sample(data, materials.limits.test)
        models = (train_graded(materials, row.name.lower(), new, start, materials.stsb, seed) for seed in seeds)
        values = [TASK.scores(pairs, model)[0].value for model in models]
        return measure.cells_over_seeds(measure.Place("table2", row, "Spearman"), values, len(pairs), sampled)

    key = context.key("table2", row, "Spearman", paths)
    return Job(key, f"table2: {row.name}, {counted(len(seeds), 'seed')}", run)
