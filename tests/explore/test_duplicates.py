"""Duplicates: every text that is removed is near to the one that is kept, and no two that are kept are near."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbert.errors import BadInput
from sbert.explore.duplicates import DuplicateGroup, Overlap, find_duplicates, find_overlap

EAST, NEAR_EAST, NORTH = [1.0, 0.0], [0.98, 0.2], [0.0, 1.0]


def test_groups_by_hand():
    texts = ["결제가 안 돼요", "환불해 주세요", "결제가  안 돼요 ", "결제가 안 됩니다", "환불해 주세요"]
    found = find_duplicates(texts, [EAST, NORTH, EAST, NEAR_EAST, NORTH], threshold=0.9)
    assert found.kept.tolist() == [0, 1]
    first, second = found.groups()
    assert (first.kept, first.rows, first.exact) == (0, [2, 3], [True, False])
    assert first.scores == pytest.approx([1, 0.98 / np.hypot(0.98, 0.2)])
    assert second == DuplicateGroup(1, [4], [1.0], [True])


def test_the_form_of_unicode_does_not_matter():
    found = find_duplicates(["한글", unicodedata.normalize("NFD", "한글")], [EAST, NORTH])
    assert found.groups() == [DuplicateGroup(0, [1], [1.0], [True])]


@pytest.mark.parametrize(("keep", "kept"), [("first", [0]), ("longest", [2]), ("medoid", [1])])
def test_which_text_is_kept(keep, kept):
    around = [[1.0, 0.2], [1.0, 0.0], [1.0, -0.2]]  # the first and the last are not near each other
    found = find_duplicates(["가나", "가", "가나다"], around, threshold=0.97, keep=keep)
    assert found.kept.tolist()[: len(kept)] == kept or keep == "longest"
    assert kept[0] in found.kept


@given(st.integers(0, 9), st.sampled_from([0.3, 0.7, 0.95]), st.sampled_from(["first", "longest", "medoid"]))
def test_every_removed_text_is_near_to_a_kept_one_and_kept_ones_are_not_near(seed, threshold, keep):
    random = np.random.default_rng(seed)
    rows = random.standard_normal((80, 3)).astype(np.float32)
    rows[40:60] = rows[:20]
    texts = [f"글 {place % 50}" + "!" * int(random.integers(0, 5)) for place in range(80)]
    found = find_duplicates(texts, rows, threshold, keep)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = unit @ unit.T
    kept = found.kept
    near = found.score[~found.exact]
    assert (near >= threshold).all()
    for row in np.flatnonzero(found.keeper != np.arange(80)):
        assert found.keeper[row] in kept
        if found.exact[row]:
            assert texts[row] == texts[found.keeper[row]]
    among = cosines[np.ix_(kept, kept)] - 2 * np.eye(len(kept))
    assert (among < threshold + 1e-6).all()
    assert sum(1 + len(group.rows) for group in found.groups()) + len(kept) - len(found.groups()) == 80


def test_an_index_gives_nearly_the_same():
    random = np.random.default_rng(0)
    rows = np.repeat(random.standard_normal((500, 32)), 4, axis=0) + 0.02 * random.standard_normal((2000, 32))
    texts = [f"글 {row}" for row in range(2000)]
    exact = find_duplicates(texts, rows, 0.95, exact_search=True)
    found = find_duplicates(texts, rows, 0.95, exact_search=False)
    assert len(exact.kept) == 500
    assert 500 <= len(found.kept) <= 510


def test_texts_of_another_collection_are_found():
    found = find_overlap(
        ["환불", "새 글", "결제"], [NORTH, NORTH, EAST], ["결제 ", "결제 오류"], [NORTH, NEAR_EAST], 0.9
    )
    assert found == [
        Overlap(0, 0, 1.0, exact=False),
        Overlap(1, 0, 1.0, exact=False),
        Overlap(2, 0, 1.0, exact=True),
    ]
    assert find_overlap(["환불"], [NORTH], ["결제"], [EAST]) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["가"], [EAST, NORTH]), "got 2 vectors for 1 texts, but each text needs one"),
        ((["가"], [EAST], 2.0), "the threshold is 2.0, but a cosine lies between -1 and 1"),
        ((["가"], [EAST], 0.9, "last"), "keep is 'last', but must be one of 'first', 'longest', 'medoid'"),
    ],
)
def test_wrong_arguments_are_one_sentence(arguments, message):
    with pytest.raises(BadInput, match=message):
        find_duplicates(*arguments)


def test_one_text_equal_texts_and_empty_texts():
    assert find_duplicates(["가"], [EAST]).groups() == []
    assert find_duplicates(["", "", ""], [EAST] * 3).kept.tolist() == [0]
    assert find_duplicates([], np.empty((0, 2), np.float32)).groups() == []
