"""Argument facet similarity: do two arguments on a topic make the same point?

The paper scores models that were never trained for it by their cosines, and trained ones in two ways: ten folds over
all pairs, and across topics, where a model is trained on two topics and tested on the third. Training is the caller's.
Knows pairs, topics and correlations.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sbert.errors import BadInput
from sbert.evaluate.metrics.prediction import pearson, spearman
from sbert.evaluate.suites.report import Score
from sbert.evaluate.suites.sources import Source, column, decoded, numbers, own
from sbert.evaluate.suites.sts import Metric, ScoredPairs, aggregate, table
from sbert.evaluate.suites.task import Model, Options, Task, similarities
from sbert.types import IntArray

_METRICS: dict[str, Metric] = {"pearson": pearson, "spearman": spearman}
AFS_TOPICS = {"GM": "gay marriage", "GC": "gun control", "DP": "death penalty"}


class Fold(NamedTuple):
    """Which pairs to train on and which to test on."""

    name: str
    train: IntArray
    test: IntArray


def folds(pairs: int, number: int = 10, seed: int = 0) -> Iterator[Fold]:
    """So many shuffled folds: every pair is tested once.

    >>> [len(fold.test) for fold in folds(25, number=10)]
    [3, 3, 3, 3, 3, 2, 2, 2, 2, 2]
    """
    if not 2 <= number <= pairs:
        raise BadInput(f"there are {number} folds of {pairs} pairs, but there must be at least 2, and a pair in each")
    order = np.random.default_rng(seed).permutation(pairs)
    for place, test in enumerate(np.array_split(order, number)):
        yield Fold(f"fold {place + 1}", np.setdiff1d(order, test), np.sort(test))


def topic_folds(topics: Sequence[str], number: int = 3) -> Iterator[Fold]:
    """Folds that share no topic. With AFS's three topics: train on two, test on the third.

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
    """Pearson and Spearman, each the mean over folds, of the models that ``train`` makes of training pairs."""
    values: dict[str, list[float]] = {}
    tested = 0
    for fold in parts:
        test = pairs.take(fold.test)
        predicted, kind = similarities(train(pairs.take(fold.train)), test.first, test.second)
        for name, metric in _METRICS.items():
            values.setdefault(name + kind, []).append(metric(predicted, test.gold))
        tested += len(test)
    return [
        Score(task, name, float(np.mean(found)), tested, f"mean over {len(found)} folds")
        for name, found in values.items()
    ]


def score(task: str, pairs: ScoredPairs, model: Model, _options: Options) -> list[Score]:
    """Pearson and Spearman of a model as it is, each the mean over topics."""
    predicted, kind = similarities(model, pairs.first, pairs.second)
    note = f"mean over {len(set(pairs.subsets))} topics, not trained on them"
    return [
        Score(task, name + kind, aggregate(predicted, pairs.gold, pairs.subsets, "mean", metric), len(pairs), note)
        for name, metric in _METRICS.items()
    ]


def _afs(paths: Sequence[Path]) -> ScoredPairs:
    first: list[str] = []
    second: list[str] = []
    gold: list[float] = []
    topics: list[str] = []
    for path, topic in zip(paths, AFS_TOPICS.values(), strict=True):
        records: list[dict[str, object]] = [dict(record) for record in csv.DictReader(io.StringIO(decoded(path)))]
        first += column(records, "sentence_1", path)
        second += column(records, "sentence_2", path)
        gold += numbers(records, "regression_label", path)
        topics += [topic] * len(records)
    return ScoredPairs(first, second, np.array(gold), topics)


def _task(name: str, *sources: Source[ScoredPairs]) -> Task[ScoredPairs]:
    return Task(name, sources, score, ("encoder", "scorer"))


_STAND_IN = "stands in for AFS, with which its numbers cannot be compared"

TASKS = (
    _task(
        "afs",
        Source(
            tuple(f"ArgPairs_{topic}.csv" for topic in AFS_TOPICS),
            "Argument Facet Similarity, nlds.soe.ucsc.edu/node/44",
            _afs,
        ),
    ),
    _task("ukp_aspect", own("ukp_aspect", "UKP Lab, TU Darmstadt", table(subsets=True), _STAND_IN)),
    _task("bws_argsim", own("bws_argsim", "BWS argument similarity", table(subsets=True), _STAND_IN)),
)
