"""How well predictions agree with what people said. Knows numbers only: no texts, no models."""

from __future__ import annotations

import math

import numpy as np

from sbert.errors import BadInput
from sbert.types import Array


def spearman(predicted: Array, gold: Array) -> float:
    """Rank correlation times 100, as the paper reports it; not a number where all predictions are equal.

    >>> spearman(np.array([0.1, 0.4, 0.3]), np.array([1, 5, 2]))
    100.0
    """
    from scipy.stats import spearmanr

    check_gold(gold, len(predicted))
    return 100 * float(spearmanr(predicted, gold).statistic) if np.ptp(predicted) else math.nan


def pearson(predicted: Array, gold: Array) -> float:
    """Linear correlation times 100; not a number where all predictions are equal.

    >>> round(pearson(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 7.0])), 2)
    99.34
    """
    from scipy.stats import pearsonr

    check_gold(gold, len(predicted))
    return 100 * float(pearsonr(predicted, gold).statistic) if np.ptp(predicted) else math.nan


def check_gold(gold: Array, predictions: int) -> None:
    """Raise unless something can be correlated with ``gold``."""
    if predictions != len(gold) or len(gold) < 2:
        raise BadInput(
            f"got {predictions} predictions and {len(gold)} gold scores, but a correlation needs equally many, "
            "and at least two"
        )
    if np.ptp(gold) == 0:
        raise BadInput(f"all {len(gold)} gold scores are equal, so there is nothing to correlate; give varied ones")
