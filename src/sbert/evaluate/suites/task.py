"""A task: where its data is, and a function from the data to an evaluator. Independent of any data set.

``task.read(folder)`` reads the data, ``task.scores(data, model)`` measures a model on it, and ``task.run`` does both
and turns errors into a reason why the task is missing from a report.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, get_args

import numpy as np

from sbert.data import Columns
from sbert.errors import BadInput, SbertError, check_option
from sbert.evaluate.evaluators.evaluator import ScoreEvaluator
from sbert.evaluate.evaluators.pairs import BinaryPairs, PairClassification
from sbert.evaluate.evaluators.similarity import Aggregation, Similarity, Triplets
from sbert.evaluate.score import Missing, Score
from sbert.evaluate.suites.sources import DataFolder, Source
from sbert.types import Array, Encoder, OnTruncate, Scorer

T = TypeVar("T")
Model = Encoder | Scorer
Capability = Literal["encoder", "scorer", "classifier"]

_CAPABILITIES: dict[Capability, str] = {
    "encoder": "one that gives vectors, with encode",
    "scorer": "one that gives one score a pair, with predict",
    "classifier": "one that gives several labels a pair, with predict and labels",
}
_MOST_DIGITS = 10
"""A class of as many digits is a name: no model has so many classes."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of :meth:`Suite.run` that evaluators need; ``train_limit`` is its ``rows``."""

    aggregation: Aggregation = "all"
    folds: int = 10
    train_limit: int | None = None
    reranker: Scorer | None = None

    def __post_init__(self) -> None:
        check_option("aggregation", self.aggregation, get_args(Aggregation))


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """A data set and its evaluator."""

    name: str
    sources: tuple[Source[T], ...]
    """Where the data may come from; the first source whose files exist is used."""
    evaluator: Callable[[T, Options], ScoreEvaluator[Any]]
    """Makes an evaluator of the data."""
    capabilities: tuple[Capability, ...]
    """The kinds of models that the evaluator can measure."""
    figures: tuple[str, ...] = ()
    """Names of the figures to report, in this order; those that the evaluator does not compute for a kind of model are
    left out. Empty for all."""
    prefix: str = ""
    """Prefix of figure names that the report leaves out."""

    def found(self, folder: DataFolder) -> tuple[Source[T], list[Path]]:
        """Return the source to use and its files; raise BadInput if no source is complete."""
        for source in self.sources:
            if paths := folder.find(source):
                return source, paths
        raise BadInput(f"nothing of this is in {folder.path}: {'; or '.join(map(str, self.sources))}")

    def read(self, folder: DataFolder) -> tuple[T, str]:
        """Return the data and the note of its source; raise BadInput if it is missing or damaged."""
        source, paths = self.found(folder)
        return source.read(paths), source.note

    def scores(self, data: T, model: Model, options: Options | None = None) -> list[Score]:
        """Measure a model on the data."""
        evaluator = self.evaluator(data, options or Options())
        by_name = {score.name: score for score in evaluator.scores(model)}
        return [
            replace(by_name[name], name=name.removeprefix(self.prefix), task=self.name)
            for name in self.figures or by_name
            if name in by_name
        ]

    def refusal(self, capability: Capability) -> str:
        """Return why the task cannot measure such models; empty if it can."""
        if capability in self.capabilities:
            return ""
        return f"needs a model of another kind: {' or '.join(_CAPABILITIES[name] for name in self.capabilities)}"

    def run(self, model: Model, folder: DataFolder, options: Options) -> list[Score] | Missing:
        """Measure a model, or return why that is not possible."""
        if reason := self.refusal(capability_of(model)):
            return Missing(self.name, reason)
        where = ""
        try:
            source, paths = self.found(folder)
            data = source.read(paths)
            where = f"{paths[0]}: "
            scores = self.scores(data, model, options)
        except SbertError as error:
            return Missing(self.name, f"{where}{error}")
        return [replace(score, note="; ".join(filter(None, (source.note, score.note)))) for score in scores]


def capability_of(model: Model) -> Capability:
    """Return what a model can do; a scorer with several labels is a classifier."""
    if isinstance(model, Encoder):
        return "encoder"
    if isinstance(model, Scorer):
        return "classifier" if len(getattr(model, "labels", ())) > 1 else "scorer"
    raise BadInput(f"got a {type(model).__name__}, but a model has a method encode or predict")


def evaluator_of(data: Columns, _options: Options) -> ScoreEvaluator[Any]:
    """Make the evaluator that belongs to the labels of pairs, or of triplets, which have none."""
    first, second, *negatives = data.texts.values()
    if data.labels is None:
        return Triplets(first, second, negatives[0])
    if data.label_kind == "score":
        return Similarity(first, second, data.labels)
    if data.label_kind == "binary":
        return BinaryPairs(first, second, data.labels)
    names = [data.label_names[number] for number in data.labels.tolist()]
    numbered = all(name.isdecimal() and len(name) < _MOST_DIGITS for name in data.label_names)
    return PairClassification(first, second, [int(name) for name in names] if numbered else names)


class CachedEncoder:
    """An encoder that embeds each text once, even if several tasks contain it; otherwise behaves as its model."""

    def __init__(self, model: Encoder) -> None:
        self._model = model
        self._vectors: dict[str, Array] = {}

    def encode(self, sentences: Sequence[str], *, on_truncate: OnTruncate = "ignore") -> Array:
        """(N, D), one vector per text."""
        unseen = [text for text in dict.fromkeys(sentences) if text not in self._vectors]
        if unseen:
            self._vectors.update(zip(unseen, self._model.encode(unseen, on_truncate=on_truncate), strict=True))
        return np.stack([self._vectors[text] for text in sentences])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


def cached(model: Model) -> Model:
    """Make an encoder keep its vectors; return a scorer unchanged."""
    return CachedEncoder(model) if isinstance(model, Encoder) else model
