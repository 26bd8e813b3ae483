"""Indexes: both kinds find what a scan finds, under filters, additions and removals, and survive damage."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sbert.errors import BadInput, BadModel, BadOption
from sbert.search.exact import semantic_search
from sbert.search.index import ExactIndex, FaissIndex
from sbert.search.index import faiss as module
from sbert.search.packing import Packing

SIZE = 16


def clustered(count, seed=0, centres=20, spread=0.7):
    random = np.random.default_rng(seed)
    places = np.random.default_rng(99).standard_normal((centres, SIZE))
    noise = spread * random.standard_normal((count, SIZE))
    return (places[random.integers(0, centres, count)] + noise).astype(np.float32)


def built(folder, vectors, precision="float32", similarity="cosine", kind=None):
    packing = Packing(SIZE, precision)
    keys = np.arange(1, len(vectors) + 1) * 3
    return FaissIndex.build(folder, packing, [(keys, packing.pack(vectors))], similarity, kind), keys


@pytest.fixture(autouse=True)
def approximate_from_a_few_rows(monkeypatch):
    monkeypatch.setattr(module, "EXACT_ROWS", 50)


@pytest.mark.parametrize("kind", ["ivf-sq8", "ivf-pq", "ivf-rabitq"])
@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean"])
def test_faiss_finds_nearly_what_a_scan_finds_with_the_same_scores(tmp_path, kind, similarity):
    vectors, queries = clustered(3000), clustered(40, seed=1)
    index, keys = built(tmp_path / "index", vectors, similarity=similarity, kind=kind)
    found = index.search(queries, 10)
    truth = semantic_search(queries, vectors, 10, similarity)
    expected = [[int(keys[hit.id]) for hit in hits] for hits in truth]
    recall = np.mean([len(set(got.tolist()) & set(want)) / 10 for got, want in zip(found.keys, expected, strict=True)])
    assert recall >= 0.95
    assert index.facts.recall >= 0.97
    assert not found.exact
    assert found.compared < 3000
    scores = {
        key: hit.score
        for hits, row in zip(truth[:1], expected[:1], strict=True)
        for hit, key in zip(hits, row, strict=True)
    }
    for key, score in zip(found.keys[0].tolist(), found.scores[0].tolist(), strict=True):
        assert scores.get(key, score) == score


def test_few_allowed_rows_are_compared_exactly(tmp_path):
    vectors, queries = clustered(2000), clustered(5, seed=2)
    index, keys = built(tmp_path / "index", vectors)
    allowed = keys[::50]
    found = index.search(queries, 10, allowed)
    exact = ExactIndex(SIZE)
    exact.add(keys, vectors)
    expected = exact.search(queries, 10, allowed)
    assert found.exact
    assert found.compared == len(allowed)
    assert all((got == want).all() for got, want in zip(found.keys, expected.keys, strict=True))
    assert all((got == want).all() for got, want in zip(found.scores, expected.scores, strict=True))


# Of the small and dense clusters, a filter leaves one row, and its neighbours lie in many cells.
@pytest.mark.parametrize(("centres", "spread"), [(20, 0.7), (450, 0.1)])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_many_allowed_rows_are_probed_until_enough_are_found(tmp_path, share, centres, spread):
    vectors, queries = clustered(5000, 0, centres, spread), clustered(40, 3, centres, spread)
    index, keys = built(tmp_path / "index", vectors)
    allowed = np.sort(np.random.default_rng(4).choice(keys, int(share * len(keys)), replace=False))
    found = index.search(queries, 10, allowed)
    rows = np.flatnonzero(np.isin(keys, allowed))
    truth = semantic_search(queries, vectors[rows], 10)
    expected = [set(keys[rows[[hit.id for hit in hits]]].tolist()) for hits in truth]
    assert all(len(got) == 10 and np.isin(got, allowed).all() for got in found.keys)
    assert (
        np.mean([len(set(got.tolist()) & want) / 10 for got, want in zip(found.keys, expected, strict=True)]) >= 0.95
    )


def test_what_is_added_is_found_and_what_is_removed_never(tmp_path):
    vectors, new = clustered(2000), clustered(30, seed=5)
    index, keys = built(tmp_path / "index", vectors)
    added = keys[-1] + 1 + np.arange(30)
    index.add(added, new)
    index.remove(np.concatenate([keys[:500], added[:3], [10**9]]))
    assert len(index) == 2000 - 500 + 27
    for _ in range(2):
        found = index.search(np.concatenate([new, vectors[:100]]), 10)
        assert [int(got[0]) for got in found.keys[3:30]] == added[3:].tolist()
        assert not any(np.isin(got, keys[:500]).any() or np.isin(got, added[:3]).any() for got in found.keys)
        index.save(tmp_path / "other")
        index = FaissIndex.open(tmp_path / "other")
        assert index.unsaved == 0
        assert index.last_key == added[-1]
        index.remove(keys[:500])


@pytest.mark.parametrize("file", ["checksums.npy", "index.faiss", "index.json", "keys.npy", "vectors.bin"])
@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "noise"])
def test_a_damaged_folder_is_told_in_one_sentence(tmp_path, file, damage):
    built(tmp_path / "index", clustered(500))
    path = tmp_path / "index" / file
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes({"empty": b"", "cut": content[: len(content) // 2], "noise": b"\xff" * 300}[damage])
    with pytest.raises(BadModel, match="build it again"):
        FaissIndex.open(tmp_path / "index")


@pytest.mark.parametrize("file", ["checksums.npy", "index.faiss", "keys.npy", "vectors.bin"])
def test_a_single_wrong_byte_is_noticed(tmp_path, file):
    built(tmp_path / "index", clustered(500))
    path = tmp_path / "index" / file
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    if file == "vectors.bin":
        assert not FaissIndex.open(tmp_path / "index").is_intact()
    else:
        with pytest.raises(BadModel, match="build it again"):
            FaissIndex.open(tmp_path / "index")


def test_a_changed_number_in_the_facts_is_noticed(tmp_path):
    index, _ = built(tmp_path / "index", clustered(500))
    path = tmp_path / "index" / "index.json"
    probes = f'"probes": {index.facts.probes}'
    path.write_text(path.read_text().replace(probes, '"probes": 0', 1))
    with pytest.raises(BadModel, match="a digest differs"):
        FaissIndex.open(tmp_path / "index")


@pytest.mark.parametrize("precision", ["float32", "float16", "int8", "binary"])
@pytest.mark.parametrize("allowed", [None, np.arange(1, 11) * 3])
def test_a_search_never_compares_a_damaged_vector(tmp_path, precision, allowed):
    vectors = clustered(500)
    built(tmp_path / "index", vectors, precision)
    path = tmp_path / "index" / "vectors.bin"
    content = bytearray(path.read_bytes())
    content[3 * Packing(SIZE, precision).row_bytes] ^= 1  # in row 3
    path.write_bytes(content)
    index = FaissIndex.open(tmp_path / "index")
    with pytest.raises(BadModel, match="are damaged; build the index again"):
        index.search(vectors[3:4], 1, allowed)


@pytest.mark.parametrize(
    ("precision", "value"), [("float32", 1e30), ("float16", 7e4), ("int8", np.inf), ("binary", np.nan)]
)
def test_vectors_that_cannot_be_compared_are_not_packed(precision, value):
    vectors = np.ones((3, SIZE), np.float32)
    vectors[1, 2] = value
    with pytest.raises(BadInput, match=r"^vector 1 holds NaN, infinity or values beyond (1e19|65,504); repair it"):
        Packing(SIZE, precision).pack(vectors)


def test_an_index_works_after_a_fork(tmp_path):
    vectors = clustered(3000)
    index, _ = built(tmp_path / "index", vectors)
    expected = [keys.tolist() for keys in index.search(vectors[:64], 10).keys]
    child = os.fork()
    if child == 0:
        os._exit([keys.tolist() for keys in index.search(vectors[:64], 10).keys] != expected)
    deadline = time.monotonic() + 60
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.01)
    if ended == (0, 0):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended == (child, 0)


def test_wrong_calls_are_one_sentence(tmp_path):
    packing = Packing(SIZE)
    rows = packing.pack(clustered(3))
    with pytest.raises(BadInput, match="keys do not ascend"):
        FaissIndex.build(tmp_path / "a", packing, [(np.array([1, 3, 2]), rows)])
    with pytest.raises(BadOption, match="similarity is 'manhattan'"):
        FaissIndex.build(tmp_path / "a", packing, [], "manhattan")
    with pytest.raises(BadOption, match="kind is 'hnsw'"):
        FaissIndex.build(tmp_path / "a", packing, [(np.array([1, 2, 3]), rows)], kind="hnsw")
    with pytest.raises(BadInput, match=r"shape \(2, 3\), but \(rows, 16\) is expected"):
        packing.pack(np.zeros((2, 3), np.float32))
    with pytest.raises(BadInput, match="vector 1 holds NaN"):
        Packing(2).pack(np.array([[0, 1], [np.nan, 0]], np.float32))
    assert not (tmp_path / "a").exists()


def test_an_exact_index_is_saved_and_read(tmp_path):
    index = ExactIndex(SIZE, "dot")
    index.add(np.array([5, 9]), clustered(2))
    index.save(tmp_path / "index")
    again = ExactIndex.open(tmp_path / "index")
    assert again.similarity == "dot"
    assert again.search(clustered(1), 5).keys[0].tolist() == index.search(clustered(1), 5).keys[0].tolist()


def test_an_empty_exact_index_finds_nothing():
    found = ExactIndex(SIZE).search(clustered(2), 3)
    assert [len(keys) for keys in found.keys] == [0, 0]


@settings(max_examples=30)
@given(st.integers(1, 40), st.sampled_from(["float32", "float16", "int8", "binary"]), st.integers(0, 5))
def test_packed_vectors_come_back_as_well_as_their_precision_allows(size, precision, rows):
    vectors = np.random.default_rng(size).standard_normal((rows, size)).astype(np.float32)
    vectors[:1] = 0
    packing = Packing(size, precision)
    packed = packing.pack(vectors)
    assert packed.shape == (rows, packing.row_bytes)
    back = packing.unpack(packed)
    assert back.dtype == np.float32
    if precision == "binary":
        assert (np.sign(back[1:]) == np.where(vectors[1:] > 0, 1, -1)).all()
        assert np.allclose(np.linalg.norm(back, axis=1), np.linalg.norm(vectors, axis=1), rtol=1e-5)
    else:
        assert np.abs(back - vectors).max(initial=0) <= {"float32": 0, "float16": 2e-3, "int8": 0.02}[precision]
    assert (packing.pack(back) == packed).all() or precision == "binary"
