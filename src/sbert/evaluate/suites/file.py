"""A task made from a user's own file of pairs or triplets. Knows which labels belong to which evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sbert.data import Columns, read
from sbert.errors import BadInput
from sbert.evaluate.evaluators.evaluator import ScoreEvaluator
from sbert.evaluate.evaluators.pairs import BinaryPairs, PairClassification
from sbert.evaluate.evaluators.similarity import Similarity
from sbert.evaluate.evaluators.triplets import Triplets
from sbert.evaluate.suites.report import Missing, Report
from sbert.evaluate.suites.task import Capability, Model, Options, Task, capability_of
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


def task_of(data: Columns, capability: Capability) -> Task[Columns]:
    """Make a task of labelled pairs or triplets for models with this capability."""
    kind: LabelKind = "score" if _are_scores(data, capability) else data.label_kind

    def evaluator(data: Columns, _options: Options) -> ScoreEvaluator[Any]:
        return _evaluator(data, kind)

    return Task(Path(data.name).name, (), evaluator, _CAPABILITIES[kind], _FIGURES.get(kind, ()))


def _are_scores(data: Columns, capability: Capability) -> bool:
    """Whether class labels are numbers to correlate with: decimal numbers, or any numbers if the model has no classes.

    Text files do not tell numbers from names, so that scores in a column with an unusual name are read as classes.
    """
    if data.label_kind != "class":
        return False
    try:
        whole = all(float(name).is_integer() for name in data.label_names)
    except ValueError:
        return False
    return not whole or capability != "classifier"


def _evaluator(data: Columns, kind: LabelKind) -> ScoreEvaluator[Any]:
    first, second, *negatives = data.texts.values()
    if data.labels is None:
        return Triplets(first, second, negatives[0])
    if kind == "binary":
        return BinaryPairs(first, second, data.labels)
    names = [data.label_names[number] for number in data.labels.tolist()] if data.label_kind == "class" else []
    if kind == "score":
        return Similarity(first, second, [float(name) for name in names] or data.labels)
    numbered = all(name.isdecimal() for name in data.label_names)
    return PairClassification(first, second, [int(name) for name in names] if numbered else names)


def run(data: Columns, model: Model) -> Report:
    """Measure a model on the data of a file."""
    capability = capability_of(model)
    task = task_of(data, capability)
    if reason := task.refusal(capability):
        return Report(SUITE, (), (Missing(task.name, reason),))
    return Report(SUITE, tuple(task.scores(data, model)))
