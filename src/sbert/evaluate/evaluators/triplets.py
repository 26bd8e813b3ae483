"""Triplets: an anchor, a text that belongs to it and one that does not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sbert.evaluate.evaluators.inputs import check_lengths, checksum
from sbert.evaluate.evaluators.protocol import MEASURES, embed
from sbert.evaluate.metrics.prediction import accuracy
from sbert.types import Array, Encoder, Similarity


class Triplets:
    """Is each anchor nearer to its positive than to its negative? The paper trains and measures Euclidean distance.

    >>> from sbert import BiEncoder
    >>> evaluator = Triplets(["A cat sleeps."], ["A cat naps."], ["기차가 늦는다."])
    >>> evaluator(BiEncoder.from_pretrained())["euclidean_accuracy"]
    100.0
    """

    primary_metric = "euclidean_accuracy"
    metric = staticmethod(accuracy)

    def __init__(self, anchors: Sequence[str], positives: Sequence[str], negatives: Sequence[str]) -> None:
        check_lengths(anchors=anchors, positives=positives, negatives=negatives)
        self.anchors, self.positives, self.negatives = list(anchors), list(positives), list(negatives)
        self.gold = np.ones(len(anchors), np.bool_)

    def __repr__(self) -> str:
        texts = [*self.anchors, *self.positives, *self.negatives]
        return f"Triplets({len(self.anchors)} triplets, checksum {checksum(*texts)})"

    def __call__(self, model: Encoder) -> dict[str, float]:
        """Percentage of triplets in the right order, by each measure."""
        return {f"{measure}_accuracy": accuracy(right, self.gold) for measure, right in self._right(model).items()}

    def predictions(self, model: Encoder) -> Array:
        """(N,) whether each triplet is in the right order, by Euclidean distance."""
        return self._right(model)["euclidean"]

    def _right(self, model: Encoder) -> dict[Similarity, Array]:
        import torch

        from sbert.nn.similarity import pairwise

        columns = embed(model, self.anchors, self.positives, self.negatives)
        anchors, positives, negatives = (torch.as_tensor(vectors).float() for vectors in columns)
        order: list[Similarity] = ["euclidean", *(measure for measure in MEASURES if measure != "euclidean")]
        return {
            measure: (pairwise(anchors, positives, measure) > pairwise(anchors, negatives, measure)).numpy()
            for measure in order
        }
