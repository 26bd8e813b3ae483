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
from sbert.paper.backbone import SEED
from sbert.paper.context import Context
from sbert.paper.ledger import Cell, Job
from sbert.paper.rows import Contestant, Row
from sbert.paper.training import Graded, train_graded

COLUMNS = ("Pearson", "Spearman")


class Data(NamedTuple):
    """The argument pairs of the run."""

    task: Task[ScoredPairs]
    paths: list[Path]
    pairs: ScoredPairs
    note: str


def jobs(context: Context) -> list[Job]:
    """Return one job for each row."""
    try:
        data = _read(context)
    except BadInput as error:
        context.lacks("table3", error)
        return []
    return [*_unsupervised(context, data), *_trained(context, data)]


def _unsupervised(context: Context, data: Data) -> Iterator[Job]:
    texts = [*data.pairs.first, *data.pairs.second]
    makers: rows.Makers = {
        "tf-idf": lambda: Contestant(Row("tf-idf", "tf-idf", ""), lambda: TfIdf(texts)),
        "Avg. GloVe embeddings": partial(rows.glove, context.materials),
        "InferSent - GloVe": partial(rows.infersent, context.materials),
    }
    for contestant in context.contestants(makers):
        if context.fits(contestant.row, data.task, "table3"):

            def scores(contestant: Contestant = contestant) -> list[Score]:
                return data.task.scores(data.pairs, context.model(contestant))

            yield _job(context, contestant.row, "unsupervised", data, scores)


def _trained(context: Context, data: Data) -> Iterator[Job]:
    count = context.materials.limits.argument_folds
    sections: dict[str, tuple[str, Callable[[], Iterator[arguments.Fold]]]] = {
        "10-fold cross-validation": (
            f"{count}-fold cross-validation",
            partial(arguments.folds, len(data.pairs), count),
        ),
        "cross-topic": ("cross-topic", partial(arguments.topic_folds, data.pairs.subsets)),
    }
    for section, (shown, folds) in sections.items():
        makers = {
            f"{name}, {shown}": partial(_trained_row, context, name, shown) for name in ("BERT-AFS", "SBERT-AFS")
        }
        for row, new in context.made(makers):
            yield _job(context, row, section, data, partial(_cross_validate, context, row, new, data, folds))


def _trained_row(context: Context, name: str, shown: str) -> tuple[Row, Callable[[], Graded]]:
    backbone = context.materials.backbone
    paper = f"{name}-{backbone.size}"
    note = f"{backbone.trained_note}, trained here; the paper's is {paper}"
    row = Row(f"{backbone.named(name)}, {shown}", paper, note, backbone.digest)
    return row, backbone.cross_encoder if name == "BERT-AFS" else backbone.bi_encoder


def _cross_validate(
    context: Context, row: Row, new: Callable[[], Graded], data: Data, folds: Callable[[], Iterator[arguments.Fold]]
) -> list[Score]:
    def train(fold: ScoredPairs) -> Model:
        return train_graded(context.materials, row.paper.lower(), new, row.made_of, _to_columns(fold), SEED)

    return arguments.cross_validate("arguments", data.pairs, folds(), train)


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
