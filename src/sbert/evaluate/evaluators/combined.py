"""Several evaluators as one. Knows no task."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sbert.errors import BadInput, check_option
from sbert.evaluate.evaluators.protocol import primary_metric
from sbert.types import Encoder, Evaluator, Scorer


class Several:
    """All figures of several evaluators, each under its evaluator's name, and the mean of their primary ones.

    Args:
        evaluators: by name, which stands before its figures: ``sts_spearman_cosine``.
        decides: the evaluator whose primary figure decides which model is best; the mean unless given.

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
        """The same for scorers."""
        return f"{self.decides}_{primary_metric(self.evaluators[self.decides], None)}" if self.decides else "mean"

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={evaluator!r}" for name, evaluator in self.evaluators.items())
        return f"Several({parts}, decides={self.decides})"

    def __call__(self, model: Encoder | Scorer) -> dict[str, float]:
        """The mean first, then every evaluator's own."""
        found = {name: evaluator(model) for name, evaluator in self.evaluators.items()}
        primary = [found[name][primary_metric(evaluator, model)] for name, evaluator in self.evaluators.items()]
        named = {f"{name}_{key}": value for name, figures in found.items() for key, value in figures.items()}
        return {"mean": float(np.mean(primary)), **named}
