"""Reads a file to train or evaluate on into columns. Knows splits, gold labels and messages: no model, no batches."""

from __future__ import annotations

import logging
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from sbert.data import files
from sbert.data.columns import Columns
from sbert.data.labels import LabelMap, infer, labels
from sbert.data.shapes import Layout, ShapeName, recognise
from sbert.errors import BadInput, check_option
from sbert.types import LabelKind

logger = logging.getLogger(__name__)

SPLITS = {
    "train": ("train", "train_subset"),
    "dev": ("dev", "dev_matched", "validation", "valid"),
}
"""What else a split is called."""


def read(
    path: str | Path,
    *,
    shape: ShapeName | None = None,
    split: str | None = "train",
    columns: Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    label_kind: LabelKind | None = None,
    score_range: tuple[float, float] = (0.0, 5.0),
    limit: int | None = None,
) -> Columns:
    """The texts and labels of one tsv, csv, jsonl, json, txt or parquet file.

    Args:
        path: the suffix tells the format; all but parquet may be packed as .gz.
        shape: "triplets", "sts", "nli", "pairs" or "texts"; without it, told by the names of the columns.
        split: which rows of a file that has a column ``split``; None for all.
        columns: the columns of texts, where they have other names, in the order in which the loss sees them.
        label: the column of labels, where it has another name.
        label_map: from the labels in the file to names or ids of classes; without it names are sorted.
        label_kind: what the labels are, where the values could mislead; "none" leaves them out.
        score_range: scores from here to there become scores from 0 to 1.
        limit: at most so many rows, the first ones.
    """
    if label_kind is not None:
        check_option("label_kind", label_kind, get_args(LabelKind))
    if limit is not None and limit < 1:
        raise BadInput(f"limit is {limit}, but must be at least 1")
    name = str(path)
    kind = files.format_of(name)
    rows = _Rows(name, kind, split, limit)
    with files.opened(name) as stream:
        for number, record in files.records(stream, name, "table" if kind == "txt" else kind):
            if rows.layout is None:
                rows.layout = _layout(recognise(list(record), name, shape, columns, label), label_kind, name)
            if not rows.add(number, record):
                break
    return _columns(rows, label_map, score_range)


def _layout(layout: Layout, kind: LabelKind | None, name: str) -> Layout:
    if kind is None:
        return layout
    if kind == "none":
        return layout._replace(label=None, kind=kind)
    if layout.label is None:
        raise BadInput(f"label_kind is {kind!r}, but {name} has no column of labels; name it with label")
    return layout._replace(kind=kind)


@dataclass(slots=True, eq=False)
class _Rows:
    """The rows taken so far."""

    name: str
    kind: str
    split: str | None
    limit: int | None
    layout: Layout | None = None
    texts: dict[str, list[str]] = field(default_factory=dict)
    labels: list[Any] = field(default_factory=list)
    numbers: array[int] = field(default_factory=lambda: array("q"))
    """The line or row of each, for messages."""
    splits: set[str] = field(default_factory=set)
    skipped: int = 0

    def add(self, number: int, record: files.Record) -> bool:
        """Take the record if it is wanted; False once there are enough."""
        assert self.layout is not None
        if not self._wanted(record):
            return True
        where = files.place(self.name, self.kind, number)
        if self.layout.label is not None:
            value = files.field(record, self.layout.label, where)
            if value in self.layout.no_gold and self.layout.kind in (None, "class", "binary"):
                self.skipped += 1
                return True
            self.labels.append(value)
        for column in self.layout.texts:
            self.texts.setdefault(column, []).append(files.text(record, column, where))
        self.numbers.append(number)
        return len(self.numbers) != self.limit

    def _wanted(self, record: files.Record) -> bool:
        if self.split is None or "split" not in record:
            return True
        self.splits.add(str(record["split"]))
        return record["split"] in SPLITS.get(self.split, (self.split,))

    def where(self, row: int) -> str:
        return files.place(self.name, self.kind, self.numbers[row])

    def check(self) -> Layout:
        """Refuse a file of which nothing is left; say what was left out."""
        if self.layout is None:
            raise BadInput(f"{self.name} is empty, but at least one row is needed")
        if not self.texts and not self.skipped:
            there = files.listed(sorted(self.splits))
            raise BadInput(f"{self.name} has no rows of the split {self.split!r}, but of {there}; name one of them")
        if not self.texts:
            raise BadInput(f"{self.name} has no gold label in any of {self.skipped} rows, but at least one is needed")
        if self.skipped:
            logger.warning("%s: %d rows without a gold label were left out", self.name, self.skipped)
        return self.layout


def _columns(rows: _Rows, label_map: LabelMap | None, score_range: tuple[float, float]) -> Columns:
    layout = rows.check()
    if layout.label is None:
        return Columns(rows.texts, name=rows.name)
    kind = layout.kind
    if kind is None:
        kind = infer(rows.labels, len(layout.texts), rows.where) if label_map is None else "class"
    made = labels(rows.labels, rows.where, kind, label_map, score_range)
    return Columns(rows.texts, made.values, made.kind, made.names, rows.skipped, rows.name)
