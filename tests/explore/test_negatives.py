"""Hard negatives: near, but never a text that belongs to the anchor, and below the limits."""

from __future__ import annotations

import numpy as np
import pytest

from sbert.errors import BadInput
from sbert.explore.negatives import NegativeOptions, mine_negatives

ANGLES = {"질문": 0, "답": 10, "다른 답": 20, "가까운 글": 30, "먼 글": 80, "똑같은 글": 1}


def embed(texts):
    angles = np.radians([ANGLES.get(text, 170) for text in texts])
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def mined(pairs, corpus=(), score_pairs=None, **options):
    return list(mine_negatives(pairs, embed, NegativeOptions(**options), corpus, score_pairs))


def test_the_nearest_text_that_does_not_belong_to_the_anchor():
    (found,) = mined([("질문", "답")], ["먼 글", "가까운 글", "질문"], margin=0.0)
    assert (found.anchor, found.positive, found.negative) == ("질문", "답", "가까운 글")
    assert found.positive_score == pytest.approx(np.cos(np.radians(10)))
    assert found.negative_score == pytest.approx(np.cos(np.radians(30)))


def test_a_positive_of_any_pair_is_no_negative():
    found = mined([("질문", "답"), ("질문", "다른 답"), ("남", "가까운 글")], margin=0.0)
    assert [(one.anchor, one.negative) for one in found if one.anchor == "질문"] == [("질문", "가까운 글")] * 2


def test_margin_highest_score_and_skip():
    corpus = ["똑같은 글", "가까운 글", "먼 글"]
    assert [one.negative for one in mined([("질문", "답")], corpus, margin=-1, most_score=1.0)] == ["똑같은 글"]
    assert [one.negative for one in mined([("질문", "답")], corpus, margin=-1)] == ["가까운 글"]
    assert [one.negative for one in mined([("질문", "답")], corpus, margin=0.3)] == ["먼 글"]
    assert [one.negative for one in mined([("질문", "답")], corpus, margin=-1, most_score=1.0, skip=3)] == ["먼 글"]
    assert mined([("질문", "답")], corpus, margin=1.5) == []
    assert len(mined([("질문", "답")], corpus, margin=0.0, count=3)) == 2


def test_a_cross_encoder_scores_again():
    scores = {"답": 0.9, "가까운 글": 0.95, "먼 글": 0.4}
    found = mined(
        [("질문", "답")], ["가까운 글", "먼 글"], lambda pairs: np.array([scores[text] for _, text in pairs])
    )
    assert [(one.negative, one.positive_score, one.negative_score) for one in found] == [("먼 글", 0.9, 0.4)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"skip": 50}, "skip is 50, but must be from 0 to depth - 1, which is 49"),
        ({"count": 0}, "count is 0, but must be"),
    ],
)
def test_wrong_options_are_one_sentence(options, message):
    with pytest.raises(BadInput, match=message):
        NegativeOptions(**options)


def test_no_pairs_are_refused():
    with pytest.raises(BadInput, match="there are no pairs, but at least one is needed"):
        mined([])
