"""Measures models on tasks with known answers, with confidence intervals.

``metrics`` compares numbers with gold labels, ``evaluators`` turn a model into :class:`Score` objects, and ``suites``
make evaluators of published test sets.
"""

from sbert.evaluate.evaluators.clustering import Clustering
from sbert.evaluate.evaluators.combined import Several
from sbert.evaluate.evaluators.evaluator import primary_metric
from sbert.evaluate.evaluators.mining import ParaphraseMining
from sbert.evaluate.evaluators.pairs import BinaryPairs, PairClassification
from sbert.evaluate.evaluators.rerank import Rerank, Sample
from sbert.evaluate.evaluators.retrieval import Retrieval
from sbert.evaluate.evaluators.similarity import ArgumentSimilarity, Similarity
from sbert.evaluate.evaluators.transfer import LabelledTexts, Transfer
from sbert.evaluate.evaluators.triplets import Triplets
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
