"""Semantic textual similarity: the published sets, in English and Korean, and how the paper scores them.

A year's subsets are pooled: one Spearman over all pairs, as the paper does; SentEval takes means over the subsets
instead, which gives other numbers. Knows names, columns and correlations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np

from sbert.data import files
from sbert.errors import BadInput, check_option
from sbert.evaluate.metrics.prediction import spearman
from sbert.evaluate.suites.report import Score
from sbert.evaluate.suites.sources import Source, column, lines, numbers, of_split, on_hub, own, rows
from sbert.evaluate.suites.task import Aggregation, Model, Options, Task, similarities
from sbert.types import Array, FloatArray, IntArray

Metric = Callable[[Array, Array], float]


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPairs:
    """Pairs of texts and how similar people found them."""

    first: list[str]
    second: list[str]
    gold: FloatArray
    """(N,) on any scale."""
    subsets: list[str]
    """Which part of the set a pair is of, or its topic; all equal where there are none."""

    def __len__(self) -> int:
        return len(self.gold)

    def take(self, places: IntArray) -> ScoredPairs:
        """These pairs, in this order."""
        first, second, subsets = (
            [texts[place] for place in places] for texts in (self.first, self.second, self.subsets)
        )
        return ScoredPairs(first, second, self.gold[places], subsets)


def aggregate(
    predicted: Array,
    gold: Array,
    subsets: Sequence[str],
    aggregation: Aggregation = "all",
    metric: Metric = spearman,
) -> float:
    """A correlation over all pairs, or the mean over the subsets, plain or weighted by size.

    >>> predicted, gold = np.array([0.1, 0.2, 0.9, 0.8]), np.array([1, 2, 3, 4])
    >>> aggregate(predicted, gold, ["a", "a", "b", "b"], "mean")
    0.0
    >>> round(aggregate(predicted, gold, ["a", "a", "b", "b"], "all"), 2)
    80.0
    """
    check_option("aggregation", aggregation, get_args(Aggregation))
    if aggregation == "all":
        return metric(predicted, gold)
    names, numbers, sizes = np.unique(np.array(subsets), return_inverse=True, return_counts=True)
    values = [metric(predicted[numbers == number], gold[numbers == number]) for number in range(len(names))]
    return float(np.average(values, weights=sizes if aggregation == "wmean" else None))


def score(task: str, pairs: ScoredPairs, model: Model, options: Options) -> list[Score]:
    """Spearman of a model's similarities; the note names the aggregation where there is a choice."""
    predicted, kind = similarities(model, pairs.first, pairs.second)
    parts = len(set(pairs.subsets))
    aggregation = options.aggregation if parts > 1 else "all"
    value = aggregate(predicted, pairs.gold, pairs.subsets, aggregation)
    note = f"aggregation {aggregation} of {parts} subsets" if parts > 1 else ""
    kept = (predicted, pairs.gold) if aggregation == "all" else (None, None)
    return [Score(task, f"spearman{kind}", value, len(pairs), note, *kept)]


def _pairs(records: list[files.Record], path: Path, subsets: bool = False) -> ScoredPairs:
    first, second = column(records, "sentence1", path), column(records, "sentence2", path)
    parts = [str(record.get("subset", "")) for record in records] if subsets else [""] * len(records)
    return ScoredPairs(first, second, np.array(numbers(records, "score", path)), parts)


def table(
    *splits: str, subsets: bool = False, leave_out: Sequence[str] = ()
) -> Callable[[Sequence[Path]], ScoredPairs]:
    """A reader of tables with the columns sentence1, sentence2, score, and perhaps split and subset.

    Args:
        splits: which to take from a file that has several; none for all.
        subsets: whether they count.
        leave_out: subsets that are not part of the task.
    """

    def read(paths: Sequence[Path]) -> ScoredPairs:
        (path,) = paths
        records = of_split(rows(path), splits, path)
        return _pairs([record for record in records if record.get("subset") not in leave_out], path, subsets)

    return read


def _semeval(paths: Sequence[Path]) -> ScoredPairs:
    """Two files a subset, pairs and scores; pairs without a score were not judged."""
    records: list[files.Record] = []
    for texts, scores in zip(paths[::2], paths[1::2], strict=True):
        pairs, judged = [line.split("\t") for line in lines(texts)], lines(scores)
        if len(pairs) != len(judged) or any(len(pair) < 2 for pair in pairs):
            raise BadInput(
                f"{texts} needs two texts a line, and {scores} as many lines; got {len(pairs)}, {len(judged)}"
            )
        records += [
            {"sentence1": pair[0], "sentence2": pair[1], "score": value, "subset": texts.name}
            for pair, value in zip(pairs, judged, strict=True)
            if value.strip()
        ]
    return _pairs(records, paths[1], subsets=True)


def _sick(paths: Sequence[Path]) -> ScoredPairs:
    names = {"sentence_A": "sentence1", "sentence_B": "sentence2", "relatedness_score": "score"}
    records = [
        {names.get(key, key): value for key, value in record.items()} for path in paths for record in rows(path)
    ]
    return _pairs(records, paths[0])


def _klue(paths: Sequence[Path]) -> ScoredPairs:
    (path,) = paths
    records = rows(path)
    labels = [files.field(record, "labels", str(path)) for record in records]
    scores = [files.field(label, "label", str(path)) for label in labels]
    return _pairs([{**record, "score": score} for record, score in zip(records, scores, strict=True)], path)


def _year(number: int, parts: str, leave_out: Sequence[str] = ()) -> Task[ScoredPairs]:
    name, folder = f"sts{number}", f"STS{number}-en-test"
    names = [f"{folder}/STS.{kind}.{part}.txt" for part in parts.split() for kind in ("input", "gs")]
    publisher = f"SemEval 20{number}"
    sources = (
        own(name, publisher, table("test", subsets=True, leave_out=leave_out)),
        Source(tuple(names), f"{publisher}, as SentEval names them", _semeval),
        on_hub(f"mteb/{name}-sts", "test", table()),
    )
    return Task(name, sources, score, ("encoder", "scorer"))


def _sts(name: str, *sources: Source[ScoredPairs]) -> Task[ScoredPairs]:
    return Task(name, sources, score, ("encoder", "scorer"))


_SICK_ROWS = "all splits, as MTEB"
_STSB = "STS benchmark, ixa2.si.ehu.eus/stswiki"
_KORSTS, _KLUE = "KakaoBrain, KorNLUDatasets", "KLUE, klue-benchmark.com"

ENGLISH = (
    _year(12, "MSRpar MSRvid SMTeuroparl surprise.OnWN surprise.SMTnews"),
    _year(13, "FNWN headlines OnWN", leave_out=("SMT",)),
    _year(14, "deft-forum deft-news headlines images OnWN tweet-news"),
    _year(15, "answers-forums answers-students belief headlines images"),
    _year(16, "answer-answer headlines plagiarism postediting question-question"),
    _sts(
        "stsb",
        own("stsb", _STSB, table("test")),
        Source(("sts-test.csv",), _STSB, table()),
        on_hub("mteb/stsbenchmark-sts", "test", table()),
    ),
    _sts(
        "sick_r",
        own("sick_r", "SICK 2014", table(), _SICK_ROWS),
        Source(
            ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"), "SemEval 2014 task 1", _sick, _SICK_ROWS
        ),
        on_hub("mteb/sickr-sts", "test", table()),
    ),
)

KOREAN = (
    _sts("korsts_dev", own("korsts", _KORSTS, table("dev")), Source(("sts-dev.tsv",), _KORSTS, table())),
    _sts("korsts_test", own("korsts", _KORSTS, table("test")), Source(("sts-test.tsv",), _KORSTS, table())),
    _sts(
        "klue_sts_dev",
        own("klue_sts", _KLUE, table("dev")),
        Source(("klue-sts-v1.1_dev.json",), _KLUE, _klue),
        on_hub("klue/klue", "validation", _klue, "sts"),
    ),
)
