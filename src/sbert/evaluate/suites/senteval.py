"""SentEval: the seven data sets that the paper reports. Knows file names, columns and line formats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sbert.data.files import read_lines
from sbert.data.rows import Row, in_split, read_table
from sbert.errors import BadInput
from sbert.evaluate.evaluators.transfer import LabelledTexts, Transfer
from sbert.evaluate.suites.sources import Read, Source, own
from sbert.evaluate.suites.task import Options, Task
from sbert.types import IntArray

_PUBLISHER = "SentEval's get_transfer_data.bash, github.com/facebookresearch/SentEval"


@dataclass(frozen=True, slots=True, eq=False)
class LabelledSplits:
    """A data set for text classification; one without test texts is cross-validated."""

    train: LabelledTexts
    dev: LabelledTexts | None = None
    test: LabelledTexts | None = None

    def __len__(self) -> int:
        return 0 if self.test is None else len(self.test.labels)

    def take(self, places: IntArray) -> LabelledSplits:
        """Return the same splits with the test texts at these places."""
        return self if self.test is None else replace(self, test=self.test.take(places))


def transfer(data: LabelledSplits, options: Options) -> Transfer:
    """Make the evaluator of the splits."""
    return Transfer(data.train, data.dev, data.test, folds=options.folds, train_limit=options.train_limit)


def splits_from_table(*splits: str) -> Read[LabelledSplits]:
    """Make a reader of a table with the columns split, label, text and optionally text2.

    Without ``splits`` all rows are training rows.
    """

    def read(paths: Sequence[Path]) -> LabelledSplits:
        (path,) = paths
        rows = read_table(path)
        parts = {split: _labelled(list(in_split(rows, (split,)))) for split in splits}
        return LabelledSplits(**parts) if parts else LabelledSplits(_labelled(rows))

    return read


def _labelled(rows: list[Row]) -> LabelledTexts:
    names = ("text", "text2") if "text2" in rows[0].fields else ("text",)
    texts = tuple([row.text(name) for row in rows] for name in names)
    return LabelledTexts(texts, [str(row.field("label")) for row in rows])


def _two_files(paths: Sequence[Path]) -> LabelledSplits:
    """Read one file for each class."""
    classes = [read_lines(path) for path in paths]
    labels = [str(number) for number, texts in enumerate(classes) for _ in texts]
    return LabelledSplits(LabelledTexts(([text for texts in classes for text in texts],), labels))


def _sst(paths: Sequence[Path]) -> LabelledSplits:
    return LabelledSplits(*(_split_lines(path, "\t", text_first=True) for path in paths))


def _trec(paths: Sequence[Path]) -> LabelledSplits:
    train, test = (_split_lines(path, ":") for path in paths)
    # The fine-grained class is between the colon and the first space.
    bare = [
        LabelledTexts(([text.partition(" ")[2] for text in part.texts[0]],), part.labels) for part in (train, test)
    ]
    return LabelledSplits(bare[0], test=bare[1])


def _split_lines(path: Path, separator: str, text_first: bool = False) -> LabelledTexts:
    texts, labels = [], []
    for number, line in enumerate(read_lines(path), 1):
        first, found, second = line.strip().partition(separator)
        if not found:
            raise BadInput(f"{path}, line {number}: no {separator!r} between label and text")
        texts.append(first if text_first else second)
        labels.append(second if text_first else first)
    return LabelledTexts((texts,), labels)


def _mrpc(paths: Sequence[Path]) -> LabelledSplits:
    def read(path: Path) -> LabelledTexts:
        rows = read_table(path)
        *texts, labels = ([row.text(name) for row in rows] for name in ("#1 String", "#2 String", "Quality"))
        return LabelledTexts(tuple(texts), labels)

    train, test = map(read, paths)
    return LabelledSplits(train, test=test)


def _task(
    name: str,
    our_name: str,
    splits: Sequence[str],
    read: Read[LabelledSplits],
    *names: str,
) -> Task[LabelledSplits]:
    sources = own(our_name, _PUBLISHER, splits_from_table(*splits)), Source(names, _PUBLISHER, read)
    return Task(name, sources, transfer, ("encoder",))


TASKS = (
    _task("mr", "mr", (), _two_files, "rt-polarity.neg", "rt-polarity.pos"),
    _task("cr", "cr", (), _two_files, "custrev.neg", "custrev.pos"),
    _task("subj", "subj", (), _two_files, "subj.objective", "subj.subjective"),
    _task("mpqa", "mpqa", (), _two_files, "mpqa.neg", "mpqa.pos"),
    _task(
        "sst2",
        "sst2_phrases",
        ("train", "dev", "test"),
        _sst,
        *(f"SST/binary/sentiment-{split}" for split in ("train", "dev", "test")),
    ),
    _task("trec", "trec", ("train", "test"), _trec, "train_5500.label", "TREC_10.label"),
    _task("mrpc", "mrpc", ("train", "test"), _mrpc, "msr_paraphrase_train.txt", "msr_paraphrase_test.txt"),
)
