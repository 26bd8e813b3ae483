"""Table 3: do two arguments make the same point? Of encoders as they are, and trained over folds or across topics.

Trained across topics, a model is tested on arguments of a topic that it never saw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from sbert.errors import BadInput
from sbert.evaluate.score import Score
from sbert.evaluate.suites import arguments
from sbert.evaluate.suites.sts import ScoredPairs
from sbert.evaluate.suites.task import Model, Task
from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder
from sbert.paper import baselines, measure, sources
from sbert.paper.backbone import SEED
from sbert.paper.ledger import Cell, Job
from sbert.paper.rows import Encoders, Makers, Row

COLUMNS = ("Pearson", "Spearman")
New = Callable[[], BiEncoder | CrossEncoder]


def jobs(encoders: Encoders) -> list[Job]:
    """One a row."""
    try:
        task, paths = _found(encoders)
        pairs, note = _read(encoders, task)
    except BadInput as error:
        encoders.lose("table3", error)
        return []
    texts = [*pairs.first, *pairs.second]
    as_they_are = encoders.rows(
        {
            "tf-idf": lambda: Row("tf-idf", "tf-idf", "", lambda: baselines.tfidf(texts)),
            "Avg. GloVe embeddings": encoders.glove,
            "InferSent - GloVe": encoders.infersent,
        }
    )
    found = [
        _job(encoders, row, "unsupervised", paths, partial(_as_it_is, encoders, row, task, pairs), note)
        for row in as_they_are
        if encoders.fits(row, task, "table3")
    ]
    folds = encoders.limits.argument_folds
    sections = {
        "10-fold cross-validation": (f"{folds}-fold cross-validation", partial(arguments.folds, len(pairs), folds)),
        "cross-topic": ("cross-topic", partial(arguments.topic_folds, pairs.subsets)),
    }
    for section, (shown, parts) in sections.items():
        makers: Makers = {
            f"{name}, {shown}": partial(_row, encoders, name, shown) for name in ("BERT-AFS", "SBERT-AFS")
        }
        for row in encoders.rows(makers, named=False):
            run = partial(_trained, encoders, row, pairs, parts)
            found.append(_job(encoders, row, section, paths, run, note))
    return found


def _row(encoders: Encoders, name: str, shown: str) -> Row:
    """A row of the backbone; it loads an untrained model."""
    bare = encoders.bare
    new: New = bare.cross if name == "BERT-AFS" else partial(bare.bi, "mean")
    note = f"{bare.trained_note}, trained here; the paper's is {name}-{bare.size}"
    return Row(f"{bare.named(name)}, {shown}", f"{name}-{bare.size}", note, new, bare.fingerprint)


def _job(
    encoders: Encoders, row: Row, section: str, paths: list[Path], scores: Callable[[], list[Score]], note: str
) -> Job:
    def run() -> list[Cell]:
        return [
            measure.cell(measure.Place("table3", row, column, section), score, note)
            for column, score in zip(COLUMNS, scores(), strict=True)
        ]

    return Job(encoders.key("table3", row, section, paths), f"table3: {row.name}", run)


def _as_it_is(encoders: Encoders, row: Row, task: Task[ScoredPairs], pairs: ScoredPairs) -> list[Score]:
    return task.scores(pairs, encoders.hold(row))


def _trained(
    encoders: Encoders, row: Row, pairs: ScoredPairs, parts: Callable[[], Iterator[arguments.Fold]]
) -> list[Score]:
    def train(fold: ScoredPairs) -> Model:
        return encoders.graded(row.paper.lower(), row.load, row.made_of, sources.graded(fold), SEED)

    return arguments.cross_validate("arguments", pairs, parts(), train)


def _found(encoders: Encoders) -> tuple[Task[ScoredPairs], list[Path]]:
    """The paper's set where it is there, else one that stands in for it."""
    for task in arguments.TASKS:
        try:
            return task, task.found(encoders.folder)[1]
        except BadInput:
            continue
    raise BadInput("; ".join(f"{task.name} ({task.sources[0]})" for task in arguments.TASKS) + ": none is there")


def _read(encoders: Encoders, task: Task[ScoredPairs]) -> tuple[ScoredPairs, str]:
    pairs, note = task.read(encoders.folder)
    most = encoders.limits.arguments
    if most is not None and most < len(pairs):
        note = f"{note}; {most:,} of {len(pairs):,} pairs"
        pairs = pairs.take(np.sort(measure.sample(len(pairs), most)))
    return pairs, f"{task.name}: {note}" if note else task.name
