"""Table 2: Spearman on the STS benchmark's test pairs, of encoders trained on others, on its own, or on both in turn.

Those trained on it are trained with several seeds: the cell is the mean, with its standard deviation beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from sbert.errors import BadInput
from sbert.evaluate import sts
from sbert.evaluate.tasks import Options
from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder
from sbert.paper import measure, sources
from sbert.paper.cells import Cell, Job
from sbert.paper.encoders import Encoders, Row

TASK = next(task for task in sts.ENGLISH if task.name == "stsb")
New = Callable[[], BiEncoder | CrossEncoder]


def jobs(encoders: Encoders) -> list[Job]:
    """One a row."""
    rows = encoders.rows(encoders.glove, encoders.bert, encoders.infersent, encoders.universal, encoders.sbert_nli)
    found = measure.jobs(encoders, "table2", rows, {"Spearman": TASK})
    try:
        pairs, nli = len(encoders.stsb), len(encoders.nli)
    except BadInput as error:
        encoders.missing.append(f"table2: {error}")
        return found
    on_stsb, on_both = f"{pairs:,} STSb pairs", f"{nli:,} NLI pairs, then {pairs:,} of STSb"
    sbert, bert = encoders.family, encoders.family.removeprefix("S")
    trained: list[tuple[str, str, New]] = [
        (f"{bert}-STSb", on_stsb, encoders.cross),
        (f"{sbert}-STSb", on_stsb, partial(encoders.bare, "mean")),
        (f"{bert}-NLI-STSb", on_both, lambda: encoders.cross(start=encoders.cross_nli_folder())),
        (f"{sbert}-NLI-STSb", on_both, lambda: BiEncoder.from_pretrained(encoders.nli_folder())),
    ]
    return found + [_job(encoders, name, trained_on, new) for name, trained_on, new in trained]


def _job(encoders: Encoders, name: str, trained_on: str, new: New) -> Job:
    seeds = encoders.limits.seeds
    note = f"{encoders.trained_note}, {trained_on}; mean over {len(seeds)} seeds"
    row = Row(name, f"{name}-{encoders.size}", note, new)

    def run() -> list[Cell]:
        began = time.perf_counter()
        data, _ = TASK.read(encoders.folder)
        pairs, cut_note = measure.cut(data, encoders.limits.test)
        values = []
        for seed in seeds:
            model = encoders.graded(name.lower(), new, encoders.stsb, seed)
            values.append(sts.score("stsb", pairs, model, Options())[0].value)
        return measure.over_seeds(measure.Place("table2", row, "Spearman"), values, len(pairs), began, cut_note)

    key = encoders.key("table2", row, "Spearman", sources.of_task(encoders.folder, TASK))
    return Job(key, f"table2: {name}, {len(seeds)} seeds", run)
