"""Argument facet similarity: whether two arguments on a topic make the same point.

The paper measures models that were not trained for the task by the evaluator :class:`ArgumentSimilarity`, and trained
models in two ways: by ten-fold cross-validation over all pairs, and across topics, with training on two topics and
testing on the third. The caller provides the training to :func:`cross_validate`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sbert.data import files
from sbert.data.rows import Row
from sbert.errors import BadInput
from sbert.evaluate.evaluators.similarity import ArgumentSimilarity, Similarity
from sbert.evaluate.score import Score
from sbert.evaluate.suites.sources import Source, own
from sbert.evaluate.suites.sts import ScoredPairs, read_pairs
from sbert.evaluate.suites.task import Model, Options, Task
from sbert.types import IntArray

FIGURES = ("pearson_cosine", "pearson", "spearman_cosine", "spearman")
AFS_TOPICS = {"GM": "gay marriage", "GC": "gun control", "DP": "death penalty"}


class Fold(NamedTuple):
    """The pairs to train on and those to test on."""

    name: str
    train: IntArray
    test: IntArray


def folds(pairs: int, number: int = 10, seed: int = 0) -> Iterator[Fold]:
    """Yield ``number`` shuffled folds; every pair is tested once.

    >>> [len(fold.test) for fold in folds(25, number=10)]
    [3, 3, 3, 3, 3, 2, 2, 2, 2, 2]
    """
    if not 2 <= number <= pairs:
        raise BadInput(f"there are {number} folds of {pairs} pairs, but there must be at least 2, and a pair in each")
    order = np.random.default_rng(seed).permutation(pairs)
    for place, test in enumerate(np.array_split(order, number)):
        yield Fold(f"fold {place + 1}", np.setdiff1d(order, test), np.sort(test))


def topic_folds(topics: Sequence[str], number: int = 3) -> Iterator[Fold]:
    """Yield folds that share no topic. With AFS's three topics, two are for training and one is for testing.

    >>> [(fold.name, fold.test.tolist()) for fold in topic_folds(["총기", "사형", "총기", "결혼"])]
    [('결혼', [3]), ('사형', [1]), ('총기', [0, 2])]
    """
    names = sorted(set(topics))
    if not 2 <= number <= len(names):
        raise BadInput(f"there are {number} folds of {len(names)} topics, but there must be at least 2, of one each")
    for held_out in np.array_split(names, number):
        test = np.isin(topics, held_out)
        yield Fold(", ".join(held_out), np.flatnonzero(~test), np.flatnonzero(test))


def cross_validate(
    task: str, pairs: ScoredPairs, parts: Iterator[Fold], train: Callable[[ScoredPairs], Model]
) -> list[Score]:
    """Average Pearson and Spearman over folds.

    Args:
        task: Name of the task.
        pairs: All pairs.
        parts: Folds of the pairs.
        train: Trains a model on the training pairs of a fold.
    """
    tested, figures = 0, []
    for fold in parts:
        test = pairs.take(fold.test)
        figures.append(Similarity(test.first, test.second, test.gold)(train(pairs.take(fold.train))))
        tested += len(test)
    return [
        Score(name, float(np.mean(values)), tested, note=f"mean over {len(values)} folds", task=task)
        for name in FIGURES
        if (values := [found[name] for found in figures if name in found])
    ]


def _afs(paths: Sequence[Path]) -> ScoredPairs:
    """Read one file for each topic, in UTF-8 or Latin-1."""
    rows: list[Row] = []
    for path, topic in zip(paths, AFS_TOPICS.values(), strict=True):
        reader, source = csv.DictReader(io.StringIO(files.decoded(path))), files.Source(str(path), "csv")
        try:
            rows += [Row({**record, "subset": topic}, source, reader.line_num) for record in reader]
        except csv.Error as error:
            raise BadInput(f"{path}, after line {reader.line_num}: not csv ({error}); correct the row") from None
    return read_pairs(rows, ("sentence_1", "sentence_2", "regression_label"), subsets=True)


def _task(name: str, source: Source[ScoredPairs]) -> Task[ScoredPairs]:
    def evaluator(pairs: ScoredPairs, _options: Options) -> ArgumentSimilarity:
        return ArgumentSimilarity(pairs.first, pairs.second, pairs.gold, pairs.subsets)

    return Task(name, (source,), evaluator, ("encoder", "scorer"), FIGURES)


def _stand_in(name: str, publisher: str) -> Task[ScoredPairs]:
    note = "stands in for AFS, with which its numbers cannot be compared"
    return _task(name, own(name, publisher, partial(read_pairs, subsets=True), note=note))


_AFS_FILES = tuple(f"ArgPairs_{topic}.csv" for topic in AFS_TOPICS)

TASKS = (
    _task("afs", Source(_AFS_FILES, "Argument Facet Similarity, nlds.soe.ucsc.edu/node/44", _afs)),
    _stand_in("ukp_aspect", "UKP Lab, TU Darmstadt"),
    _stand_in("bws_argsim", "BWS argument similarity"),
)
