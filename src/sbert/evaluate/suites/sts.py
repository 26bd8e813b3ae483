"""Semantic textual similarity: the published data sets in English and Korean. Knows file names and columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sbert.data import files
from sbert.data.files import read_lines
from sbert.data.rows import Row, in_split, read_table
from sbert.errors import BadInput
from sbert.evaluate.evaluators.similarity import Similarity
from sbert.evaluate.suites.sources import Read, Source, on_hub, own
from sbert.evaluate.suites.task import Options, Task
from sbert.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPairs:
    """Pairs of texts with gold similarity scores."""

    first: list[str]
    second: list[str]
    gold: FloatArray
    """(N,) on any scale."""
    subsets: list[str]
    """Subset or topic of each pair; all equal if the set has none."""

    def __len__(self) -> int:
        return len(self.gold)

    def take(self, places: IntArray) -> ScoredPairs:
        """Return the pairs at these places, in this order."""
        first, second, subsets = (
            [texts[place] for place in places] for texts in (self.first, self.second, self.subsets)
        )
        return ScoredPairs(first, second, self.gold[places], subsets)


def similarity(pairs: ScoredPairs, options: Options) -> Similarity:
    """Make the evaluator of scored pairs."""
    return Similarity(pairs.first, pairs.second, pairs.gold, subsets=pairs.subsets, aggregation=options.aggregation)


def pairs_from_table(*splits: str, subsets: bool = False, leave_out: Sequence[str] = ()) -> Read[ScoredPairs]:
    """Make a reader of tables with the columns sentence1, sentence2, score, and optionally split and subset.

    Args:
        splits: Splits to read from a file that has several. Defaults to all.
        subsets: Whether to read the column subset.
        leave_out: Subsets that are not part of the task.
    """

    def read(paths: Sequence[Path]) -> ScoredPairs:
        (path,) = paths
        rows = [row for row in in_split(read_table(path), splits) if row.fields.get("subset") not in leave_out]
        return _pairs(rows, subsets=[str(row.fields.get("subset", "")) for row in rows] if subsets else None)

    return read


def _pairs(
    rows: list[Row],
    columns: tuple[str, str, str] = ("sentence1", "sentence2", "score"),
    subsets: list[str] | None = None,
) -> ScoredPairs:
    *texts, score = columns
    first, second = ([row.text(column) for row in rows] for column in texts)
    gold = np.array([row.decimal(score) for row in rows])
    return ScoredPairs(first, second, gold, [""] * len(rows) if subsets is None else subsets)


def _semeval(paths: Sequence[Path]) -> ScoredPairs:
    """Read two files for each subset, one of pairs and one of scores; pairs without a score are left out."""
    rows: list[Row] = []
    for texts, scores in zip(paths[::2], paths[1::2], strict=True):
        pairs, gold = [line.split("\t") for line in read_lines(texts)], read_lines(scores)
        if len(pairs) != len(gold) or any(len(pair) < 2 for pair in pairs):
            raise BadInput(
                f"{texts} needs two texts a line, and {scores} as many lines; got {len(pairs)}, {len(gold)}"
            )
        source = files.Source(str(scores), "txt")
        rows += [
            Row({"sentence1": first, "sentence2": second, "score": score, "subset": texts.name}, source, number)
            for number, ((first, second, *_), score) in enumerate(zip(pairs, gold, strict=True), 1)
            if score.strip()
        ]
    return _pairs(rows, subsets=[row.fields["subset"] for row in rows])


def _sick(paths: Sequence[Path]) -> ScoredPairs:
    rows = [row for path in paths for row in read_table(path)]
    return _pairs(rows, ("sentence_A", "sentence_B", "relatedness_score"))


def _klue(paths: Sequence[Path]) -> ScoredPairs:
    """Read a file whose scores are in a nested record."""
    (path,) = paths
    rows = read_table(path)
    for row in rows:
        labels = row.field("labels")
        nested = Row(labels if isinstance(labels, dict) else {}, row.source, row.number)
        row.fields["score"] = nested.decimal("label")
    return _pairs(rows)


def _year(number: int, parts: str, leave_out: Sequence[str] = ()) -> Task[ScoredPairs]:
    name, folder = f"sts{number}", f"STS{number}-en-test"
    names = [f"{folder}/STS.{kind}.{part}.txt" for part in parts.split() for kind in ("input", "gs")]
    publisher = f"SemEval 20{number}"
    sources = (
        own(name, publisher, pairs_from_table("test", subsets=True, leave_out=leave_out)),
        Source(tuple(names), f"{publisher}, as SentEval names them", _semeval),
        on_hub(f"mteb/{name}-sts", "test", pairs_from_table()),
    )
    return _sts(name, *sources)


def _sts(name: str, *sources: Source[ScoredPairs]) -> Task[ScoredPairs]:
    return Task(name, sources, similarity, ("encoder", "scorer"), ("spearman_cosine", "spearman"))


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
        own("stsb", _STSB, pairs_from_table("test")),
        Source(("sts-test.csv",), _STSB, pairs_from_table()),
        on_hub("mteb/stsbenchmark-sts", "test", pairs_from_table()),
    ),
    _sts(
        "sick_r",
        own("sick_r", "SICK 2014", pairs_from_table(), _SICK_ROWS),
        Source(
            ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"), "SemEval 2014 task 1", _sick, _SICK_ROWS
        ),
        on_hub("mteb/sickr-sts", "test", pairs_from_table()),
    ),
)

KOREAN = (
    _sts(
        "korsts_dev",
        own("korsts", _KORSTS, pairs_from_table("dev")),
        Source(("sts-dev.tsv",), _KORSTS, pairs_from_table()),
    ),
    _sts(
        "korsts_test",
        own("korsts", _KORSTS, pairs_from_table("test")),
        Source(("sts-test.tsv",), _KORSTS, pairs_from_table()),
    ),
    _sts(
        "klue_sts_dev",
        own("klue_sts", _KLUE, pairs_from_table("dev")),
        Source(("klue-sts-v1.1_dev.json",), _KLUE, _klue),
        on_hub("klue/klue", "validation", _klue, "sts"),
    ),
)
