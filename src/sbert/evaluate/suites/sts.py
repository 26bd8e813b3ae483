"""Semantic textual similarity: the published data sets in English and Korean. Defines their file names and columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from sbert.data import files
from sbert.data.files import read_lines
from sbert.data.rows import Row
from sbert.errors import BadInput
from sbert.evaluate.evaluators.similarity import Similarity
from sbert.evaluate.suites.sources import Source, on_hub, own, published, tables
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
        columns = (self.first, self.second, self.subsets)
        first, second, subsets = ([texts[place] for place in places] for texts in columns)
        return ScoredPairs(first, second, self.gold[places], subsets)


def similarity(pairs: ScoredPairs, options: Options) -> Similarity:
    """Make the evaluator of scored pairs."""
    return Similarity(pairs.first, pairs.second, pairs.gold, subsets=pairs.subsets, aggregation=options.aggregation)


def read_pairs(
    rows: list[Row],
    columns: tuple[str, str, str] = ("sentence1", "sentence2", "score"),
    *,
    subsets: bool = False,
    leave_out: Sequence[str] = (),
) -> ScoredPairs:
    """Read pairs from the rows of a table.

    Args:
        rows: All rows.
        columns: Names of the columns of first texts, second texts and scores.
        subsets: Whether to read the column subset, if there is one.
        leave_out: Subsets that are not part of the task.
    """
    kept = [row for row in rows if row.fields.get("subset") not in leave_out]
    first, second = ([row.text(column) for row in kept] for column in columns[:2])
    gold = np.array([row.decimal(columns[2]) for row in kept])
    return ScoredPairs(first, second, gold, [str(row.fields.get("subset", "")) if subsets else "" for row in kept])


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
    return read_pairs(rows, subsets=True)


def _klue(rows: list[Row]) -> ScoredPairs:
    """Read a table whose scores are in a nested record."""
    for row in rows:
        labels = row.field("labels")
        nested = Row(labels if isinstance(labels, dict) else {}, row.source, row.number)
        row.fields["score"] = nested.decimal("label")
    return read_pairs(rows)


def _sts(name: str, *sources: Source[ScoredPairs]) -> Task[ScoredPairs]:
    return Task(name, sources, similarity, ("encoder", "scorer"), ("spearman_cosine", "spearman"))


def _year(number: int, parts: str, *leave_out: str) -> Task[ScoredPairs]:
    name, publisher = f"sts{number}", f"SemEval 20{number}"
    kinds = [f"STS.{kind}.{part}.txt" for part in parts.split() for kind in ("input", "gs")]
    names = tuple(f"STS{number}-en-test/{file}" for file in kinds)
    return _sts(
        name,
        own(name, publisher, partial(read_pairs, subsets=True, leave_out=leave_out), "test"),
        Source(names, f"{publisher}, as SentEval names them", _semeval),
        on_hub(f"mteb/{name}-sts", "test", read_pairs),
    )


_SICK_FILES = ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt")
_SICK_COLUMNS = ("sentence_A", "sentence_B", "relatedness_score")
_SICK_ROWS = "all splits, as MTEB"
_STSB = "STS benchmark, ixa2.si.ehu.eus/stswiki"
_KORSTS, _KLUE = "KakaoBrain, KorNLUDatasets", "KLUE, klue-benchmark.com"

ENGLISH = (
    _year(12, "MSRpar MSRvid SMTeuroparl surprise.OnWN surprise.SMTnews"),
    _year(13, "FNWN headlines OnWN", "SMT"),
    _year(14, "deft-forum deft-news headlines images OnWN tweet-news"),
    _year(15, "answers-forums answers-students belief headlines images"),
    _year(16, "answer-answer headlines plagiarism postediting question-question"),
    _sts(
        "stsb",
        own("stsb", _STSB, read_pairs, "test"),
        published("sts-test.csv", _STSB, read_pairs),
        on_hub("mteb/stsbenchmark-sts", "test", read_pairs),
    ),
    _sts(
        "sick_r",
        own("sick_r", "SICK 2014", read_pairs, note=_SICK_ROWS),
        Source(_SICK_FILES, "SemEval 2014 task 1", tables(partial(read_pairs, columns=_SICK_COLUMNS)), _SICK_ROWS),
        on_hub("mteb/sickr-sts", "test", read_pairs),
    ),
)

KOREAN = (
    *(
        _sts(
            f"korsts_{split}",
            own("korsts", _KORSTS, read_pairs, split),
            published(f"sts-{split}.tsv", _KORSTS, read_pairs),
        )
        for split in ("dev", "test")
    ),
    _sts(
        "klue_sts_dev",
        own("klue_sts", _KLUE, read_pairs, "dev"),
        published("klue-sts-v1.1_dev.json", _KLUE, _klue),
        on_hub("klue/klue", "validation", _klue, "sts"),
    ),
)
