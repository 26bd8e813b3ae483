"""Defines the interface of evaluators, the checks of their data, and an evaluator that runs several others."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sized
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np

from sbert.errors import BadInput, check_option
from sbert.evaluate.score import Score
from sbert.types import Array, Encoder, Evaluator, Scorer

M = TypeVar("M", contravariant=True)


class ScoreEvaluator(ABC, Generic[M]):
    """An evaluator whose figures keep the predictions they were computed from.

    A subclass holds a task with known answers and implements :meth:`scores` and ``primary_metric``. One that measures
    both encoders and scorers under different names also has a ``scorer_metric``.
    """

    @property
    @abstractmethod
    def primary_metric(self) -> str:
        """Name of the figure that decides which model is best."""

    @abstractmethod
    def scores(self, model: M) -> list[Score]:
        """Measure a model: all figures with their metrics and predictions."""

    def __call__(self, model: M) -> dict[str, float]:
        """Measure a model: the values of all figures by name."""
        return {score.name: score.value for score in self.scores(model)}

    def predictions(self, model: M) -> Array:
        """(N,) what the primary figure is computed from: ``metric(predictions(model), gold)`` is its value."""
        name = primary_metric(self, model)
        predicted = next(score.predicted for score in self.scores(model) if score.name == name)
        if predicted is None:
            raise BadInput(f"{name} is not computed from independent items, so it has no predictions; use scores")
        return predicted


def primary_metric(evaluator: Evaluator | ScoreEvaluator[Any], model: object) -> str:
    """Return the name of the figure that decides which model is best.

    Vectors can be compared in several ways, whereas a scorer gives one score. An evaluator that measures both may
    therefore have a ``scorer_metric`` beside its ``primary_metric``.
    """
    name: str = evaluator.primary_metric
    return name if isinstance(model, Encoder) else getattr(evaluator, "scorer_metric", name)


class Several(ScoreEvaluator[Encoder | Scorer]):
    """All figures of several evaluators, and the mean of their primary figures.

    Args:
        evaluators: Evaluators by name. The name is a prefix of the evaluator's figures, as in ``sts_spearman_cosine``.
        decides: Name of the evaluator whose primary figure decides which model is best. Defaults to the mean.

    >>> from sbert import BiEncoder, evaluate
    >>> cats = evaluate.Triplets(["A cat sleeps."], ["A cat naps."], ["기차가 늦는다."])
    >>> trains = evaluate.Triplets(["기차가 늦는다."], ["기차가 또 늦는다."], ["A cat naps."])
    >>> figures = Several({"cats": cats, "trains": trains})(BiEncoder.from_pretrained())
    >>> figures["cats_euclidean_accuracy"], figures["mean"]
    (100.0, 100.0)
    """

    def __init__(self, evaluators: Mapping[str, Evaluator], decides: str | None = None) -> None:
        if not evaluators:
            raise BadInput("got no evaluators, but at least one must measure something")
        if decides is not None:
            check_option("decides", decides, list(evaluators))
        self.evaluators, self.decides = dict(evaluators), decides

    @property
    def primary_metric(self) -> str:
        """The mean, or the primary figure of the evaluator that decides."""
        return f"{self.decides}_{self.evaluators[self.decides].primary_metric}" if self.decides else "mean"

    @property
    def scorer_metric(self) -> str:
        """The primary metric of scorers."""
        return f"{self.decides}_{primary_metric(self.evaluators[self.decides], None)}" if self.decides else "mean"

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={evaluator!r}" for name, evaluator in self.evaluators.items())
        return f"Several({parts}, decides={self.decides})"

    def scores(self, model: Encoder | Scorer) -> list[Score]:
        """The mean of the primary figures first, then the figures of every evaluator."""
        primary: list[float] = []
        named: list[Score] = []
        for name, evaluator in self.evaluators.items():
            if isinstance(evaluator, ScoreEvaluator):
                found = evaluator.scores(model)
            else:  # a function from a model to figures, which keeps no predictions
                found = [Score(figure, value, 0) for figure, value in evaluator(model).items()]
            primary += [score.value for score in found if score.name == primary_metric(evaluator, model)]
            named += [replace(score, name=f"{name}_{score.name}") for score in found]
        return [Score("mean", float(np.mean(primary)), 0), *named]


def check_lengths(**columns: Sized) -> None:
    """Raise BadInput unless all columns have the same length and are not empty.

    >>> check_lengths(anchors=["비"], positives=["소나기", "눈"])
    Traceback (most recent call last):
    ...
    sbert.errors.BadInput: got 1 anchors and 2 positives, but there must be equally many, and at least one
    """
    lengths = [len(column) for column in columns.values()]
    if len(set(lengths)) > 1 or not all(lengths):
        *others, last = (f"{len(column)} {name.replace('_', ' ')}" for name, column in columns.items())
        raise BadInput(f"got {', '.join(others)} and {last}, but there must be equally many, and at least one")


def checksum(*parts: str | Array) -> str:
    """Return eight hexadecimal digits that identify the data, so that a resumed run recognises its evaluator."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() + b"\0" if isinstance(part, str) else part.tobytes())
    return digest.hexdigest()[:8]
