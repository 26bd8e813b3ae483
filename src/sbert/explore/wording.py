"""Finds the words that are typical of the texts of a topic. Works on words only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from sbert.types import IntArray


class TopicWord(NamedTuple):
    """A word or phrase, and how typical it is of a topic."""

    phrase: str
    weight: float


def typical_words(terms: Iterable[list[str]], labels: IntArray, topics: int, words: int) -> list[list[TopicWord]]:
    """Return the words with the highest class-based tf-idf of each topic (Grootendorst, 2022).

    Args:
        terms: The words of each text.
        labels: (N,) the topic of each text; negative for none.
        topics: Number of topics.
        words: Number of words of a topic.
    """
    counts: list[Counter[str]] = [Counter() for _ in range(topics)]
    for own, label in zip(terms, labels.tolist(), strict=True):
        if label >= 0:
            counts[label].update(own)
    everywhere: Counter[str] = Counter()
    for one in counts:
        everywhere.update(one)
    mean = sum(everywhere.values()) / max(topics, 1)
    found = []
    for one in counts:
        total = max(sum(one.values()), 1)
        weights = {word: count / total * float(np.log1p(mean / everywhere[word])) for word, count in one.items()}
        best = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
        found.append([TopicWord(word, weight) for word, weight in _distinct(best, words)])
    return found


def _distinct(ranked: Iterable[tuple[str, float]], words: int) -> list[tuple[str, float]]:
    """Return the first words, without those that are part of a phrase chosen before or contain one."""
    chosen: list[tuple[str, float]] = []
    for word, weight in ranked:
        parts = set(word.split())
        if all(parts.isdisjoint(other.split()) for other, _ in chosen):
            chosen.append((word, weight))
        if len(chosen) == words:
            break
    return chosen
