"""SentEval: the seven data sets that the paper reports. Defines their file names, columns and line formats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sbert.data.files import read_lines
from sbert.data.rows import Row, in_split, read_table
from sbert.errors import BadInput, shown
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


def _from_table(rows: list[Row], splits: Sequence[str]) -> LabelledSplits:
    """Read the columns split, label, text and optionally text2; without ``splits`` all rows are training rows."""
    names = ("text", "text2") if "text2" in rows[0].fields else ("text",)
    parts = {split: _from_rows(list(in_split(rows, (split,), required=True)), names) for split in splits}
    return LabelledSplits(**parts) if parts else LabelledSplits(_from_rows(rows, names))


def _from_rows(rows: list[Row], columns: Sequence[str], label: str = "label") -> LabelledTexts:
    texts = tuple([row.text(column) for row in rows] for column in columns)
    return LabelledTexts(texts, [_label(row, label) for row in rows])


def _label(row: Row, column: str) -> str:
    value = row.field(column)
    if value == "" or not isinstance(value, (str, int, float)):
        raise BadInput(f"{row.where}: the label is {shown(value)}, but must be a name or a number; drop the row")
    return str(value)


def _from_lines(lines: Iterable[tuple[str, str]]) -> LabelledTexts:
    """Make labelled texts of pairs of a text and its label."""
    pairs = list(lines)
    return LabelledTexts(([text for text, _ in pairs],), [label for _, label in pairs])


def _two_files(paths: Sequence[Path]) -> LabelledSplits:
    """Read one file for each class."""
    lines = ((text, str(number)) for number, path in enumerate(paths) for text in read_lines(path))
    return LabelledSplits(_from_lines(lines))


def _sst(paths: Sequence[Path]) -> LabelledSplits:
    """Read files with a text, a tab and a label in each line."""
    return LabelledSplits(*(_from_lines(_cut_lines(path, "\t")) for path in paths))


def _trec(paths: Sequence[Path]) -> LabelledSplits:
    """Read files with a label, a colon, a finer label and a text after the first space in each line."""
    train, test = (
        _from_lines((rest.partition(" ")[2], label) for label, rest in _cut_lines(path, ":")) for path in paths
    )
    return LabelledSplits(train, test=test)


def _cut_lines(path: Path, separator: str) -> Iterator[tuple[str, str]]:
    """Yield what is before and after the first separator of each line."""
    for number, line in enumerate(read_lines(path), 1):
        before, found, after = line.strip().partition(separator)
        if not found:
            raise BadInput(f"{path}, line {number}: no {separator!r} between label and text")
        yield before, after


def _mrpc(paths: Sequence[Path]) -> LabelledSplits:
    train, test = (_from_rows(read_table(path), ("#1 String", "#2 String"), "Quality") for path in paths)
    return LabelledSplits(train, test=test)


def _task(
    name: str, table: str, splits: Sequence[str], read: Read[LabelledSplits], *files: str
) -> Task[LabelledSplits]:
    sources = own(table, _PUBLISHER, partial(_from_table, splits=splits)), Source(files, _PUBLISHER, read)
    return Task(name, sources, transfer, ("encoder",))


_SST = ("train", "dev", "test")

TASKS = (
    _task("mr", "mr", (), _two_files, "rt-polarity.neg", "rt-polarity.pos"),
    _task("cr", "cr", (), _two_files, "custrev.neg", "custrev.pos"),
    _task("subj", "subj", (), _two_files, "subj.objective", "subj.subjective"),
    _task("mpqa", "mpqa", (), _two_files, "mpqa.neg", "mpqa.pos"),
    _task("sst2", "sst2_phrases", _SST, _sst, *(f"SST/binary/sentiment-{split}" for split in _SST)),
    _task("trec", "trec", ("train", "test"), _trec, "train_5500.label", "TREC_10.label"),
    _task("mrpc", "mrpc", ("train", "test"), _mrpc, "msr_paraphrase_train.txt", "msr_paraphrase_test.txt"),
)
