"""Divides texts into topics, names them by their words, and assigns new texts. Works on texts and vectors only."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sbert.errors import BadInput, BadModel, check_count, shown
from sbert.explore.clusters import (
    ClusterMethod,
    ClusterOptions,
    Clusters,
    count_distinct,
    find_clusters,
    rows_by_label,
    summarised,
)
from sbert.explore.neighbours import unit_vectors
from sbert.explore.threads import on_one_thread
from sbert.explore.wording import TopicWord, typical_words
from sbert.text import display
from sbert.text.phrases import phrases
from sbert.types import FloatArray, IntArray

_FORMAT = 1
_TEMPERATURE = 0.05
_NAME_WORDS = _EXAMPLES = 3


class Topic(NamedTuple):
    """One topic: its size, its most typical words, and the rows of the texts nearest to its centre."""

    number: int
    size: int
    words: list[TopicWord]
    examples: list[int]

    @property
    def name(self) -> str:
        """The most typical words."""
        return ", ".join(word.phrase for word in self.words[:_NAME_WORDS]) or f"topic {self.number}"


class Assigned(NamedTuple):
    """The topics of N texts."""

    labels: IntArray
    """(N,) the number of the nearest topic; -1 where the confidence is below the limit."""
    confidence: FloatArray
    """(N,) the share of the nearest topic in the softmax of the cosines with all centres, divided by 0.05."""


class Merge(NamedTuple):
    """Two groups of topics that are merged."""

    first: list[int]
    second: list[int]
    similarity: float
    """The cosine of their centres."""


@dataclass(frozen=True, slots=True, eq=False)
class Topics:
    """The topics of a collection."""

    topics: list[Topic]
    centres: FloatArray
    """(K, D) of length 1."""
    labels: IntArray
    """(N,) the topic of each text of the collection; -1 for texts without one."""
    confidence: FloatArray
    """(N,)."""
    least_confidence: float = 0.0
    """Texts with a lower confidence have no topic."""
    fingerprint: str = ""
    """Identifies the model of the vectors, if it is known."""

    def _repr_html_(self) -> str:
        """Show the topics as a table in a notebook."""
        rows = [
            [topic.number, f"{topic.size:,}", ", ".join(word.phrase for word in topic.words)] for topic in self.topics
        ]
        without = f"texts without a topic: {int((self.labels < 0).sum()):,}"
        return display.html_table(["topic", "texts", "words"], rows, without)

    def assign(self, vectors: npt.ArrayLike) -> Assigned:
        """Assign texts to topics by their vectors (N, D), without changing the topics."""
        unit = unit_vectors(vectors)
        if len(unit) and unit.shape[1] != self.centres.shape[1]:
            raise BadInput(
                f"the vectors have {unit.shape[1]} dimensions, but the topics have {self.centres.shape[1]}; use the "
                "model that made the topics"
            )
        return _assigned(unit, self.centres, self.least_confidence)

    def with_texts(self, vectors: npt.ArrayLike) -> Topics:
        """Return the same topics for other texts, with their sizes and their texts nearest to each centre."""
        labels, confidence = self.assign(vectors)
        unit, groups = unit_vectors(vectors), rows_by_label(labels, len(self.topics))
        topics = [
            topic._replace(size=len(rows), examples=_examples(unit, centre, rows))
            for topic, centre, rows in zip(self.topics, self.centres, groups, strict=True)
        ]
        return replace(self, topics=topics, labels=labels, confidence=confidence)

    def hierarchy(self) -> list[Merge]:
        """Merge the two groups of topics with the lowest cost, repeatedly until one group is left.

        The cost is the increase of the squared distances from the centres (Ward's method), which merges small groups
        rather than adding one topic after another to a large one.
        """
        groups = [[topic.number] for topic in self.topics]
        weights = np.array([max(topic.size, 1) for topic in self.topics], np.float64)
        centres = self.centres.astype(np.float64)
        merges = []
        while len(groups) > 1:
            squares = np.square(centres).sum(axis=1)
            distances = squares[:, None] + squares - 2 * centres @ centres.T
            losses = np.round(distances * weights[:, None] * weights / (weights[:, None] + weights), 9)
            np.fill_diagonal(losses, np.inf)
            first, second = sorted(divmod(int(np.argmin(losses)), len(groups)))
            cosine = centres[first] @ centres[second] / max(float(np.sqrt(squares[first] * squares[second])), 1e-12)
            merges.append(Merge(sorted(groups[first]), sorted(groups[second]), float(cosine)))
            total = weights[first] + weights[second]
            centres[first] = (centres[first] * weights[first] + centres[second] * weights[second]) / total
            groups[first], weights[first] = groups[first] + groups[second], total
            centres, weights = np.delete(centres, second, axis=0), np.delete(weights, second)
            del groups[second]
        return merges

    def over_time(self, periods: Sequence[str | None]) -> dict[str, list[int]]:
        """Count the texts of each topic in each period, such as "2024-05", in the order of the periods' names.

        A text whose period is None is not counted.
        """
        if len(periods) != len(self.labels):
            raise BadInput(f"got {len(periods)} periods for {len(self.labels)} texts, but each text needs one")
        counts = {period: [0] * len(self.topics) for period in sorted({*periods} - {None}, key=str)}
        for period, label in zip(periods, self.labels.tolist(), strict=True):
            if label >= 0 and period is not None:
                counts[period][label] += 1
        return {str(period): numbers for period, numbers in counts.items()}

    def to_json(self) -> str:
        """Return the topics as JSON, which :meth:`from_json` reads."""
        return json.dumps(
            {
                "format": _FORMAT,
                "topics": [topic._asdict() for topic in self.topics],
                "centres": self.centres.tolist(),
                "labels": self.labels.tolist(),
                "confidence": self.confidence.tolist(),
                "least_confidence": self.least_confidence,
                "fingerprint": self.fingerprint,
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> Topics:
        """Read what :meth:`to_json` wrote."""
        try:
            stored = json.loads(text)
            found = cls(
                [_read_topic(number, one) for number, one in enumerate(stored["topics"])],
                np.array(stored["centres"], np.float32),
                np.array(stored["labels"], np.int64),
                np.array(stored["confidence"], np.float32),
                float(stored["least_confidence"]),
                str(stored["fingerprint"]),
            )
            sizes = found.centres.ndim == 2 and len(found.centres) == len(found.topics) > 0
            numbers = found.centres, found.confidence, found.least_confidence
            whole = stored["format"] == _FORMAT and sizes and found.labels.shape == found.confidence.shape
            if not whole or not all(np.isfinite(some).all() for some in numbers):
                raise ValueError("sizes or numbers do not fit")
        except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
            raise BadModel(
                f"these are not topics, or they are damaged ({shown(str(error))}); save them again"
            ) from None
        return found


def _read_topic(number: int, stored: dict[str, Any]) -> Topic:
    """Read one topic. Raises ValueError, TypeError or LookupError unless it is one."""
    words = [TopicWord(str(phrase), float(weight)) for phrase, weight in stored["words"]]
    examples = [int(row) for row in stored["examples"]]
    if stored["number"] != number or not all(isinstance(phrase, str) for phrase, _ in stored["words"]):
        raise ValueError("a topic has another number, or a word that is not a text")
    return Topic(number, int(stored["size"]), words, examples)


def find_topics(
    texts: Sequence[str],
    vectors: npt.ArrayLike,
    count: int | None = None,
    *,
    method: ClusterMethod = "kmeans",
    options: ClusterOptions | None = None,
    words: int = 10,
    longest: int = 2,
    least_confidence: float = 0.0,
) -> Topics:
    """Divide texts into topics. Every text has one, unless ``least_confidence`` is set.

    The texts are clustered by their vectors; a text belongs to the topic with the nearest centre. A word is typical of
    a topic if many of its texts and few of the others contain it (class-based tf-idf).

    Args:
        texts: N texts.
        vectors: Their vectors (N, D).
        count: Number of topics. k-means finds this number of clusters; the clusters of other methods are merged until
            this number is left. Defaults to the number of clusters.
        method: The clustering algorithm.
        options: The options of the algorithm.
        words: Number of words of a topic.
        longest: Maximum number of words in a phrase.
        least_confidence: Texts whose topic has a lower confidence have no topic.
    """
    check_count("words", words)
    if count is not None:
        check_count("count", count)
    if not 0 <= least_confidence <= 1:
        raise BadInput(f"least_confidence is {shown(least_confidence)}, but must be between 0 and 1")
    unit = unit_vectors(vectors)
    if len(texts) != len(unit):
        raise BadInput(f"got {len(unit)} vectors for {len(texts)} texts, but each text needs one")
    options = options or ClusterOptions()
    if method == "kmeans" and options.k == "auto" and count is not None:
        options = replace(options, k=count_distinct(unit, count))
    clusters = find_clusters(unit, method, options, texts)
    if not len(clusters.sizes):
        raise BadInput("no cluster was found, but topics are made of clusters; use another method, such as kmeans")
    terms = [phrases(text, longest) for text in texts]
    found = _described(unit, clusters, terms, words, least_confidence)
    return found if count is None or count >= len(found.topics) else _merged(found, unit, texts, terms, count, words)


def _described(
    vectors: FloatArray, clusters: Clusters, terms: list[list[str]], words: int, least_confidence: float
) -> Topics:
    """Name clusters and assign every text to the nearest one."""
    members = rows_by_label(clusters.labels, len(clusters.sizes))
    centres = unit_vectors(np.stack([vectors[rows].mean(axis=0) for rows in members]))
    first = _assigned(vectors, centres, least_confidence).labels
    sizes = np.bincount(first[first >= 0], minlength=len(centres))
    centres = centres[
        np.argsort(-sizes, kind="stable")
    ]  # assigning every text to the nearest centre changes the sizes
    labels, confidence = _assigned(vectors, centres, least_confidence)
    typical = typical_words(terms, labels, len(centres), words)
    groups = rows_by_label(labels, len(centres))
    topics = [
        Topic(number, len(rows), typical[number], _examples(vectors, centres[number], rows))
        for number, rows in enumerate(groups)
    ]
    return Topics(topics, centres, labels, confidence, least_confidence)


def _merged(
    found: Topics, vectors: FloatArray, texts: Sequence[str], terms: list[list[str]], count: int, words: int
) -> Topics:
    """Merge the most similar topics until ``count`` are left."""
    target = np.arange(len(found.topics))
    for merge in found.hierarchy()[: len(found.topics) - count]:
        target[merge.second] = target[merge.first[0]]
    nearest = replace(found, least_confidence=0.0).assign(vectors).labels
    clusters = summarised(vectors, target[nearest], texts)
    return _described(vectors, clusters, terms, words, found.least_confidence)


@on_one_thread
def _examples(vectors: FloatArray, centre: FloatArray, rows: IntArray) -> list[int]:
    """Return the rows nearest to a centre."""
    nearest: list[int] = rows[np.argsort(-(vectors[rows] @ centre), kind="stable")[:_EXAMPLES]].tolist()
    return nearest


@on_one_thread
def _assigned(vectors: FloatArray, centres: FloatArray, least_confidence: float) -> Assigned:
    cosines = (vectors @ centres.T).astype(np.float64)
    labels = np.argmax(cosines, axis=1) if len(vectors) else np.empty(0, np.int64)
    best = cosines.max(axis=1, keepdims=True, initial=-1)
    confidence = 1 / np.exp((cosines - best) / _TEMPERATURE).sum(axis=1)
    return Assigned(np.where(confidence >= least_confidence, labels, -1), confidence.astype(np.float32))
