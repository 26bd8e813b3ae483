"""What belongs together among texts: paraphrase mining and clustering."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sbert.errors import BadInput, shown
from sbert.evaluate.evaluators.evaluator import ScoreEvaluator, check_lengths, checksum
from sbert.evaluate.evaluators.protocol import embed
from sbert.evaluate.metrics.prediction import ari, average_precision, best_f1, nmi, v_measure
from sbert.evaluate.score import Score
from sbert.search.exact import most_similar_pairs
from sbert.types import Encoder

_PAIRS = 500_000
"""Number of nearest pairs to consider."""


class ParaphraseMining(ScoreEvaluator[Encoder]):
    """Whether the most similar of all pairs, by cosine, are the known duplicates.

    Args:
        sentences: Texts by id.
        duplicates: Pairs of ids, in either order.

    >>> from sbert import BiEncoder
    >>> sentences = {"a": "A cat sleeps.", "b": "기차가 늦는다.", "c": "A cat naps."}
    >>> ParaphraseMining(sentences, [("c", "a")])(BiEncoder.from_pretrained())["average_precision"]
    100.0
    """

    primary_metric = "average_precision"

    def __init__(self, sentences: Mapping[Any, str], duplicates: Iterable[tuple[Hashable, Hashable]]) -> None:
        row = {key: number for number, key in enumerate(sentences)}
        pairs = list(duplicates)
        for pair in pairs:
            if unknown := [key for key in pair if key not in row]:
                raise BadInput(
                    f"the duplicates {shown(pair)} name {shown(unknown[0])}, but no sentence has that id; leave it out"
                )
            if pair[0] == pair[1]:
                raise BadInput(f"the duplicates {shown(pair)} are one sentence, but must be two; leave them out")
        self.sentences = dict(sentences)
        self.duplicates = {tuple(sorted((row[first], row[second]))) for first, second in pairs}
        if not self.duplicates:
            raise BadInput(f"no two of the {len(row)} sentences are duplicates, but some must be; name them")

    def __repr__(self) -> str:
        pairs = np.array(sorted(self.duplicates))
        size = f"{len(self.sentences)} sentences, {len(pairs)} duplicates"
        return f"ParaphraseMining({size}, checksum {checksum(*self.sentences.values(), pairs)})"

    def scores(self, model: Encoder) -> list[Score]:
        """Average precision, and precision, recall and F1 at the threshold with the highest F1."""
        (vectors,) = embed(model, list(self.sentences.values()))
        found = most_similar_pairs(vectors, _PAIRS)
        scores = np.array([pair.score for pair in found])
        right = np.array([(pair.first, pair.second) in self.duplicates for pair in found])
        count = len(self.duplicates)
        best = best_f1(scores, right, count)
        figures = {
            "average_precision": average_precision(scores, right, count),
            "f1": best.f1,
            "precision": best.precision,
            "recall": best.recall,
            "threshold": best.threshold,
        }
        return [Score(name, value, count) for name, value in figures.items()]


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
            only = shown(labels[0])
            raise BadInput(f"all {len(labels)} texts have the label {only}, but two groups are needed at least")
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
