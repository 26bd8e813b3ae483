"""Measures models on tasks with known answers, with confidence intervals.

``metrics`` compares numbers with gold labels, ``evaluators`` turn a model into :class:`Score` objects, and ``suites``
make evaluators of published test sets.
"""

from sbert.evaluate.evaluators.evaluator import Several, primary_metric
from sbert.evaluate.evaluators.mining import Clustering, ParaphraseMining
from sbert.evaluate.evaluators.pairs import BinaryPairs, PairClassification
from sbert.evaluate.evaluators.retrieval import Rerank, Retrieval, Sample
from sbert.evaluate.evaluators.similarity import ArgumentSimilarity, Similarity, Triplets
from sbert.evaluate.evaluators.transfer import LabelledTexts, Transfer
from sbert.evaluate.metrics.significance import compare, interval, mcnemar
from sbert.evaluate.score import Score

__all__ = [
    "ArgumentSimilarity",
    "BinaryPairs",
    "Clustering",
    "LabelledTexts",
    "PairClassification",
    "ParaphraseMining",
    "Rerank",
    "Retrieval",
    "Sample",
    "Score",
    "Several",
    "Similarity",
    "Transfer",
    "Triplets",
    "compare",
    "interval",
    "mcnemar",
    "primary_metric",
]
