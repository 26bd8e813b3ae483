"""Clustering: texts, and which of them belong together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from sbert.errors import BadInput
from sbert.evaluate.evaluators.inputs import check_lengths, checksum
from sbert.evaluate.evaluators.protocol import embed
from sbert.evaluate.metrics import prediction as metrics
from sbert.types import Encoder


class Clustering:
    """Does k-means, with as many clusters as there are labels, find the groups that people made?

    Args:
        texts: what is clustered.
        labels: the group of each text.
        seed: of the first centres.

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
            raise BadInput(f"all {len(labels)} texts have the label {labels[0]!r}, but two groups are needed at least")
        self.texts, self.labels, self.seed = list(texts), [number[label] for label in labels], seed

    def __repr__(self) -> str:
        groups = max(self.labels) + 1
        mark = checksum(*self.texts, *map(str, [*self.labels, self.seed]))
        return f"Clustering({len(self.texts)} texts, {groups} groups, checksum {mark})"

    def __call__(self, model: Encoder) -> dict[str, float]:
        """V-measure, adjusted Rand index and normalised mutual information."""
        from sklearn.cluster import KMeans

        (vectors,) = embed(model, self.texts)
        found = KMeans(max(self.labels) + 1, random_state=self.seed).fit_predict(vectors)
        return {
            "v_measure": metrics.v_measure(found, self.labels),
            "ari": metrics.ari(found, self.labels),
            "nmi": metrics.nmi(found, self.labels),
        }
