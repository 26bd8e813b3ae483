"""Table 2: Spearman on the STS benchmark's test pairs, of encoders trained on others, on its own, or on both in turn.

Those trained on it are trained with several seeds: the cell is the mean, with its standard deviation beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from sbert.errors import BadInput, counted
from sbert.evaluate.suites import sts
from sbert.evaluate.suites.task import Model
from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder
from sbert.paper import measure
from sbert.paper.ledger import Cell, Job
from sbert.paper.rows import Encoders, Makers, Row

TASK = next(task for task in sts.ENGLISH if task.name == "stsb")
New = Callable[[], BiEncoder | CrossEncoder]


def jobs(encoders: Encoders) -> list[Job]:
    """One a row."""
    usual = encoders.usual
    del usual["BERT CLS-vector"]
    found = measure.jobs(encoders, "table2", encoders.rows(usual), {"Spearman": TASK})
    try:
        _, paths = TASK.found(encoders.folder)
    except BadInput:  # which the line above has said
        return found
    return found + [_job(encoders, row, paths) for row in encoders.rows(_trained(encoders), named=False)]


def _trained(encoders: Encoders) -> Makers:
    """Rows of the backbone; what they load is a model for each seed."""
    bare = encoders.bare
    on_stsb: dict[str, New] = {"BERT-STSb": bare.cross, "SBERT-STSb": partial(bare.bi, "mean")}
    on_both: dict[str, New] = {
        "BERT-NLI-STSb": lambda: bare.cross(start=encoders.cross_nli_folder()),
        "SBERT-NLI-STSb": lambda: BiEncoder.from_pretrained(encoders.nli_folder()),
    }
    makers: Makers = {name: partial(_after_stsb, encoders, name, new) for name, new in on_stsb.items()}
    makers |= {name: partial(_after_both, encoders, name, new) for name, new in on_both.items()}
    return makers


def _after_stsb(encoders: Encoders, name: str, new: New) -> Row:
    return _row(encoders, name, new, counted(len(encoders.stsb), "STSb pair"), encoders.bare.fingerprint)


def _after_both(encoders: Encoders, name: str, new: New) -> Row:
    trained_on = f"{counted(len(encoders.nli), 'NLI pair')}, then {len(encoders.stsb):,} of STSb"
    return _row(encoders, name, new, trained_on, encoders.after_nli)


def _row(encoders: Encoders, name: str, new: New, trained_on: str, start: str) -> Row:
    name = encoders.bare.named(name)
    seeds = encoders.limits.seeds
    note = f"{encoders.bare.trained_note}, {trained_on}; mean over {counted(len(seeds), 'seed')}"

    def load() -> Iterator[Model]:
        return (encoders.graded(name.lower(), new, start, encoders.stsb, seed) for seed in seeds)

    return Row(name, f"{name}-{encoders.bare.size}", note, load, f"{start} {encoders.stsb.fingerprint}")


def _job(encoders: Encoders, row: Row, paths: list[Path]) -> Job:
    def run() -> list[Cell]:
        data, _ = TASK.read(encoders.folder)
        pairs, cut_note = measure.cut(data, encoders.limits.test)
        values = [TASK.scores(pairs, model)[0].value for model in row.load()]
        return measure.over_seeds(measure.Place("table2", row, "Spearman"), values, len(pairs), cut_note)

    key = encoders.key("table2", row, "Spearman", paths)
    return Job(key, f"table2: {row.name}, {counted(len(encoders.limits.seeds), 'seed')}", run)
