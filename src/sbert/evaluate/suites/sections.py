"""Wikipedia sections: is a sentence nearer to one of its own section than to one of another section of the article?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sbert.evaluate.suites.report import Score
from sbert.evaluate.suites.sources import Source, column, of_split, on_hub, own, rows
from sbert.evaluate.suites.task import Options, Task
from sbert.types import Encoder


class Triples(NamedTuple):
    """A sentence, one of its own section, and one of another."""

    anchors: list[str]
    positives: list[str]
    negatives: list[str]


def score(task: str, triples: Triples, model: Encoder, _options: Options) -> list[Score]:
    """The share with |a - p| < |a - n|, Euclidean, as the paper measures it."""
    anchors, positives, negatives = (model.encode(texts, on_truncate="ignore") for texts in triples)
    right = np.linalg.norm(anchors - positives, axis=1) < np.linalg.norm(anchors - negatives, axis=1)
    return [Score(task, "euclidean_accuracy", 100 * float(right.mean()), len(right), "", 100.0 * right)]


def table(*names: str, split: str = "") -> Callable[[Sequence[Path]], Triples]:
    """A reader of tables whose three columns have these names."""

    def read(paths: Sequence[Path]) -> Triples:
        (path,) = paths
        records = of_split(rows(path), (split,) if split else (), path)
        return Triples(*(column(records, name, path) for name in names))

    return read


_COLUMNS = ("anchor", "positive", "negative")
_SELF_BUILT = "self-built from WikiText-2, not the set of Dor et al. 2018"

TASKS = (
    Task(
        "wikipedia_sections",
        (
            Source(
                ("wikipedia-sections-triplets/test.csv",),
                "Dor et al. 2018, public.ukp.informatik.tu-darmstadt.de/reimers/sentence-transformers/datasets",
                table("Sentence1", "Sentence2", "Sentence3"),
            ),
            on_hub("sentence-transformers/wikipedia-sections", "test", table(*_COLUMNS), "triplet"),
            own("wikisection_triplets_selfbuilt", "WikiText-2", table(*_COLUMNS, split="test"), _SELF_BUILT),
        ),
        score,
        ("encoder",),
    ),
)
