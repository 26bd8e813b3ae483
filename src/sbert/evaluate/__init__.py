"""A model in, figures out: how good it is at a task with known answers, and how sure that is.

The names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sbert.evaluate.evaluators.clustering import Clustering as Clustering
    from sbert.evaluate.evaluators.combined import Several as Several
    from sbert.evaluate.evaluators.mining import ParaphraseMining as ParaphraseMining
    from sbert.evaluate.evaluators.pairs import BinaryPairs as BinaryPairs
    from sbert.evaluate.evaluators.pairs import PairClassification as PairClassification
    from sbert.evaluate.evaluators.protocol import primary_metric as primary_metric
    from sbert.evaluate.evaluators.rerank import Rerank as Rerank
    from sbert.evaluate.evaluators.rerank import Sample as Sample
    from sbert.evaluate.evaluators.retrieval import Retrieval as Retrieval
    from sbert.evaluate.evaluators.similarity import Similarity as Similarity
    from sbert.evaluate.evaluators.triplets import Triplets as Triplets
    from sbert.evaluate.metrics.significance import compare as compare
    from sbert.evaluate.metrics.significance import interval as interval
    from sbert.evaluate.metrics.significance import mcnemar as mcnemar

_HOME = {
    "BinaryPairs": "evaluators.pairs",
    "Clustering": "evaluators.clustering",
    "PairClassification": "evaluators.pairs",
    "ParaphraseMining": "evaluators.mining",
    "Rerank": "evaluators.rerank",
    "Retrieval": "evaluators.retrieval",
    "Sample": "evaluators.rerank",
    "Several": "evaluators.combined",
    "Similarity": "evaluators.similarity",
    "Triplets": "evaluators.triplets",
    "compare": "metrics.significance",
    "interval": "metrics.significance",
    "mcnemar": "metrics.significance",
    "primary_metric": "evaluators.protocol",
}

__all__ = [
    "BinaryPairs",
    "Clustering",
    "PairClassification",
    "ParaphraseMining",
    "Rerank",
    "Retrieval",
    "Sample",
    "Several",
    "Similarity",
    "Triplets",
    "compare",
    "interval",
    "mcnemar",
    "primary_metric",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
