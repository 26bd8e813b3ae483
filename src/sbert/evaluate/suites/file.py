"""Measures a model on a user's own file of pairs or triplets. Knows which figures are reported for which labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sbert.data import Columns, read
from sbert.errors import BadInput
from sbert.evaluate.suites.columns import evaluator_of
from sbert.evaluate.suites.report import Missing, Report
from sbert.evaluate.suites.task import Capability, Model, Task, capability_of
from sbert.types import LabelKind

SUITE = "pairs"
"""Name of the suite in reports."""
_CAPABILITIES: dict[LabelKind, tuple[Capability, ...]] = {
    "score": ("encoder", "scorer"),
    "binary": ("encoder", "scorer"),
    "class": ("classifier",),
    "none": ("encoder",),
}
_FIGURES: dict[LabelKind, tuple[str, ...]] = {
    "score": ("spearman_cosine", "pearson_cosine", "spearman", "pearson"),
    "binary": ("cosine_ap", "cosine_accuracy", "cosine_f1", "average_precision", "accuracy", "f1"),
    "none": ("euclidean_accuracy", "cosine_accuracy"),
}


def read_pairs(
    path: str | Path, *, columns: Sequence[str] | None = None, label: str | None = None, split: str | None = None
) -> Columns:
    """Read labelled pairs, or triplets.

    Args:
        path: File in any format that :func:`sbert.data.read` reads.
        columns: Names of the columns of texts. Defaults to their usual names.
        label: Name of the column of labels. Defaults to its usual names.
        split: Rows to read from a file with a column ``split``. Defaults to all rows.
    """
    data = read(path, columns=columns, label=label, split=split, score_range=None)
    _check(data)
    return data


def _check(data: Columns) -> None:
    count = len(data.texts)
    if data.label_kind in ("score", "binary", "class") and count == 2:
        return
    if data.label_kind == "none" and count == 3:
        return
    labels = "no labels" if data.label_kind == "none" else f"labels of the kind {data.label_kind!r}"
    raise BadInput(
        f"{data.name} has {count} columns of texts and {labels}, but needs pairs with scores or labels, or triplets; "
        "name the columns with --columns and --label"
    )


def run(data: Columns, model: Model) -> Report:
    """Measure a model on the data of a file."""
    capability = capability_of(model)
    data = _with_scores(data, capability)
    kind = data.label_kind
    task = Task(Path(data.name).name, (), evaluator_of, _CAPABILITIES[kind], _FIGURES.get(kind, ()))
    if reason := task.refusal(capability):
        return Report(SUITE, (), (Missing(task.name, reason),))
    return Report(SUITE, tuple(task.scores(data, model)))


def _with_scores(data: Columns, capability: Capability) -> Columns:
    """Convert class labels to scores if they are decimal numbers, or numbers and the model has no classes.

    Text files do not tell numbers from names, so that scores in a column with an unusual name are read as classes.
    """
    if data.labels is None or data.label_kind != "class":
        return data
    try:
        scores = np.array([float(name) for name in data.label_names])
    except ValueError:
        return data
    if capability == "classifier" and (scores == scores.round()).all():
        return data
    return replace(data, labels=scores[data.labels], label_kind="score", label_names=())
