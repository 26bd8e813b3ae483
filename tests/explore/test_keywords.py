"""Keywords: the phrases of a text, and the ways to choose among them, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sbert.errors import BadInput
from sbert.explore.keywords import corpus_keywords, find_keywords

DIRECTIONS = {
    "서울 날씨": [1.0, 0.0, 0.0],
    "날씨": [0.9, 0.1, 0.0],
    "서울": [0.8, 0.0, 0.6],
    "weather": [0.95, 0.3, 0.0],
    "rain": [0.5, 0.9, 0.0],
}


class Embedder:
    """Embeds known phrases as given, and everything else as one direction."""

    def __init__(self):
        self.calls = []

    def encode(self, texts):
        self.calls.append(list(texts))
        return np.array([DIRECTIONS.get(text, [1.0, 0.2, 0.1]) for text in texts], np.float32)


def chosen(choice, diversity=0.5):
    given = {"vectors": [[1.0, 0.0, 0.0]], "candidates": [list(DIRECTIONS)]}
    return find_keywords(["글"], Embedder(), 2, choice, diversity=diversity, **given)


def names(found):
    return [keyword.phrase for keyword in found]


def test_the_nearest_phrases_come_first():
    (found,) = find_keywords(
        ["글"], Embedder(), 2, "nearest", vectors=[[1.0, 0.0, 0.0]], candidates=[list(DIRECTIONS)]
    )
    assert names(found) == ["서울 날씨", "날씨"]
    assert [keyword.score for keyword in found] == pytest.approx([1, 0.9 / np.hypot(0.9, 0.1)])


@pytest.mark.parametrize(("diversity", "second"), [(0.0, "날씨"), (0.9, "rain")])
def test_relevance_is_weighed_against_likeness(diversity, second):
    (found,) = chosen("mmr", diversity)
    assert names(found) == ["서울 날씨", second]


def test_max_sum_takes_the_least_alike_of_the_nearest():
    (found,) = find_keywords(
        ["글"], Embedder(), 2, "max-sum", vectors=[[1.0, 0.0, 0.0]], candidates=[list(DIRECTIONS)]
    )
    assert set(names(found)) == {"서울", "rain"}


def test_phrases_are_embedded_once_for_all_texts():
    embedder = Embedder()
    found = find_keywords(["서울의 날씨", "서울에서 본 비"], embedder, vectors=np.ones((2, 3)))
    assert len(embedder.calls) == 1
    assert len(embedder.calls[0]) == len(set(embedder.calls[0]))
    assert "서울" in names(found[0])
    assert "서울" in names(found[1])


def test_texts_without_phrases_have_no_keywords():
    assert find_keywords(["", "!!", "the of"], Embedder()) == [[], [], []]
    assert find_keywords([], Embedder()) == []
    mixed = find_keywords(["", "서울"], Embedder())
    assert (mixed[0], names(mixed[1])) == ([], ["서울"])


def test_keywords_of_a_collection_occur_in_several_texts():
    texts = ["서울의 날씨", "부산의 날씨", "날씨와 rain"]
    assert names(corpus_keywords(texts, Embedder(), 5, vectors=np.ones((3, 3)))) == ["날씨"]
    assert corpus_keywords(["가나", "다라"], Embedder()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"top": 0}, "top is 0, but must be at least 1"),
        ({"choice": "best"}, "choice is 'best', but must be one of 'nearest', 'mmr', 'max-sum'"),
        ({"diversity": 2}, "diversity is 2, but must be between 0 and 1"),
        ({"candidates": []}, "got candidates for 0 of 1 texts, but each text needs some"),
    ],
)
def test_wrong_options_are_one_sentence(options, message):
    with pytest.raises(BadInput, match=message):
        find_keywords(["글"], Embedder(), **options)
