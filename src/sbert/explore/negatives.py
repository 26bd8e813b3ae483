"""Finds hard negatives for training: texts that are near to an anchor, but do not match it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sbert.errors import BadInput, check_count, shown
from sbert.explore.neighbours import unit_vectors
from sbert.search.exact import semantic_search
from sbert.types import FloatArray

ScorePairs = Callable[[list[tuple[str, str]]], FloatArray]
"""Scores pairs of texts, such as ``predict`` of a cross-encoder; a higher score means more similar."""
_QUERIES = 1024


class Triplet(NamedTuple):
    """An anchor, a matching text, a text that does not match, and the scores of both with the anchor."""

    anchor: str
    positive: str
    negative: str
    positive_score: float
    negative_score: float


@dataclass(frozen=True, slots=True)
class NegativeOptions:
    """The options for choosing hard negatives.

    Args:
        count: Number of negatives of each pair; fewer if fewer are found.
        skip: Number of nearest texts to skip, which are the most likely to match the anchor.
        depth: Number of nearest texts to choose from, including skipped ones.
        margin: Minimum difference between the scores of the positive and a negative.
        most_score: Maximum score of a negative; texts above it may be unlabelled positives.
    """

    count: int = 1
    skip: int = 0
    depth: int = 50
    margin: float = 0.05
    most_score: float = 0.95

    def __post_init__(self) -> None:
        check_count("count", self.count)
        check_count("depth", self.depth)
        for name in ("margin", "most_score"):
            if np.isnan(getattr(self, name)):
                raise BadInput(f"{name} is nan, but must be a number")
        if not 0 <= self.skip < self.depth:
            raise BadInput(f"skip is {shown(self.skip)}, but must be from 0 to depth - 1, which is {self.depth - 1}")


def mine_negatives(
    pairs: Sequence[tuple[str, str]],
    embed: Callable[[list[str]], npt.ArrayLike],
    options: NegativeOptions | None = None,
    corpus: Sequence[str] = (),
    score_pairs: ScorePairs | None = None,
) -> Iterator[Triplet]:
    """Find hard negatives of pairs, among the second texts of all pairs and a corpus.

    A text is never a negative of an anchor that it matches in any pair.

    Args:
        pairs: Anchors and matching texts, such as questions and answers.
        embed: Embeds texts; they are compared by cosine.
        options: The options for choosing hard negatives.
        corpus: More texts to choose from.
        score_pairs: Scores the positive and the nearest texts again, more accurately; ``margin`` and ``most_score``
            then refer to these scores.
    """
    options = options or NegativeOptions()
    if not pairs:
        raise BadInput("there are no pairs, but at least one is needed")
    positives: dict[str, set[str]] = defaultdict(set)
    for anchor, positive in pairs:
        positives[anchor].add(positive)
    texts = list(dict.fromkeys([*(positive for _, positive in pairs), *corpus]))
    places = {text: place for place, text in enumerate(texts)}
    anchors = list(positives)
    vectors = unit_vectors(embed(texts))
    for start in range(0, len(anchors), _QUERIES):
        some = anchors[start : start + _QUERIES]
        queries = unit_vectors(embed(some))
        found = semantic_search(queries, vectors, options.depth + 1)
        for anchor, query, hits in zip(some, queries, found, strict=True):
            near = [int(hit.id) for hit in hits if texts[int(hit.id)] != anchor][: options.depth][options.skip :]
            near = [place for place in near if texts[place] not in positives[anchor]]
            own = sorted(places[positive] for positive in positives[anchor])
            rows = [*own, *near]
            scores = vectors[rows] @ query
            if score_pairs is not None:
                scores = np.asarray(score_pairs([(anchor, texts[row]) for row in rows]))
            known = dict(zip(rows, scores.tolist(), strict=True))
            for place in own:
                yield from _triplets(anchor, place, near, known, texts, options)


def _triplets(
    anchor: str, positive: int, near: list[int], scores: dict[int, float], texts: list[str], options: NegativeOptions
) -> Iterator[Triplet]:
    limit = min(scores[positive] - options.margin, options.most_score)
    hard = sorted((place for place in near if scores[place] <= limit), key=lambda place: -scores[place])
    for place in hard[: options.count]:
        yield Triplet(anchor, texts[positive], texts[place], scores[positive], scores[place])
