"""Table 2: Spearman correlation on the STS benchmark's test pairs, with and without training on the benchmark.

Models trained on the benchmark are trained with several random seeds; the table shows the mean and the standard
deviation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from sbert.errors import BadInput, counted
from sbert.evaluate.suites import sts
from sbert.paper import measure, rows
from sbert.paper.context import Context
from sbert.paper.ledger import Cell, Job
from sbert.paper.rows import Row
from sbert.paper.training import cross_nli, on_scores, sbert_nli, train, trained

TASK = next(task for task in sts.ENGLISH if task.name == "stsb")


def jobs(context: Context) -> list[Job]:
    """Return one job for each row."""
    materials, backbone = context.materials, context.materials.backbone
    usual = rows.usual(materials)
    del usual["BERT CLS-vector"]
    found = measure.jobs(context, "table2", context.contestants(usual), {"Spearman": TASK})
    try:
        _, paths = TASK.found(materials.folder)
    except BadInput:  # which has been noted above
        return found
    untrained: dict[str, Callable[[], Any]] = {
        "BERT-STSb": backbone.cross_encoder,
        "SBERT-STSb": backbone.bi_encoder,
        "BERT-NLI-STSb": lambda: backbone.cross_encoder(start=train(cross_nli(materials), materials)),
        "SBERT-NLI-STSb": lambda: trained(sbert_nli(materials), materials),
    }
    return found + context.made({name: partial(_job, context, name, new, paths) for name, new in untrained.items()})


def _job(context: Context, name: str, new: Callable[[], Any], paths: list[Path]) -> Job:
    """Return the job of a row whose models are trained on the benchmark, one for each seed."""
    materials, backbone, seeds = context.materials, context.materials.backbone, context.materials.limits.seeds
    if "NLI" in name:
        trained_on = f"{counted(len(materials.nli), 'NLI pair')}, then {len(materials.stsb):,} of STSb"
        start = f"{backbone.digest} {materials.nli.fingerprint}"
    else:
        trained_on, start = counted(len(materials.stsb), "STSb pair"), backbone.digest
    name = backbone.named(name)
    note = f"{backbone.trained_note}, {trained_on}; mean over {counted(len(seeds), 'seed')}"
    made_of = f"{start} {materials.stsb.fingerprint}"
    row = Row(name, f"{name}-{backbone.size}", note, made_of, comparable=backbone.comparable)

    def run() -> list[Cell]:
        data, _ = TASK.read(materials.folder)
        pairs, sampled = measure.sample(data, materials.limits.test)
        recipes = (on_scores(materials, name.lower(), new, start, materials.stsb, seed) for seed in seeds)
        values = [TASK.scores(pairs, trained(recipe, materials))[0].value for recipe in recipes]
        return measure.cells_over_seeds(measure.Place("table2", row, "Spearman"), values, len(pairs), sampled)

    key = context.key("table2", row, "Spearman", paths)
    return Job(key, f"table2: {name}, {counted(len(seeds), 'seed')}", run)
