"""Reads a file to train or evaluate on into columns. Knows splits and gold labels, but no model and no batches."""

from __future__ import annotations

import logging
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, get_args

from sbert.data import files
from sbert.data.columns import Columns
from sbert.data.files import Source
from sbert.data.labels import LabelMap, infer, labels
from sbert.data.rows import Row, in_split, rows_of
from sbert.data.shapes import Layout, ShapeName, recognise
from sbert.errors import BadInput, check_count, check_option
from sbert.types import LabelKind

logger = logging.getLogger(__name__)

SPLITS = {
    "train": ("train", "train_subset"),
    "dev": ("dev", "dev_matched", "validation", "valid"),
}
"""The values of the column ``split`` that a split stands for, where they are more than its name."""


class Default(Enum):
    """A split that is taken from files that have a column ``split``; of other files all rows are taken."""

    TRAIN = "train"
    DEV = "dev"


def read(
    path: str | Path,
    *,
    shape: ShapeName | None = None,
    split: str | Default | None = Default.TRAIN,
    columns: Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    label_kind: LabelKind | None = None,
    score_range: tuple[float, float] | None = (0.0, 5.0),
    limit: int | None = None,
) -> Columns:
    """Read the texts and labels of one tsv, csv, jsonl, json, txt or parquet file.

    Args:
        path: The suffix names the format; all formats but parquet may be compressed as .gz.
        shape: "triplets", "sections", "sts", "nli", "pairs" or "texts". Defaults to the first one that the names of
            the columns fit.
        split: The rows to take, by the values of a column ``split``; None for all rows. A file without that column
            is refused if a split is named. Defaults to "train" in a file with that column, and to all rows in others.
        columns: The columns of texts, if they have other names, in the order in which the loss sees them.
        label: The column of labels, if it has another name.
        label_map: From the labels in the file to names or ids of classes. By default, class names are sorted.
        label_kind: What the labels are, if their values could mislead; "none" leaves them out.
        score_range: The lowest and the highest score, which become 0 and 1; None leaves scores unchanged.
        limit: The maximum number of rows; the first ones are taken.
    """
    if label_kind is not None:
        check_option("label_kind", label_kind, get_args(LabelKind))
    if limit is not None:
        check_count("limit", limit)
    source = files.source(path, txt="table")
    taken = _Taken(source)
    for row in _wanted(rows_of(source), split):
        if taken.layout is None:
            found = recognise(list(row.fields), source.name, shape, columns, label)
            taken.layout = _with_kind(found, label_kind, source.name)
        taken.add(row, taken.layout)
        if len(taken.numbers) == limit:
            break
    return _columns(taken, label_map, score_range)


def _wanted(rows: Iterator[Row], split: str | Default | None) -> Iterator[Row]:
    if split is None:
        return rows
    name = split.value if isinstance(split, Default) else split
    return in_split(rows, SPLITS.get(name, (name,)), repr(name), required=not isinstance(split, Default))


def _with_kind(layout: Layout, kind: LabelKind | None, name: str) -> Layout:
    if kind is None:
        return layout
    if kind == "none":
        return layout._replace(label=None, kind=kind)
    if layout.label is None:
        raise BadInput(f"label_kind is {kind!r}, but {name} has no column of labels; name it with label")
    return layout._replace(kind=kind)


@dataclass(slots=True, eq=False)
class _Taken:
    """The rows taken so far."""

    source: Source
    layout: Layout | None = None
    texts: dict[str, list[str]] = field(default_factory=dict)
    labels: list[Any] = field(default_factory=list)
    numbers: array[int] = field(default_factory=lambda: array("q"))
    """The line or row number of each row, for messages."""
    skipped: int = 0

    def add(self, row: Row, layout: Layout) -> None:
        """Take a row, unless it has no gold label."""
        if layout.label is not None:
            value = row.field(layout.label)
            if value in layout.no_gold and layout.kind in (None, "class", "binary"):
                self.skipped += 1
                return
            self.labels.append(value)
        for column in layout.texts:
            self.texts.setdefault(column, []).append(row.text(column))
        self.numbers.append(row.number)

    def where(self, row: int) -> str:
        """Return the position of the row with this index."""
        return self.source.place(self.numbers[row])


def _columns(taken: _Taken, label_map: LabelMap | None, score_range: tuple[float, float] | None) -> Columns:
    name, layout = taken.source.name, taken.layout
    if layout is None:
        raise BadInput(f"{name} is empty, but at least one row is needed")
    if not taken.texts:
        raise BadInput(f"{name} has no gold label in any of {taken.skipped} rows, but at least one is needed")
    if taken.skipped:
        logger.warning("%s: %d rows without a gold label were left out", name, taken.skipped)
    if layout.label is None:
        return Columns(taken.texts, name=name)
    kind = layout.kind or infer(taken.labels, len(layout.texts), taken.where, label_map)
    made = labels(taken.labels, taken.where, kind, label_map, score_range)
    return Columns(taken.texts, made.values, made.kind, made.names, taken.skipped, name)
