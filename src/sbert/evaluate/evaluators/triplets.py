"""Triplets: an anchor, a text that is similar to it and one that is not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from sbert.evaluate.evaluators.evaluator import ScoreEvaluator
from sbert.evaluate.evaluators.inputs import check_lengths, checksum
from sbert.evaluate.evaluators.protocol import embed
from sbert.evaluate.metrics.prediction import accuracy
from sbert.evaluate.score import Score
from sbert.nn.similarity import pairwise
from sbert.types import Encoder, Similarity

_ORDER: tuple[Similarity, ...] = ("euclidean", "cosine", "dot", "manhattan")


class Triplets(ScoreEvaluator[Encoder]):
    """Share of triplets whose anchor is nearer to the positive than to the negative text.

    The primary figure uses the Euclidean distance, as the Sentence-BERT paper does.

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

    def scores(self, model: Encoder) -> list[Score]:
        """Percentage of triplets in the right order, by every similarity function."""
        columns = embed(model, self.anchors, self.positives, self.negatives)
        anchors, positives, negatives = (torch.as_tensor(vectors).float() for vectors in columns)
        return [
            Score.measured(
                f"{by}_accuracy",
                accuracy,
                (pairwise(anchors, positives, by) > pairwise(anchors, negatives, by)).numpy(),
                self.gold,
            )
            for by in _ORDER
        ]
