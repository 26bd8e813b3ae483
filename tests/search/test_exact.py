"""Exact search against a full sort of every pair, and against sentence-transformers."""

from __future__ import annotations

import tracemalloc
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.distance import cdist

from sbert.errors import BadInput, BadOption
from sbert.search import best, exact, measure, most_similar_pairs, semantic_search
from sbert.types import Hit, Pair, Similarity

FloatArray = npt.NDArray[np.floating[Any]]
SIMILARITIES: tuple[Similarity, ...] = get_args(Similarity)
similarities = st.sampled_from(SIMILARITIES)


def reference_score(a: FloatArray, b: FloatArray, similarity: Similarity) -> float:
    """One pair by the textbook, in float64; rounded to the precision of the vectors."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    dot = float(np.vecdot(x, y))
    norms = float(np.sqrt(np.vecdot(x, x) * np.vecdot(y, y)))
    score = {
        "cosine": min(1.0, max(-1.0, dot / norms)) if norms else 0.0,
        "dot": dot,
        "euclidean": -float(np.linalg.norm(x - y, 2, axis=0)),
        "manhattan": -float(np.abs(x - y).sum()),
    }[similarity]
    return float(np.result_type(a, b).type(score))


def reference_hits(queries: FloatArray, corpus: FloatArray, k: int, similarity: Similarity) -> list[list[Hit]]:
    every = [[Hit(row, reference_score(q, c, similarity)) for row, c in enumerate(corpus)] for q in queries]
    return [sorted(hits, key=lambda hit: (-hit.score, hit.id))[:k] for hits in every]


def reference_pairs(vectors: FloatArray, k: int | None, threshold: float, similarity: Similarity) -> list[Pair]:
    every = [
        Pair(i, j, reference_score(vectors[i], vectors[j], similarity))
        for i in range(len(vectors))
        for j in range(i + 1, len(vectors))
    ]
    return sorted((pair for pair in every if pair.score >= threshold), key=lambda pair: (-pair.score, *pair[:2]))[:k]


@st.composite
def matrices(draw: st.DrawFn, dimensions: int | None = None, max_rows: int = 24) -> FloatArray:
    """Rows full of ties and near ties: few distinct values, repeated rows, differences in the last bit."""
    dtype = draw(st.sampled_from([np.float16, np.float32, np.float64]))
    shape = (draw(st.integers(1, max_rows)), dimensions or draw(st.integers(1, 9)))
    values = draw(hnp.arrays(dtype, shape, elements=st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0])))
    nudged = draw(hnp.arrays(np.bool_, shape))
    return np.where(nudged, np.nextafter(values, dtype(4)), values)


def with_blocks(patch: pytest.MonkeyPatch, block: int, pending: int) -> None:
    patch.setattr(exact, "ROWS", block)
    patch.setattr(exact, "COLUMNS", 2 * block + 1)
    patch.setattr(exact, "FEW_QUERIES", block)
    patch.setattr(measure, "CHUNK", block)
    patch.setattr(measure, "CACHED", block + 1)
    patch.setattr(best, "PENDING", pending)


def promoted(matrix: FloatArray) -> FloatArray:
    """float16 is searched as float32."""
    return matrix.astype(np.result_type(matrix, np.float32))


@settings(max_examples=150)
@given(st.data(), st.integers(1, 9), st.integers(1, 12), similarities, st.integers(1, 30), st.integers(1, 9))
def test_search_is_a_full_sort_whatever_the_block(
    data: st.DataObject, dimensions: int, k: int, similarity: Similarity, block: int, pending: int
) -> None:
    queries, corpus = (promoted(data.draw(matrices(dimensions))) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        with_blocks(patch, block, pending)
        assert semantic_search(queries, corpus, k, similarity) == reference_hits(queries, corpus, k, similarity)


@example(np.float32([[-0.9995117]]), None, 1e300, "dot", 1, 1)  # beyond what float32 holds
@settings(max_examples=150)
@given(
    matrices().map(promoted),
    st.none() | st.integers(1, 300),
    st.none() | st.sampled_from([-np.inf, -1e300, -3.0, -0.5, 0.0, 0.5, 1.0, 1e300, np.inf]),
    similarities,
    st.integers(1, 30),
    st.integers(1, 9),
)
def test_pairs_are_a_full_sort_whatever_the_block(
    vectors: FloatArray, k: int | None, threshold: float | None, similarity: Similarity, block: int, pending: int
) -> None:
    if k is None and threshold is None:
        k = 300
    expected = reference_pairs(vectors, k, -np.inf if threshold is None else threshold, similarity)
    with pytest.MonkeyPatch.context() as patch:
        with_blocks(patch, block, pending)
        assert most_similar_pairs(vectors, k, threshold, similarity) == expected


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), similarities, st.sampled_from([1e-18, 1.0, 1e15]), st.sampled_from([0.0, 0.3, 30.0]))
def test_blocks_do_not_show_at_real_sizes(seed: int, similarity: Similarity, size: float, spread: float) -> None:
    """Where a BLAS takes other paths for other shapes; ``spread`` mixes short rows with long ones."""
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((150, 67)) * size * np.exp(spread * random.random((150, 1)) / 10)
    vectors = np.concatenate([vectors, vectors[:20], vectors[:20] * (1 + 1e-7)]).astype(np.float32)
    expected = most_similar_pairs(vectors, 200, similarity=similarity)
    assert expected == most_similar_pairs(vectors, None, -np.inf, similarity)[:200]
    for block, pending in ((13, 1), (64, 300)):
        with pytest.MonkeyPatch.context() as patch:
            with_blocks(patch, block, pending)
            assert most_similar_pairs(vectors, 200, similarity=similarity) == expected


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 300), similarities)
def test_a_key_errs_less_than_the_slack(seed: int, dimensions: int, similarity: Similarity) -> None:
    random = np.random.default_rng(seed)
    vectors = (random.standard_normal((40, dimensions)) * random.choice([1, 30], (40, 1)) + 1).astype(np.float32)
    rows = measure.Rows.read("vectors", vectors)
    left = rows.unit() if similarity == "cosine" else rows
    first, second = np.indices((40, 40)).reshape(2, -1)
    scores = measure.Scorer(vectors, vectors, similarity).scores(first, second).reshape(40, 40)
    keys, slack = (compare(left, rows, similarity) for compare in (measure.keys, measure.slack))
    assert (np.abs(keys - measure.key_of(scores.astype(np.float64), similarity)) < slack / 2).all()


def test_a_hit_does_not_depend_on_the_company() -> None:
    random = np.random.default_rng(0)
    queries, corpus = random.standard_normal((40, 96)).astype("f"), random.standard_normal((700, 96)).astype("f")
    together = semantic_search(queries, corpus, 5)
    assert [semantic_search(query, corpus, 5)[0] for query in queries] == together


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_search_agrees_with_sentence_transformers(similarity: Similarity) -> None:
    from sentence_transformers import util

    random = np.random.default_rng(1)
    queries, corpus = random.standard_normal((30, 48)).astype("f"), random.standard_normal((900, 48)).astype("f")
    score = {"cosine": util.cos_sim, "dot": util.dot_score, "euclidean": util.euclidean_sim}.get(
        similarity, util.manhattan_sim
    )
    theirs = util.semantic_search(torch.from_numpy(queries), torch.from_numpy(corpus), top_k=7, score_function=score)
    ours = semantic_search(queries, corpus, 7, similarity)
    assert [[hit.id for hit in hits] for hits in ours] == [[hit["corpus_id"] for hit in hits] for hits in theirs]
    scores = [[hit["score"] for hit in hits] for hits in theirs]
    np.testing.assert_allclose([[hit.score for hit in hits] for hits in ours], scores, rtol=2e-5)


def test_pairs_agree_with_sentence_transformers() -> None:
    from sentence_transformers.util import paraphrase_mining_embeddings

    vectors = np.random.default_rng(2).standard_normal((1200, 32)).astype("f")
    theirs = paraphrase_mining_embeddings(torch.from_numpy(vectors), max_pairs=300, top_k=1199)
    ours = most_similar_pairs(vectors, 300)
    assert {pair[:2] for pair in ours} == {(first, second) for _, first, second in theirs}
    np.testing.assert_allclose([pair.score for pair in ours], [score for score, *_ in theirs], atol=1e-6)


def test_distances_agree_with_scipy() -> None:
    vectors = np.random.default_rng(3).standard_normal((50, 8))
    names: tuple[tuple[Similarity, str], ...] = (("euclidean", "euclidean"), ("manhattan", "cityblock"))
    for similarity, name in names:
        nearest = most_similar_pairs(vectors, 1, similarity=similarity)[0]
        distances = cdist(vectors, vectors, name) + np.diag(np.full(50, np.inf))
        assert -nearest.score == pytest.approx(distances.min())
        assert distances[nearest.first, nearest.second] == distances.min()


def test_equal_rows_tie_at_one_in_row_order() -> None:
    vectors = np.random.default_rng(4).standard_normal((60, 33))
    twice = np.concatenate([vectors, vectors])
    assert most_similar_pairs(twice, 60) == [Pair(row, row + 60, 1.0) for row in range(60)]
    assert most_similar_pairs(np.ones((700, 3)), 3) == [Pair(0, 1, 1.0), Pair(0, 2, 1.0), Pair(0, 3, 1.0)]
    assert semantic_search(np.ones(3), np.ones((700, 3)), 2) == [[Hit(0, 1.0), Hit(1, 1.0)]]


def test_equal_rows_are_at_distance_zero() -> None:
    for similarity in ("euclidean", "manhattan"):
        score = most_similar_pairs([[1.0, 2.0], [1.0, 2.0]], similarity=similarity)[0].score
        assert str(score) == "0.0"


def test_a_threshold_is_compared_with_the_returned_score() -> None:
    vectors = np.array([[0.9], [1.0]], np.float32)  # their product, float32 0.9, is a little less than 0.9
    assert most_similar_pairs(vectors, threshold=0.9, similarity="dot") == []
    score = float(np.float32(0.9))
    assert most_similar_pairs(vectors, threshold=score, similarity="dot") == [Pair(0, 1, score)]


def test_scores_that_round_to_zero_tie() -> None:
    random = np.random.default_rng(8)
    vectors = (random.standard_normal((40, 5)) * 1e-23).astype(np.float32)  # products are below the steps of float32
    assert most_similar_pairs(vectors, 30, similarity="dot") == reference_pairs(vectors, 30, -np.inf, "dot")
    assert semantic_search(vectors, vectors, 3, "dot") == reference_hits(vectors, vectors, 3, "dot")


def test_a_zero_vector_is_similar_to_nothing() -> None:
    assert semantic_search([[0.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]]) == [[Hit(0, 0.0), Hit(1, 0.0)]]


def test_torch_tensors_columns_and_lists_are_read() -> None:
    vectors = np.random.default_rng(5).standard_normal((30, 6)).astype("f")
    expected = most_similar_pairs(vectors, 5)
    assert most_similar_pairs(torch.from_numpy(vectors), 5) == expected
    assert most_similar_pairs(np.asfortranarray(vectors), 5) == expected
    assert [pair[:2] for pair in most_similar_pairs(vectors.tolist(), 5)] == [pair[:2] for pair in expected]


def test_few_or_no_rows() -> None:
    one = np.ones((1, 4))
    assert semantic_search(one, one, k=10) == [[Hit(0, 1.0)]]
    assert semantic_search(np.ones((2, 4)), np.empty((0, 4))) == [[], []]
    assert semantic_search(np.ones((2, 4)), []) == [[], []]
    assert semantic_search([], one) == []
    assert most_similar_pairs(one) == most_similar_pairs(np.empty((0, 4))) == most_similar_pairs([]) == []


def test_memory_stays_far_below_all_pairs() -> None:
    vectors = np.random.default_rng(6).standard_normal((6000, 8)).astype("f")
    tracemalloc.start()
    try:
        most_similar_pairs(vectors, 100)
        semantic_search(vectors, vectors, 3)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6000 * 6000 * 4 / 5


def test_the_inputs_are_left_as_they_were() -> None:
    vectors = np.random.default_rng(7).standard_normal((20, 5))
    before = vectors.copy()
    for similarity in SIMILARITIES:
        most_similar_pairs(vectors, similarity=similarity)
        semantic_search(vectors, vectors, similarity=similarity)
    np.testing.assert_array_equal(vectors, before)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e30])
def test_a_row_that_is_not_finite_is_named(bad: float) -> None:
    vectors = np.ones((1000, 3), np.float32)
    vectors[777, 1] = bad
    with pytest.raises(BadInput, match="row 777 of vectors"):
        most_similar_pairs(vectors)
    with pytest.raises(BadInput, match="row 777 of corpus"):
        semantic_search(np.ones(3), vectors)
    with pytest.raises(BadInput, match="row 777 of queries"):
        semantic_search(vectors, np.ones((2, 3)))


def test_bad_calls_say_what_is_wrong() -> None:
    with pytest.raises(BadInput, match=r"queries have 3 dimensions and the corpus has 4"):
        semantic_search(np.ones((2, 3)), np.ones((5, 4)))
    with pytest.raises(BadInput, match=r"corpus has shape \(2, 3, 4\)"):
        semantic_search(np.ones(4), np.ones((2, 3, 4)))
    with pytest.raises(BadInput, match=r"vectors has shape \(3,\)"):
        most_similar_pairs(np.ones(3))
    with pytest.raises(BadInput, match="dtype uint8"):
        most_similar_pairs(np.ones((2, 3), np.uint8))
    with pytest.raises(BadInput, match="k is 0"):
        semantic_search(np.ones(3), np.ones((2, 3)), k=0)
    with pytest.raises(BadInput, match="k is -1"):
        most_similar_pairs(np.ones((2, 3)), k=-1)
    with pytest.raises(BadInput, match="k is None, but must be a whole number"):
        semantic_search(np.ones(3), np.ones((2, 3)), k=None)
    with pytest.raises(BadInput, match="both None"):
        most_similar_pairs(np.ones((2, 3)), k=None)
    with pytest.raises(BadInput, match="threshold is NaN"):
        most_similar_pairs(np.ones((2, 3)), threshold=float("nan"))
    with pytest.raises(BadOption, match="did you mean 'cosine'"):
        most_similar_pairs(np.ones((2, 3)), similarity="cosin")  # type: ignore[arg-type]
