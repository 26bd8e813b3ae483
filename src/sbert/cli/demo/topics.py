"""Prepares the map and the comparison of topics for the page of the demo. Works on vectors alone."""

from __future__ import annotations

import numpy as np

from sbert.cli.demo.results import DemoResults
from sbert.explore.layout import plane_layout
from sbert.pages.records import Demo
from sbert.types import FloatArray, IntArray


def page_record(found: DemoResults) -> Demo:
    """Return everything that the page shows."""
    topics = list(dict.fromkeys(sentence.topic for sentence in found.sentences))
    labels = np.array([topics.index(sentence.topic) for sentence in found.sentences])  # (N,)
    unit = found.vectors / np.maximum(np.linalg.norm(found.vectors, axis=1, keepdims=True), 1e-12)  # (N, D)
    cosines = unit @ unit.T  # (N, N)
    np.fill_diagonal(cosines, -1)  # a sentence is not its own neighbour
    counts = np.bincount(labels)
    return Demo(
        template=found.language.template,
        model=found.model,
        speed=found.speed,
        pairs=found.pair_table(),
        answers=[(answer.query, found.answer_table(answer)) for answer in found.answers],
        korean=found.korean and (found.korean.query, found.answer_table(found.korean)),
        costs=found.cost_table(),
        notes=found.notes,
        sentences=found.sentences,
        points=plane_layout(unit).tolist(),
        topics=topics,
        means=topic_means(cosines, labels).tolist(),
        same_topic=float((labels[cosines.argmax(axis=1)] == labels).mean()),
        same_by_chance=float((counts * (counts - 1)).sum() / (len(labels) * (len(labels) - 1))),
    )


def topic_means(cosines: FloatArray, labels: IntArray) -> FloatArray:
    """(N, N) cosines with -1 on the diagonal -> (topics, topics) means without pairs of a sentence and itself."""
    member = np.eye(labels.max() + 1, dtype=cosines.dtype)[labels]  # (N, topics)
    counts = member.sum(axis=0)
    sums = member.T @ cosines @ member + np.diag(counts)
    means: FloatArray = sums / (np.outer(counts, counts) - np.diag(counts))
    return means
