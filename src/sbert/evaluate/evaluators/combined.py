"""Several evaluators as one. Knows no task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sbert.errors import BadInput, check_option
from sbert.evaluate.evaluators.evaluator import ScoreEvaluator, primary_metric
from sbert.evaluate.score import Score
from sbert.types import Encoder, Evaluator, Scorer


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
            found = _scores(evaluator, model)
            primary += [score.value for score in found if score.name == primary_metric(evaluator, model)]
            named += [replace(score, name=f"{name}_{score.name}") for score in found]
        return [Score("mean", float(np.mean(primary)), 0), *named]


def _scores(evaluator: Evaluator, model: Encoder | Scorer) -> list[Score]:
    """The scores of an evaluator; one that is only a function from a model to figures keeps no predictions."""
    if isinstance(evaluator, ScoreEvaluator):
        return evaluator.scores(model)
    return [Score(name, value, 0) for name, value in evaluator(model).items()]
