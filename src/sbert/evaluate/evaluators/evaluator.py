"""The interface of evaluators: a model in, scores out. Knows no task."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

from sbert.errors import BadInput
from sbert.evaluate.score import Score
from sbert.types import Array, Encoder, Evaluator

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
