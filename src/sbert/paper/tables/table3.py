"""Table 3: similarity of arguments, of encoders without training, and trained over folds or across topics.

A model that is trained across topics is tested on a topic it was not trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sbert.data import Columns
from sbert.errors import BadInput
from sbert.evaluate.score import Score
from sbert.evaluate.suites import arguments
from sbert.evaluate.suites.sts import ScoredPairs
from sbert.evaluate.suites.task import Model, Task
from sbert.models.tfidf import TfIdf
from sbert.paper import measure, rows
from sbert.paper.context import Context
from sbert.paper.ledger import Cell, Job
from sbert.paper.rows import Contestant, Row
from sbert.paper.training import on_scores, trained

COLUMNS = ("Pearson", "Spearman")
Folds = Callable[[], Iterator[arguments.Fold]]


class Data(NamedTuple):
    """The argument pairs of the run."""

    task: Task[ScoredPairs]
    paths: list[Path]
    pairs: ScoredPairs
    note: str


def jobs(context: Context) -> list[Job]:
    """Return one job for each row."""
    data = _read(context)
    return [*_unsupervised(context, data), *_trained(context, data)]


def _unsupervised(context: Context, data: Data) -> list[Job]:
    texts = [*data.pairs.first, *data.pairs.second]
    makers: rows.Makers = {
        "tf-idf": lambda: Contestant(Row("tf-idf", "tf-idf", ""), lambda: TfIdf(texts)),
        "Avg. GloVe embeddings": partial(rows.glove, context.materials),
        "InferSent - GloVe": partial(rows.infersent, context.materials),
    }

    def scores(contestant: Contestant) -> list[Score]:
        return data.task.scores(data.pairs, context.model(contestant))

    return [
        _job(context, contestant.row, "unsupervised", data, partial(scores, contestant))
        for contestant in context.contestants(makers)
        if context.fits(contestant.row, data.task, "table3")
    ]


def _trained(context: Context, data: Data) -> list[Job]:
    count = context.materials.limits.argument_folds
    sections: dict[str, Folds] = {
        "10-fold cross-validation": partial(arguments.folds, len(data.pairs), count),
        "cross-topic": partial(arguments.topic_folds, data.pairs.subsets),
    }
    makers = {}
    for section, folds in sections.items():
        shown = section.replace("10", str(count))
        for name in ("BERT-AFS", "SBERT-AFS"):
            makers[f"{name}, {shown}"] = partial(_trained_job, context, data, name, section, shown, folds)
    return context.made(makers)


def _trained_job(context: Context, data: Data, name: str, section: str, shown: str, folds: Folds) -> Job:
    materials, backbone = context.materials, context.materials.backbone
    paper = f"{name}-{backbone.size}"
    note = f"{backbone.trained_note}, trained here; the paper's is {paper}"
    row = Row(f"{backbone.named(name)}, {shown}", paper, note, backbone.digest, comparable=backbone.comparable)
    new = backbone.cross_encoder if name == "BERT-AFS" else backbone.bi_encoder

    def train(fold: ScoredPairs) -> Model:
        return trained(on_scores(materials, paper.lower(), new, backbone.digest, _to_columns(fold)), materials)

    def scores() -> list[Score]:
        return arguments.cross_validate("arguments", data.pairs, folds(), train)

    return _job(context, row, section, data, scores)


def _to_columns(pairs: ScoredPairs) -> Columns:
    """Scale the gold scores to 0..1, for training."""
    low, high = float(pairs.gold.min()), float(pairs.gold.max())
    scores = ((pairs.gold - low) / (high - low)).astype(np.float32)
    return Columns({"sentence1": pairs.first, "sentence2": pairs.second}, scores, "score", name="arguments")


def _job(context: Context, row: Row, section: str, data: Data, scores: Callable[[], list[Score]]) -> Job:
    def run() -> list[Cell]:
        return [
            measure.cell(measure.Place("table3", row, column, section), score, data.note)
            for column, score in zip(COLUMNS, scores(), strict=True)
        ]

    return Job(context.key("table3", row, section, data.paths), f"table3: {row.name}", run)


def _read(context: Context) -> Data:
    """Read the paper's data set, or one that stands in for it."""
    folder, limit = context.materials.folder, context.materials.limits.arguments
    for task in arguments.TASKS:
        try:
            _, paths = task.found(folder)
        except BadInput:
            continue
        pairs, note = task.read(folder)
        if limit is not None and limit < len(pairs):
            note = f"{note}; {limit:,} of {len(pairs):,} pairs"
            pairs = pairs.take(measure.sampled_places(len(pairs), limit))
        return Data(task, paths, pairs, f"{task.name}: {note}" if note else task.name)
    names = "; ".join(f"{task.name} ({task.sources[0]})" for task in arguments.TASKS)
    raise BadInput(f"{names}: none of them exists")
