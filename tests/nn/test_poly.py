"""The two steps of the poly-encoder against the paper's formulas, written out as loops."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from sbert.nn.poly import attend, first_tokens, score
from sbert.types import Group

H = 12
groups = st.lists(
    st.builds(Group, st.integers(1, 3), st.integers(1, 9)),
    min_size=1,
    max_size=4,
    unique_by=lambda group: group.length,
)


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def split(hidden: Tensor, groups: list[Group]) -> list[Tensor]:
    return list(hidden.split([group.length for group in groups for _ in range(group.texts)]))


def by_hand(codes: Tensor, text: Tensor) -> Tensor:
    """For each code: softmax over the tokens of its dot products with them, and the tokens' sum by these weights."""
    read = []
    for code in codes:
        powers = [torch.exp(torch.dot(code, token)) for token in text]
        read.append(sum(power * token for power, token in zip(powers, text, strict=True)) / sum(powers))
    return torch.stack(read)


def score_by_hand(codes: Tensor, vector: Tensor) -> Tensor:
    """The vector attends over the codes, then meets what it found."""
    powers = [torch.exp(torch.dot(vector, code)) for code in codes]
    found = sum(power * code for power, code in zip(powers, codes, strict=True)) / sum(powers)
    return torch.dot(found, vector)


@settings(max_examples=30)
@given(groups=groups, codes=st.integers(1, 5), seed=st.integers(0, 99))
def test_attention_is_the_papers(groups, codes, seed):
    tokens = sum(group.texts * group.length for group in groups)
    hidden, learned = draw(tokens, H, seed=seed), draw(codes, H, seed=seed + 1)
    read = attend(hidden, groups, learned)
    assert read.shape == (sum(group.texts for group in groups), codes, H)
    for got, text in zip(read, split(hidden, groups), strict=True):
        torch.testing.assert_close(got, by_hand(learned, text), rtol=1e-9, atol=1e-9)


@settings(max_examples=30)
@given(codes=st.integers(1, 5), documents=st.integers(1, 5), seed=st.integers(0, 99))
def test_scores_are_the_papers(codes, documents, seed):
    read, vectors = draw(3, codes, H, seed=seed), draw(documents, H, seed=seed + 1)
    expected = torch.stack([torch.stack([score_by_hand(query, vector) for vector in vectors]) for query in read])
    torch.testing.assert_close(score(read, vectors), expected, rtol=1e-9, atol=1e-9)


def test_each_query_with_documents_of_its_own():
    read, vectors = draw(3, 4, H), draw(3, 2, H, seed=1)
    expected = torch.stack([score(query, own) for query, own in zip(read, vectors, strict=True)])
    torch.testing.assert_close(score(read, vectors), expected)


@settings(max_examples=30)
@given(groups=groups, number=st.integers(1, 6))
def test_first_tokens(groups, number):
    hidden = draw(sum(group.texts * group.length for group in groups), H)
    read = first_tokens(hidden, groups, number)
    for got, text in zip(read, split(hidden, groups), strict=True):
        torch.testing.assert_close(got[: len(text)], text[:number])
        assert not got[len(text) :].any()


def test_a_code_of_zeros_is_none():
    codes, vectors = draw(3, H), draw(5, H, seed=1)
    padded = torch.cat([codes, torch.zeros(4, H)])
    torch.testing.assert_close(score(padded, vectors), score(codes, vectors))


def test_one_code_is_the_bi_encoder():
    """With one code, whatever its weight, the score is a dot product."""
    codes, vectors = draw(2, 1, H), draw(5, H, seed=1)
    torch.testing.assert_close(score(codes, vectors), codes[:, 0] @ vectors.T)


@pytest.mark.parametrize(
    "read", [lambda h, c: attend(h, [Group(2, 3)], c), lambda h, c: first_tokens(h, [Group(2, 3)], 5)]
)
def test_gradients(read):
    hidden, codes, vectors = (draw(*shape).requires_grad_() for shape in ((6, 4), (3, 4), (2, 4)))
    assert torch.autograd.gradcheck(lambda h, c, v: score(read(h, c), v), (hidden, codes, vectors))
