"""What a task is, which models it can measure, and an encoder that embeds each text once. Knows no data set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from sbert.errors import BadInput, SbertError
from sbert.evaluate.suites.report import Missing, Score
from sbert.evaluate.suites.sources import DataFolder, Source
from sbert.types import Array, Encoder, OnTruncate, Scorer

T = TypeVar("T")
Kind = Literal["encoder", "scorer", "classifier"]
Aggregation = Literal["all", "mean", "wmean"]

_KINDS: dict[Kind, str] = {
    "encoder": "one that gives vectors, with encode",
    "scorer": "one that gives one score a pair, with predict",
    "classifier": "one that gives several labels a pair, with predict and labels",
}


Model = Encoder | Scorer


@dataclass(frozen=True, slots=True)
class Options:
    """How to measure, where a suite leaves a choice."""

    aggregation: Aggregation = "all"
    """Over the subsets of an STS year: one correlation over all pairs, the mean, or the mean weighted by size."""
    folds: int = 10
    """Of SentEval's cross-validation, outer and inner."""
    rows: int | None = None
    """At most so many rows to train SentEval's classifiers on."""
    reranker: Scorer | None = None
    """Re-orders what the encoder retrieved."""


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """One data set and how it is scored."""

    name: str
    sources: tuple[Source[T], ...]
    """The first one whose files are there is taken."""
    score: Callable[[str, T, Any, Options], list[Score]]
    """From the task's name, its data, a model of the right kind and the options."""
    kinds: tuple[Kind, ...]
    """Which models it can measure."""

    def found(self, folder: DataFolder) -> tuple[Source[T], list[Path]]:
        """The source that is taken, and its files; raises where none is whole."""
        for source in self.sources:
            if paths := folder.find(source):
                return source, paths
        raise BadInput(f"nothing of this is in {folder.path}: {'; or '.join(map(str, self.sources))}")

    def read(self, folder: DataFolder) -> tuple[T, str]:
        """The data, and what every score on them must say; raises where they are missing or damaged."""
        source, paths = self.found(folder)
        return source.read(paths), source.note

    def refusal(self, kind: Kind) -> str:
        """Why the task is not for models of that kind; empty where it is."""
        if kind in self.kinds:
            return ""
        return f"needs a model of another kind: {' or '.join(_KINDS[name] for name in self.kinds)}"

    def run(self, model: Model, kind: Kind, folder: DataFolder, options: Options) -> list[Score] | Missing:
        """The scores of a model of that kind, or why there are none: one bad set does not end an hour's work."""
        if reason := self.refusal(kind):
            return Missing(self.name, reason)
        try:
            source, paths = self.found(folder)
            data = source.read(paths)
        except BadInput as error:
            return Missing(self.name, str(error))
        try:
            scores = self.score(self.name, data, model, options)
        except SbertError as error:
            return Missing(self.name, f"{paths[0]}: {error}")
        return [replace(score, note="; ".join(filter(None, (source.note, score.note)))) for score in scores]


def kind_of(model: Model) -> Kind:
    """What a model can do: the classifiers are the scorers that know several labels."""
    if isinstance(model, Scorer):
        return "classifier" if len(getattr(model, "labels", ())) > 1 else "scorer"
    if hasattr(model, "encode"):
        return "encoder"
    raise BadInput(f"got a {type(model).__name__}, but a model has a method encode or predict")


class Memory:
    """An encoder that embeds each text once, however often it is asked; in all else the model it is made from."""

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


def similarities(model: Model, first: Sequence[str], second: Sequence[str]) -> tuple[Array, str]:
    """(N,) how similar a model finds pairs, and what to call it: cosines of an encoder, scores of a scorer."""
    if isinstance(model, Scorer):
        return model.predict(list(zip(first, second, strict=True)), on_truncate="ignore"), ""
    vectors = model.encode([*first, *second], on_truncate="ignore")
    lengths: Array = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.vecdot(*np.split(vectors / np.maximum(lengths, 1e-12), 2)), "_cosine"
