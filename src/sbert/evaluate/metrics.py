"""How well predictions agree with what people said. Knows numbers only: no texts, no models."""

from __future__ import annotations

import numpy as np

from sbert.errors import BadInput
from sbert.types import Array


def spearman(predicted: Array, gold: Array) -> float:
    """Rank correlation times 100, as the paper reports it.

    >>> spearman(np.array([0.1, 0.4, 0.3]), np.array([1, 5, 2]))
    100.0
    """
    from scipy.stats import spearmanr

    _check(predicted, gold)
    return 100 * float(spearmanr(predicted, gold).statistic)


def pearson(predicted: Array, gold: Array) -> float:
    """Linear correlation times 100.

    >>> round(pearson(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 7.0])), 2)
    99.34
    """
    from scipy.stats import pearsonr

    _check(predicted, gold)
    return 100 * float(pearsonr(predicted, gold).statistic)


def _check(predicted: Array, gold: Array) -> None:
    if len(predicted) != len(gold) or len(gold) < 2:
        raise BadInput(
            f"got {len(predicted)} predictions and {len(gold)} gold scores, but a correlation needs equally many, "
            "and at least two"
        )
    for what, values in (("predictions", predicted), ("gold scores", gold)):
        if np.ptp(values) == 0:
            raise BadInput(f"all {len(values)} {what} are equal, so there is nothing to correlate; give varied ones")
