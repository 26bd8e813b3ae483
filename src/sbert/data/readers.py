"""Reads a file to train or evaluate on into columns. Works on splits and gold labels, not on models or batches."""

from __future__ import annotations

import logging
from array import array
from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import Any, get_args

from sbert.data import files
from sbert.data.columns import Columns
from sbert.data.formats import check_names
from sbert.data.labels import LabelMap, infer, labels
from sbert.data.rows import Row, in_split, rows_of
from sbert.data.shapes import Layout, ShapeName, recognise
from sbert.errors import BadInput, check_count, check_option
from sbert.types import LabelKind

logger = logging.getLogger(__name__)

SPLITS = {"train": ("train", "train_subset"), "dev": ("dev", "dev_matched", "validation", "valid")}
"""The values of the column ``split`` that a split stands for, where they are more than its name."""

_UNTYPED = ("tsv", "csv", "table")
"""Formats in which every value is a text."""


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
        label_kind: What the labels are, if their values could mislead, such as whole numbers that are scores; "none"
            leaves them out.
        score_range: The lowest and the highest score, which become 0 and 1; None leaves scores unchanged.
        limit: The maximum number of rows; the first ones are taken.
    """
    if label_kind is not None:
        check_option("label_kind", label_kind, get_args(LabelKind))
    if limit is not None:
        check_count("limit", limit)
    source = files.source(path, txt="table")
    rows = rows_of(source)
    if split is not None:
        wanted = split.value if isinstance(split, Default) else split
        rows = in_split(rows, SPLITS.get(wanted, (wanted,)), repr(wanted), required=not isinstance(split, Default))
    first = next(rows)
    check_names(list(first.fields), source.name)
    layout = _with_kind(recognise(list(first.fields), source.name, shape, columns, label), label_kind, source.name)
    texts, given, numbers, skipped = _take(chain([first], rows), layout, limit)
    if skipped:
        logger.warning("%s: %d rows without a gold label were left out", source.name, skipped)
    if layout.label is None:
        return Columns(texts, name=source.name)

    def where(row: int) -> str:
        return source.place(numbers[row])

    kind = layout.kind or infer(given, len(layout.texts), where, label_map, untyped=source.format in _UNTYPED)
    values, names = labels(given, where, kind, label_map, score_range)
    return Columns(texts, values, kind, names, skipped, source.name)


def _with_kind(layout: Layout, kind: LabelKind | None, name: str) -> Layout:
    if kind == "none":
        return layout._replace(label=None, kind=kind)
    if kind is not None and layout.label is None:
        raise BadInput(f"label_kind is {kind!r}, but {name} has no column of labels; name one with label=, or --label")
    return layout._replace(kind=kind or layout.kind)


def _take(
    rows: Iterator[Row], layout: Layout, limit: int | None
) -> tuple[dict[str, list[str]], list[Any], array[int], int]:
    """Return the texts, the labels and the numbers of all rows with a gold label, and how many have none."""
    texts: dict[str, list[str]] = {column: [] for column in layout.texts}
    given: list[Any] = []
    numbers, skipped = array("q"), 0
    may_lack_gold = layout.label is not None and layout.kind in (None, "class", "binary")
    for row in rows:
        value = None if layout.label is None else row.field(layout.label)
        if may_lack_gold and value in layout.no_gold:
            skipped += 1
            continue
        given.append(value)
        for column in layout.texts:
            texts[column].append(row.text(column))
        numbers.append(row.number)
        if len(numbers) == limit:
            break
    if not numbers:
        raise BadInput(f"{row.source.name} has no gold label in any of {skipped} rows, but at least one is needed")
    return texts, given, numbers, skipped
