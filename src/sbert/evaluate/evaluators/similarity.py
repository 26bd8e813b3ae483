"""Semantic textual similarity: pairs of texts with gold similarity scores, and triplets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, get_args

import numpy as np
import torch

from sbert.errors import check_option
from sbert.evaluate.evaluators.evaluator import ScoreEvaluator, check_lengths, checksum
from sbert.evaluate.evaluators.protocol import embed, pair_scores
from sbert.evaluate.metrics.prediction import accuracy, check_gold, pearson, spearman
from sbert.evaluate.metrics.significance import Metric
from sbert.evaluate.score import Score
from sbert.nn.similarity import pairwise
from sbert.types import Array, Encoder, Scorer
from sbert.types import Similarity as SimilarityFunction

Aggregation = Literal["all", "mean", "wmean"]
"""One correlation over all pairs, the mean over the subsets, or the mean weighted by their sizes."""


class Similarity(ScoreEvaluator[Encoder | Scorer]):
    """Correlation of a model's similarities with gold scores.

    An encoder is measured by four similarity functions, a scorer by its own score.

    Args:
        first: First text of each pair.
        second: Second text of each pair.
        gold: Gold similarity of each pair, on any scale.
        subsets: Name of the subset that each pair belongs to. Defaults to a single subset.
        aggregation: "all" computes one correlation over all pairs, "mean" the mean over the subsets, "wmean" the mean
            weighted by their sizes.

    >>> from sbert import BiEncoder
    >>> pairs = ["A man eats.", "A cat sleeps.", "비가 온다."], ["Someone has a meal.", "A cat naps.", "I like jazz."]
    >>> scores = Similarity(*pairs, gold=[4.0, 4.5, 0.0])(BiEncoder.from_pretrained())
    >>> scores["spearman_cosine"]
    100.0
    """

    primary_metric = "spearman_cosine"
    scorer_metric = "spearman"
    metric = staticmethod(spearman)
    correlations: ClassVar[Mapping[str, Metric]] = {"spearman": spearman, "pearson": pearson}

    def __init__(
        self,
        first: Sequence[str],
        second: Sequence[str],
        gold: Sequence[float] | Array,
        *,
        subsets: Sequence[str] | None = None,
        aggregation: Aggregation = "all",
    ) -> None:
        check_lengths(first_texts=first, second_texts=second, scores=gold)
        check_option("aggregation", aggregation, get_args(Aggregation))
        self.first, self.second, self.gold = list(first), list(second), np.asarray(gold, np.float64)
        check_gold(self.gold, self.gold)
        self.subsets = [""] * len(self.gold) if subsets is None else list(subsets)
        check_lengths(scores=self.gold, subsets=self.subsets)
        count = len(set(self.subsets))
        self.aggregation: Aggregation = aggregation if count > 1 else "all"
        self.note = f"aggregation {aggregation} of {count} subsets" if count > 1 else ""

    def __repr__(self) -> str:
        shown = "" if self.aggregation == "all" else f", {self.aggregation} of {len(set(self.subsets))} subsets"
        mark = checksum(*self.first, *self.second, self.gold)
        return f"{type(self).__name__}({len(self.gold)} pairs{shown}, checksum {mark})"

    def scores(self, model: Encoder | Scorer) -> list[Score]:
        """Spearman and Pearson correlations, times 100."""
        found = pair_scores(model, self.first, self.second)
        return [
            self._score(quantity, by, predicted) for by, predicted in found.items() for quantity in self.correlations
        ]

    def _score(self, quantity: str, by: SimilarityFunction | None, predicted: Array) -> Score:
        metric, name = self.correlations[quantity], f"{quantity}_{by}" if by else quantity
        if self.aggregation == "all":
            return Score.measured(name, metric, predicted, self.gold, quantity=quantity, note=self.note)
        value = aggregate(predicted, self.gold, self.subsets, self.aggregation, metric)
        return Score(name, value, len(self.gold), quantity=quantity, note=self.note)


class ArgumentSimilarity(Similarity):
    """Similarity of arguments as in the Sentence-BERT paper: correlations averaged over the topics.

    Args:
        first: First argument of each pair.
        second: Second argument of each pair.
        gold: Gold similarity of each pair.
        topics: Topic of each pair.

    >>> from sbert import BiEncoder
    >>> pairs = ["Guns kill.", "Guns protect.", "총은 위험하다."], ["Arms kill.", "I like jazz.", "총은 위험해."]
    >>> evaluator = ArgumentSimilarity(*pairs, [4.0, 1.0, 4.5], ["guns", "guns", "guns"])
    >>> evaluator(BiEncoder.from_pretrained())["pearson_cosine"] > 90
    True
    """

    primary_metric = "pearson_cosine"
    scorer_metric = "pearson"
    metric = staticmethod(pearson)
    correlations: ClassVar[Mapping[str, Metric]] = {"pearson": pearson, "spearman": spearman}

    def __init__(
        self, first: Sequence[str], second: Sequence[str], gold: Sequence[float] | Array, topics: Sequence[str]
    ) -> None:
        super().__init__(first, second, gold, subsets=topics, aggregation="mean")
        self.note = f"mean over {len(set(topics))} topics, not trained on them"


def aggregate(
    predicted: Array,
    gold: Array,
    subsets: Sequence[str],
    aggregation: Aggregation = "all",
    metric: Metric = spearman,
) -> float:
    """Correlate predictions with gold scores over all pairs, or average over the subsets.

    >>> predicted, gold = np.array([0.1, 0.2, 0.9, 0.8]), np.array([1, 2, 3, 4])
    >>> aggregate(predicted, gold, ["a", "a", "b", "b"], "mean")
    0.0
    >>> round(aggregate(predicted, gold, ["a", "a", "b", "b"], "all"), 2)
    80.0
    """
    if aggregation == "all":
        return metric(predicted, gold)
    names, subset, sizes = np.unique(np.array(subsets), return_inverse=True, return_counts=True)
    values = [metric(predicted[subset == number], gold[subset == number]) for number in range(len(names))]
    return float(np.average(values, weights=sizes if aggregation == "wmean" else None))


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
        order: tuple[SimilarityFunction, ...] = ("euclidean", "cosine", "dot", "manhattan")
        right = {by: pairwise(anchors, positives, by) > pairwise(anchors, negatives, by) for by in order}
        return [Score.measured(f"{by}_accuracy", accuracy, found.numpy(), self.gold) for by, found in right.items()]
