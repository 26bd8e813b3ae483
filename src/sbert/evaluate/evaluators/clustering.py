"""Clustering: texts and the groups they belong to."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from sbert.errors import BadInput, shown
from sbert.evaluate.evaluators.evaluator import ScoreEvaluator
from sbert.evaluate.evaluators.inputs import check_lengths, checksum
from sbert.evaluate.evaluators.protocol import embed
from sbert.evaluate.metrics.prediction import ari, nmi, v_measure
from sbert.evaluate.score import Score
from sbert.types import Encoder


class Clustering(ScoreEvaluator[Encoder]):
    """How well k-means, with one cluster for each label, recovers the groups.

    Args:
        texts: Texts to cluster.
        labels: Group of each text.
        seed: Random seed of the first centres.

    >>> from sbert import BiEncoder
    >>> texts = ["A cat sleeps.", "기차가 늦는다.", "A cat naps.", "기차가 또 늦는다."]
    >>> Clustering(texts, ["animals", "trains", "animals", "trains"])(BiEncoder.from_pretrained())["v_measure"]
    100.0
    """

    primary_metric = "v_measure"

    def __init__(self, texts: Sequence[str], labels: Sequence[Hashable], seed: int = 42) -> None:
        check_lengths(texts=texts, labels=labels)
        number = {label: place for place, label in enumerate(dict.fromkeys(labels))}
        if len(number) < 2:
            raise BadInput(
                f"all {len(labels)} texts have the label {shown(labels[0])}, but two groups are needed at least"
            )
        self.texts, self.labels, self.seed = list(texts), [number[label] for label in labels], seed

    def __repr__(self) -> str:
        groups = max(self.labels) + 1
        mark = checksum(*self.texts, *map(str, [*self.labels, self.seed]))
        return f"Clustering({len(self.texts)} texts, {groups} groups, checksum {mark})"

    def scores(self, model: Encoder) -> list[Score]:
        """V-measure, adjusted Rand index and normalised mutual information."""
        from sklearn.cluster import KMeans

        (vectors,) = embed(model, self.texts)
        found, gold = KMeans(max(self.labels) + 1, random_state=self.seed).fit_predict(vectors), np.array(self.labels)
        metrics = {"v_measure": v_measure, "ari": ari, "nmi": nmi}
        return [Score.measured(name, metric, found, gold) for name, metric in metrics.items()]
