"""Finds texts with nearly the same meaning, and chooses which of them to keep. Works on texts and arrays only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from sbert.errors import BadInput, check_option
from sbert.explore.keeping import nearest_kept
from sbert.explore.neighbours import check_threshold, close_pairs, unit_vectors
from sbert.search.best import Pairs
from sbert.search.exact import semantic_search
from sbert.types import FloatArray, IntArray

Keep = Literal["first", "longest", "medoid"]
"""Which text of a group is kept: the first one, the longest one, or the one with the most neighbours."""


class DuplicateGroup(NamedTuple):
    """A kept text, and the rows of its duplicates."""

    kept: int
    rows: list[int]
    scores: list[float]
    """The cosine of each row with the kept text."""
    exact: list[bool]
    """Whether the text of a row equals the kept one, apart from whitespace and Unicode normalization."""


@dataclass(frozen=True, slots=True, eq=False)
class Duplicates:
    """For each of N texts, the kept text of its group, which is the text itself if it is kept."""

    keeper: IntArray
    """(N,) the row of the kept text."""
    score: FloatArray
    """(N,) the cosine with the kept text; 1 for a kept text."""
    exact: npt.NDArray[np.bool_]
    """(N,) whether the texts are equal, apart from whitespace and Unicode normalization."""

    @property
    def kept(self) -> IntArray:
        """The kept rows, in ascending order."""
        return np.flatnonzero(self.keeper == np.arange(len(self.keeper)))

    def groups(self) -> list[DuplicateGroup]:
        """Return the groups of more than one text, the largest first."""
        removed = np.flatnonzero(self.keeper != np.arange(len(self.keeper)))
        members: dict[int, list[int]] = {}
        for row in removed.tolist():
            members.setdefault(int(self.keeper[row]), []).append(row)
        return [
            DuplicateGroup(kept, rows, self.score[rows].tolist(), self.exact[rows].tolist())
            for kept, rows in sorted(members.items(), key=lambda item: (-len(item[1]), item[0]))
        ]


class Overlap(NamedTuple):
    """A text that also occurs in another collection, exactly or nearly."""

    row: int
    other_row: int
    score: float
    exact: bool


def find_duplicates(
    texts: Sequence[str],
    vectors: npt.ArrayLike,
    threshold: float = 0.9,
    keep: Keep = "first",
    *,
    exact_search: bool | None = None,
) -> Duplicates:
    """Find groups of texts with nearly the same meaning. Every text of a group is similar to the kept text.

    Args:
        texts: N texts.
        vectors: Their vectors (N, D), which are compared by cosine.
        threshold: Minimum cosine of a text with the kept text of its group.
        keep: Which text of a group to keep.
        exact_search: Whether to compare all pairs. Defaults to whether there are at most 50,000 texts; more are
            searched with an index, which misses about 1 % of the pairs.

    >>> found = find_duplicates(["가", "가 ", "나"], [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> found.kept.tolist(), found.groups()
    ([0, 2], [DuplicateGroup(kept=0, rows=[1], scores=[1.0], exact=[True])])
    """
    check_threshold(threshold)
    check_option("keep", keep, get_args(Keep))
    unit = unit_vectors(vectors)
    _check_lengths(texts, unit)
    keeper, order = _exact_groups(texts, keep)
    leaders = order[keeper[order] == order]
    if keep == "medoid":
        degrees = _degrees(close_pairs(unit[leaders], threshold, exact_search), len(leaders))
        leaders = leaders[np.argsort(-degrees, kind="stable")]
    place, near = nearest_kept(unit[leaders], threshold, exact_search)
    score = np.ones(len(texts), np.float32)
    stands_for = np.arange(len(texts))
    stands_for[leaders] = leaders[place]
    score[leaders] = near
    exact = keeper != np.arange(len(texts))
    exact &= stands_for[keeper] == keeper  # only if the equal text is a kept one
    score = np.where(exact, 1, score[keeper]).astype(np.float32)
    return Duplicates(stands_for[keeper], score, exact)


def find_overlap(
    texts: Sequence[str],
    vectors: npt.ArrayLike,
    other_texts: Sequence[str],
    other_vectors: npt.ArrayLike,
    threshold: float = 0.9,
) -> list[Overlap]:
    """Find the texts that also occur in another collection, such as test sentences among training sentences.

    Args:
        texts: N texts.
        vectors: Their vectors (N, D), which are compared by cosine.
        other_texts: The texts of the other collection.
        other_vectors: Their vectors.
        threshold: Minimum cosine of a text with the nearest text of the other collection.

    Returns:
        The texts in their order, each with the nearest text of the other collection, or with an equal one.
    """
    check_threshold(threshold)
    unit, other = unit_vectors(vectors), unit_vectors(other_vectors)
    _check_lengths(texts, unit)
    _check_lengths(other_texts, other)
    places: dict[str, int] = {}
    for row, text in enumerate(other_texts):
        places.setdefault(_plain(text), row)
    found = []
    for row, (text, hits) in enumerate(zip(texts, semantic_search(unit, other, 1), strict=True)):
        same = places.get(_plain(text))
        if same is not None:
            found.append(Overlap(row, same, 1.0, exact=True))
        elif hits and hits[0].score >= threshold:
            found.append(Overlap(row, int(hits[0].id), hits[0].score, exact=False))
    return found


def _check_lengths(texts: Sequence[str], vectors: FloatArray) -> None:
    if len(texts) != len(vectors):
        raise BadInput(f"got {len(vectors)} vectors for {len(texts)} texts, but each text needs one")


def _plain(text: str) -> str:
    """Normalize the Unicode form and the whitespace of a text."""
    return " ".join(normalize("NFC", text).split())


def _exact_groups(texts: Sequence[str], keep: Keep) -> tuple[IntArray, IntArray]:
    """Return for each text the preferred row among equal texts, and all rows in order of preference."""
    order = np.arange(len(texts))
    if keep == "longest":
        order = np.argsort([-len(text) for text in texts], kind="stable")
    leaders: dict[str, int] = {}
    keeper = np.empty(len(texts), np.int64)
    for row in order.tolist():
        keeper[row] = leaders.setdefault(_plain(texts[row]), row)
    return keeper, order


def _degrees(pairs: Iterable[Pairs], count: int) -> IntArray:
    """Return the number of neighbours of each row: (count,)."""
    degrees = np.zeros(count, np.int64)
    for block in pairs:
        degrees += np.bincount(block.first, minlength=count) + np.bincount(block.second, minlength=count)
    return degrees
