"""Metrics of predictions and of ranked lists, and confidence intervals. Works on numbers only."""

from sbert.evaluate.metrics.prediction import (
    accuracy,
    ari,
    attained,
    average_precision,
    best_accuracy,
    best_f1,
    f1,
    matthews,
    nmi,
    pearson,
    precision_recall_f1,
    spearman,
    v_measure,
)
from sbert.evaluate.metrics.significance import compare, interval, mcnemar

__all__ = [
    "accuracy",
    "ari",
    "attained",
    "average_precision",
    "best_accuracy",
    "best_f1",
    "compare",
    "f1",
    "interval",
    "matthews",
    "mcnemar",
    "nmi",
    "pearson",
    "precision_recall_f1",
    "spearman",
    "v_measure",
]
