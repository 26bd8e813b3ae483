"""A model in, figures out: how good it is at a task with known answers, and how sure that is.

The names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sbert.evaluate.ask import primary_metric as primary_metric
    from sbert.evaluate.clustering import Clustering as Clustering
    from sbert.evaluate.mining import ParaphraseMining as ParaphraseMining
    from sbert.evaluate.pairs import BinaryPairs as BinaryPairs
    from sbert.evaluate.pairs import PairClassification as PairClassification
    from sbert.evaluate.rerank import Rerank as Rerank
    from sbert.evaluate.rerank import Sample as Sample
    from sbert.evaluate.retrieval import Retrieval as Retrieval
    from sbert.evaluate.several import Several as Several
    from sbert.evaluate.significance import compare as compare
    from sbert.evaluate.significance import interval as interval
    from sbert.evaluate.significance import mcnemar as mcnemar
    from sbert.evaluate.similarity import Similarity as Similarity
    from sbert.evaluate.triplets import Triplets as Triplets

_HOME = {
    "BinaryPairs": "pairs",
    "Clustering": "clustering",
    "PairClassification": "pairs",
    "ParaphraseMining": "mining",
    "Rerank": "rerank",
    "Retrieval": "retrieval",
    "Sample": "rerank",
    "Several": "several",
    "Similarity": "similarity",
    "Triplets": "triplets",
    "compare": "significance",
    "interval": "significance",
    "mcnemar": "significance",
    "primary_metric": "ask",
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
