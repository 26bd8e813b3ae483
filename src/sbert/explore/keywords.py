"""Finds the phrases of a text that are nearest to its meaning. Works on texts and vectors; a model embeds phrases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from itertools import combinations
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from sbert.errors import BadInput, check_count, check_option, shown
from sbert.explore.neighbours import unit_vectors
from sbert.text.phrases import phrases
from sbert.text.stopwords import STOP_WORDS
from sbert.types import Encoder, FloatArray, IntArray

Choice = Literal["nearest", "mmr", "max-sum"]
"""How keywords are chosen among the candidates: the nearest to the text; near to the text, but different from those
chosen before (maximal marginal relevance); or the least similar to each other among the nearest (max sum distance)."""
_MAX_SUM_POOL = 4  # number of candidates per keyword of "max-sum"
_MOST_POOL = 20


class Keyword(NamedTuple):
    """A phrase and its cosine with the text."""

    phrase: str
    score: float


def find_keywords(
    texts: Sequence[str],
    model: Encoder,
    top: int = 5,
    choice: Choice = "mmr",
    *,
    diversity: float = 0.5,
    longest: int = 2,
    stop_words: Collection[str] = STOP_WORDS,
    vectors: npt.ArrayLike | None = None,
    candidates: Sequence[Sequence[str]] | None = None,
) -> list[list[Keyword]]:
    """Find the keywords of each text, the best first.

    Args:
        texts: Texts in any language that writes spaces between words. Particles of Korean words are removed.
        model: Embeds the phrases, and the texts if ``vectors`` is not given.
        top: Number of keywords of a text; fewer if it has fewer phrases.
        choice: How keywords are chosen.
        diversity: How much "mmr" avoids similar keywords: 0 not at all, 1 as much as possible.
        longest: Maximum number of words in a phrase.
        stop_words: Words that no phrase contains.
        vectors: The vectors of the texts: (N, D).
        candidates: The phrases of each text to choose from. Defaults to all of its phrases.
    """
    check_count("top", top)
    check_option("choice", choice, get_args(Choice))
    if not 0 <= diversity <= 1:
        raise BadInput(f"diversity is {shown(diversity)}, but must be between 0 and 1")
    found = [phrases(text, longest, stop_words) for text in texts] if candidates is None else candidates
    if len(found) != len(texts):
        raise BadInput(f"got candidates for {len(found)} of {len(texts)} texts, but each text needs some")
    distinct = list(dict.fromkeys(phrase for own in found for phrase in own))
    if not distinct:
        return [[] for _ in texts]
    places = {phrase: place for place, phrase in enumerate(distinct)}
    embedded = unit_vectors(model.encode(distinct))
    documents = unit_vectors(model.encode(list(texts)) if vectors is None else vectors)
    if len(documents) != len(texts) or documents.shape[1] != embedded.shape[1]:
        raise BadInput(
            f"the vectors have shape {documents.shape}, but {(len(texts), embedded.shape[1])} is expected; embed the "
            "texts with the same model"
        )
    choose = _CHOICES[choice]
    result = []
    for document, own in zip(documents, found, strict=True):
        rows = embedded[[places[phrase] for phrase in own]]
        scores = rows @ document
        chosen = choose(scores, rows, min(top, len(own)), diversity) if len(own) else []
        result.append([Keyword(own[place], float(scores[place])) for place in chosen])
    return result


def corpus_keywords(
    texts: Sequence[str],
    model: Encoder,
    top: int = 10,
    choice: Choice = "mmr",
    *,
    diversity: float = 0.5,
    longest: int = 2,
    min_texts: int = 2,
    vectors: npt.ArrayLike | None = None,
) -> list[Keyword]:
    """Find the keywords of all texts together: phrases that occur in several texts and are near to their mean.

    Args:
        texts: Texts.
        model: Embeds the phrases, and the texts if ``vectors`` is not given.
        top: Number of keywords.
        choice: How keywords are chosen.
        diversity: How much "mmr" avoids similar keywords.
        longest: Maximum number of words in a phrase.
        min_texts: Minimum number of texts that contain a phrase.
        vectors: The vectors of the texts: (N, D).
    """
    check_count("min_texts", min_texts)
    counts = Counter(phrase for text in texts for phrase in phrases(text, longest))
    frequent = sorted(phrase for phrase, count in counts.items() if count >= min_texts)
    if not frequent:
        return []
    mean = unit_vectors(model.encode(list(texts)) if vectors is None else vectors).mean(axis=0, keepdims=True)
    (found,) = find_keywords([""], model, top, choice, diversity=diversity, vectors=mean, candidates=[frequent])
    return found


def _nearest(scores: FloatArray, rows: FloatArray, top: int, diversity: float) -> list[int]:
    order: list[int] = np.argsort(-scores, kind="stable")[:top].tolist()
    return order


def _by_relevance(scores: FloatArray, rows: FloatArray, top: int, diversity: float) -> list[int]:
    """Choose one candidate after another by maximal marginal relevance (Carbonell and Goldstein, 1998)."""
    chosen = [int(np.argmax(scores))]
    likeness = rows @ rows[chosen[0]]
    while len(chosen) < top:
        worth = (1 - diversity) * scores - diversity * likeness
        worth[chosen] = -np.inf
        chosen.append(int(np.argmax(worth)))
        likeness = np.maximum(likeness, rows @ rows[chosen[-1]])
    return chosen


def _by_distance(scores: FloatArray, rows: FloatArray, top: int, diversity: float) -> list[int]:
    """Choose, among the nearest candidates, those whose similarities to each other have the smallest sum."""
    pool: IntArray = np.argsort(-scores, kind="stable")[: max(top, min(_MAX_SUM_POOL * top, _MOST_POOL))]
    likeness = rows[pool] @ rows[pool].T
    best = min(combinations(range(len(pool)), top), key=lambda some: float(likeness[np.ix_(some, some)].sum()))
    chosen: list[int] = pool[list(best)].tolist()
    return chosen


_CHOICES: dict[Choice, Callable[[FloatArray, FloatArray, int, float], list[int]]] = {
    "nearest": _nearest,
    "mmr": _by_relevance,
    "max-sum": _by_distance,
}
