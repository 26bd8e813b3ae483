"""Measures a model on a user's own file of pairs or triplets. Defines which figures are reported for which labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sbert.data import Columns, read
from sbert.data.labels import are_numbers
from sbert.errors import BadInput
from sbert.evaluate.score import Missing, Report
from sbert.evaluate.suites.task import Capability, Model, Task, capability_of, evaluator_of
from sbert.types import LabelKind

SUITE = "pairs"
"""Name of the suite in reports."""

_REPORTED: dict[LabelKind, tuple[tuple[Capability, ...], tuple[str, ...]]] = {
    "score": (("encoder", "scorer"), ("spearman_cosine", "pearson_cosine", "spearman", "pearson")),
    "binary": (
        ("encoder", "scorer"),
        ("cosine_ap", "cosine_accuracy", "cosine_f1", "average_precision", "accuracy", "f1"),
    ),
    "class": (("classifier",), ()),
    "none": (("encoder",), ("euclidean_accuracy", "cosine_accuracy")),
}
"""For each kind of labels, the kinds of models that are measured and the figures that are reported; empty for all."""


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
    kind, count = data.label_kind, len(data.texts)
    if kind not in _REPORTED or count != (3 if kind == "none" else 2):
        labels = "no labels" if kind == "none" else f"labels of the kind {kind!r}"
        raise BadInput(
            f"{data.name} has {count} columns of texts and {labels}, but needs pairs with scores or labels, or "
            "triplets; name the columns with --columns and --label"
        )
    return data


def run(data: Columns, model: Model) -> Report:
    """Measure a model on the data of a file."""
    capability = capability_of(model)
    data = _with_scores(data, capability)
    capabilities, figures = _REPORTED[data.label_kind]
    task = Task(Path(data.name).name, (), evaluator_of, capabilities, figures)
    if reason := task.refusal(capability):
        return Report(SUITE, (), (Missing(task.name, reason),))
    return Report(SUITE, tuple(task.scores(data, model)))


def _with_scores(data: Columns, capability: Capability) -> Columns:
    """Convert class labels to scores if they are numbers and the model has no classes."""
    if data.labels is None or data.label_kind != "class" or capability == "classifier":
        return data
    if not are_numbers(data.label_names):
        return data
    scores = np.array([float(name) for name in data.label_names])
    return replace(data, labels=scores[data.labels], label_kind="score", label_names=())
