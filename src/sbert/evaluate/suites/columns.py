"""Makes evaluators of labelled pairs and of triplets."""

from __future__ import annotations

from typing import Any

from sbert.data import Columns
from sbert.evaluate.evaluators.evaluator import ScoreEvaluator
from sbert.evaluate.evaluators.pairs import BinaryPairs, PairClassification
from sbert.evaluate.evaluators.similarity import Similarity
from sbert.evaluate.evaluators.triplets import Triplets
from sbert.evaluate.suites.task import Options


def evaluator_of(data: Columns, _options: Options) -> ScoreEvaluator[Any]:
    """Make the evaluator that belongs to the labels of pairs, or of triplets, which have none."""
    first, second, *negatives = data.texts.values()
    if data.labels is None:
        return Triplets(first, second, negatives[0])
    if data.label_kind == "score":
        return Similarity(first, second, data.labels)
    if data.label_kind == "binary":
        return BinaryPairs(first, second, data.labels)
    names = [data.label_names[number] for number in data.labels.tolist()]
    numbered = all(name.isdecimal() for name in data.label_names)
    return PairClassification(first, second, [int(name) for name in names] if numbered else names)
