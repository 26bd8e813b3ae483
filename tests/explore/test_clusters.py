"""Clusters are those of scikit-learn and sentence-transformers, numbered by size, and the same in every run."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score, silhouette_score
from threadpoolctl import threadpool_limits

from sbert.errors import BadInput
from sbert.explore import clusters, communities
from sbert.explore.clusters import ClusterOptions, find_clusters, stability, summarised
from sbert.explore.neighbours import unit_vectors

METHODS = ["kmeans", "agglomerative", "communities", "hdbscan"]


def groups(sizes=(40, 30, 20), noise=0.15, dimensions=8, seed=0):
    """Vectors around centres that are far from each other, in a random order, and their groups."""
    random = np.random.default_rng(seed)
    labels = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return np.eye(dimensions)[labels] + noise * random.standard_normal((len(labels), dimensions)), labels


@pytest.mark.parametrize("method", METHODS)
def test_clear_groups_are_found_and_numbered_by_size(method):
    vectors, labels = groups()
    found = find_clusters(
        vectors, method, ClusterOptions(k=3, threshold=0.65 if method == "communities" else 0.5, min_size=5)
    )
    given = found.labels >= 0
    assert given.mean() > 0.9
    assert (found.labels[given] == labels[given]).mean() > 0.95  # a community may take a neighbour of another one
    assert found.sizes.tolist() == np.bincount(found.labels[given]).tolist()
    assert found.sizes.tolist() == sorted(found.sizes, reverse=True)
    for number, (medoid, cohesion) in enumerate(zip(found.medoids, found.cohesion, strict=True)):
        rows = unit_vectors(vectors)[found.rows(number)]
        mean = rows.mean(axis=0) / np.linalg.norm(rows.mean(axis=0))
        assert cohesion == pytest.approx((rows @ mean).mean(), abs=1e-6)
        assert medoid == found.rows(number)[np.argmax(rows @ mean)]


@pytest.mark.parametrize("method", METHODS)
def test_two_runs_and_another_number_of_threads_give_the_same(method):
    vectors, _ = groups((60, 50, 40, 30), noise=0.6, dimensions=32)
    options = ClusterOptions(k=7, threshold=0.3, min_size=3)
    found = [find_clusters(vectors, method, options)]
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(find_clusters(vectors, method, options))
    for other in found[1:]:
        assert other.labels.tolist() == found[0].labels.tolist()
        assert other.cohesion.tolist() == found[0].cohesion.tolist()


def test_the_order_of_the_rows_does_not_change_the_numbers_of_equal_clusters():
    vectors, labels = groups((20, 20, 20))
    texts = [f"{'나가다'[label]} {row}" for row, label in enumerate(labels)]
    order = np.random.default_rng(1).permutation(60)
    first = find_clusters(vectors, "agglomerative", texts=texts)
    second = find_clusters(vectors[order], "agglomerative", texts=[texts[row] for row in order])
    assert first.labels[order].tolist() == second.labels.tolist()
    assert [texts[row][0] for row in first.medoids] == ["가", "나", "다"]


def test_communities_are_those_of_sentence_transformers():
    st = pytest.importorskip("sentence_transformers.util")
    import torch

    vectors, _ = groups((60, 50, 40, 30, 20, 10), noise=0.25, dimensions=24)
    unit = unit_vectors(vectors)
    for threshold, size in [(0.5, 5), (0.6, 3), (0.75, 2), (0.9, 1)]:
        expected = st.community_detection(torch.from_numpy(unit), threshold, size)
        found = communities.find_communities(unit, threshold, size)
        assert [sorted(rows) for rows in found] == [sorted(rows) for rows in expected]
        assert [rows[0] for rows in found] == [rows[0] for rows in expected]


def test_too_many_pairs_are_one_sentence(monkeypatch):
    monkeypatch.setattr(communities, "MOST_PAIRS", 100)
    with pytest.raises(
        BadInput, match=r"more than 100 pairs have a cosine of at least 0.5; choose a higher threshold"
    ):
        find_clusters(groups()[0], "communities", ClusterOptions(threshold=0.5))


def test_agglomerative_clusters_are_those_of_scikit_learn():
    vectors, _ = groups((20, 20), noise=0.7)
    method = AgglomerativeClustering(None, metric="cosine", linkage="average", distance_threshold=0.6)
    found = find_clusters(vectors, "agglomerative", ClusterOptions(threshold=0.4))
    assert adjusted_rand_score(method.fit_predict(vectors), found.labels) == 1


def test_the_number_of_clusters_is_that_with_the_best_silhouette():
    vectors, labels = groups((40, 40, 40, 40, 40), noise=0.1)
    found = find_clusters(vectors)
    assert len(found.sizes) == 5
    assert adjusted_rand_score(labels, found.labels) == 1
    best = silhouette_score(unit_vectors(vectors), found.labels, metric="cosine")
    for k in (2, 3, 8):
        assert silhouette_score(unit_vectors(vectors), find_clusters(vectors, options=ClusterOptions(k)).labels) < best


def test_stability_tells_clear_groups_from_noise():
    clear, _ = groups((30, 30, 30), noise=0.1)
    noise = np.random.default_rng(0).standard_normal((90, 32))
    assert stability(clear, ClusterOptions(k=3)) == 1
    assert stability(noise, ClusterOptions(k=8)) < 0.6


def test_many_vectors_are_clustered_in_small_batches(monkeypatch):
    monkeypatch.setattr(clusters, "_MINI_BATCH_ROWS", 50)
    vectors, labels = groups()
    assert adjusted_rand_score(labels, find_clusters(vectors, options=ClusterOptions(k=3)).labels) == 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [1, 2, 30])
def test_one_vector_or_equal_ones_give_a_sound_result(method, count):
    found = find_clusters(np.ones((count, 4)), method, ClusterOptions(k=1, min_size=2))
    assert set(found.labels.tolist()) <= {0, -1}
    auto = find_clusters(np.ones((count, 4)), method)
    assert set(auto.labels.tolist()) <= {0, -1}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.empty((0, 2), np.float32),), "there are no vectors, but at least one is needed"),
        (
            ([[1.0, 0.0]], "kmeans", ClusterOptions(k=2)),
            "k is 2, but there are only 1 different vectors; choose a smaller",
        ),
        (([[1.0, 0.0]], "kmeans", ClusterOptions(k=0)), "k is 0, but must be at least 1"),
        (([[1.0, 0.0]], "means"), "method is 'means', but must be one of 'kmeans', 'agglomerative', 'comm"),
        (([[1.0, 0.0]], "kmeans", None, ["가", "나"]), "got 2 texts for 1 vectors, but each vector needs one"),
        (
            ([[1.0]], "hdbscan", ClusterOptions(min_size=1)),
            "min_size is 1, but a dense cluster has at least 2 vectors",
        ),
        (
            ([[1.0]], "communities", ClusterOptions(threshold=3)),
            "the threshold is 3, but a cosine lies between -1 and 1",
        ),
    ],
)
def test_wrong_arguments_are_one_sentence(arguments, message):
    with pytest.raises(BadInput, match=message):
        find_clusters(*arguments)


def test_agglomerative_clustering_of_too_many_is_refused(monkeypatch):
    monkeypatch.setattr(clusters, "MOST_AGGLOMERATED", 10)
    with pytest.raises(
        BadInput, match="compares all pairs of 90 vectors, but at most 10 fit into memory; use k-means or"
    ):
        find_clusters(groups()[0], "agglomerative")


def test_any_labels_can_be_summarised():
    found = summarised(unit_vectors([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]), np.array([7, -1, 3]))
    assert found.labels.tolist() == [0, -1, 1]
    assert found.medoids.tolist() == [0, 2]
