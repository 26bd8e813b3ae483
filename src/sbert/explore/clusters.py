"""Divides vectors into clusters, with the same result in every run. Works on arrays only.

scikit-learn computes k-means, agglomerative clustering and HDBSCAN, on one thread, because the sums of several threads
differ in their last bits. Vectors are compared by cosine, so they are first scaled to unit length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from sbert.errors import BadInput, check_count, check_option, shown
from sbert.explore.communities import find_communities
from sbert.explore.neighbours import check_threshold, unit_vectors
from sbert.explore.threads import on_one_thread
from sbert.types import FloatArray, IntArray

ClusterMethod = Literal["kmeans", "agglomerative", "communities", "hdbscan"]
"""The algorithm: k-means; agglomerative clustering, which merges the nearest clusters; communities around vectors with
many neighbours; or HDBSCAN, which finds dense regions. The last two may leave vectors without a cluster."""
MOST_AGGLOMERATED = 20_000
"""Maximum number of vectors for agglomerative clustering, which needs the distances of all pairs."""
_MINI_BATCH_ROWS = 20_000
_DENSE_DIMENSIONS = 50
_SAMPLE = 2000
_LARGEST_AUTO = 200


@dataclass(frozen=True, slots=True, eq=False)
class ClusterOptions:
    """The options of :func:`find_clusters`; each method uses its own.

    Args:
        k: k-means: number of clusters, or "auto" for the number with the best silhouette on a sample.
        threshold: Agglomerative: minimum mean cosine of clusters to merge. Communities: minimum cosine with the
            centre. Defaults to 0.5 and 0.75.
        min_size: Communities and HDBSCAN: minimum number of vectors in a cluster.
        seed: Random seed of k-means.
    """

    k: int | Literal["auto"] = "auto"
    threshold: float | None = None
    min_size: int = 10
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """N vectors in K clusters, the largest first."""

    labels: IntArray
    """(N,) the number of each vector's cluster; -1 for vectors without one."""
    sizes: IntArray
    """(K,)."""
    medoids: IntArray
    """(K,) the row of the vector nearest to the mean of the cluster."""
    cohesion: FloatArray
    """(K,) the mean cosine of the vectors of a cluster with their mean."""

    def rows(self, number: int) -> IntArray:
        """Return the rows of a cluster, in ascending order."""
        return np.flatnonzero(self.labels == number)


def find_clusters(
    vectors: npt.ArrayLike,
    method: ClusterMethod = "kmeans",
    options: ClusterOptions | None = None,
    texts: Sequence[str] | None = None,
) -> Clusters:
    """Divide vectors into clusters, numbered from the largest to the smallest.

    Args:
        vectors: (N, D).
        method: The clustering algorithm.
        options: The options of the algorithm.
        texts: The texts of the vectors. If given, clusters of equal size are ordered by the text of their medoid, so
            that the numbers do not depend on the order of the rows; otherwise by their first row.

    >>> find_clusters([[1.0, 0.0], [0.0, 1.0], [0.1, 1.0]], options=ClusterOptions(k=2)).labels.tolist()
    [1, 0, 0]
    """
    check_option("method", method, get_args(ClusterMethod))
    options = options or ClusterOptions()
    unit = unit_vectors(vectors)
    if len(unit) == 0:
        raise BadInput("there are no vectors, but at least one is needed")
    if texts is not None and len(texts) != len(unit):
        raise BadInput(f"got {len(texts)} texts for {len(unit)} vectors, but each vector needs one")
    return summarised(unit, _METHODS[method](unit, options), texts)


def rows_by_label(labels: IntArray, count: int | None = None) -> list[IntArray]:
    """Return the rows of each label, in ascending order.

    Args:
        labels: (N,) whole numbers; negative ones are left out.
        count: Number of labels, 0 to ``count`` - 1. Defaults to those that occur.

    >>> [rows.tolist() for rows in rows_by_label(np.array([7, -1, 3, 7]))]
    [[2], [0, 3]]
    """
    order = np.argsort(labels, kind="stable")
    ordered = labels[order]
    numbers = np.unique(ordered[ordered >= 0]) if count is None else np.arange(count)
    starts, stops = np.searchsorted(ordered, numbers), np.searchsorted(ordered, numbers, side="right")
    return [order[start:stop] for start, stop in zip(starts, stops, strict=True)]


@on_one_thread
def summarised(vectors: FloatArray, labels: IntArray, texts: Sequence[str] | None = None) -> Clusters:
    """Number clusters by size and describe them.

    Args:
        vectors: Vectors of length 1: (N, D).
        labels: (N,) any whole numbers; negative ones mean no cluster.
        texts: The texts of the vectors, which order clusters of equal size.
    """
    found = []
    for rows in rows_by_label(labels):
        mean = vectors[rows].mean(axis=0, dtype=np.float64)
        cosines = vectors[rows] @ (mean / max(float(np.linalg.norm(mean)), 1e-12))
        medoid = int(rows[np.argmax(cosines)])
        name = f"{medoid:020d}" if texts is None else texts[medoid]
        first = int(rows[0]) if texts is None else 0
        found.append((-len(rows), first, name, medoid, float(cosines.mean()), rows))
    found.sort(key=lambda one: one[:3])
    ordered = np.full(len(labels), -1, np.int64)
    for number, (*_, rows) in enumerate(found):
        ordered[rows] = number
    return Clusters(
        ordered,
        np.array([-size for size, *_ in found], np.int64),
        np.array([one[3] for one in found], np.int64),
        np.array([one[4] for one in found], np.float64),
    )


def stability(
    vectors: npt.ArrayLike, options: ClusterOptions | None = None, seeds: Sequence[int] = (0, 1, 2, 3, 4)
) -> float:
    """Measure the stability of k-means under different random seeds: 1 if all results are equal, about 0 for chance.

    The result is the mean adjusted Rand index over all pairs of seeds.
    """
    from sklearn.metrics import adjusted_rand_score

    given = options or ClusterOptions()
    unit = unit_vectors(vectors)
    if len(seeds) < 2:
        raise BadInput(f"got {len(seeds)} seeds, but at least two are compared")
    k = _best_count(unit, given.seed) if given.k == "auto" else given.k
    runs = [_k_means(unit, ClusterOptions(k=k, seed=seed)) for seed in seeds]
    return float(np.mean([adjusted_rand_score(one, other) for one, other in combinations(runs, 2)]))


@on_one_thread
def _k_means(vectors: FloatArray, options: ClusterOptions) -> IntArray:
    from sklearn.cluster import KMeans, MiniBatchKMeans

    k = options.k
    if k == "auto":
        k = _best_count(vectors, options.seed)
    check_count("k", k)
    distinct = count_distinct(vectors, k)
    if k > distinct:
        raise BadInput(f"k is {k}, but there are only {distinct} different vectors; choose a smaller number")
    kind = KMeans if len(vectors) <= _MINI_BATCH_ROWS else MiniBatchKMeans
    labels: IntArray = kind(k, n_init=3, random_state=options.seed).fit_predict(vectors)
    return labels


def count_distinct(vectors: FloatArray, enough: int) -> int:
    """Count the distinct vectors (N, D), up to ``enough``."""
    seen: set[bytes] = set()
    for row in vectors:
        seen.add(row.tobytes())
        if len(seen) == enough:
            break
    return len(seen)


@on_one_thread
def _best_count(vectors: FloatArray, seed: int) -> int:
    """Return the number of clusters with the largest mean silhouette of a sample of the vectors."""
    from sklearn.metrics import silhouette_score

    random = np.random.default_rng(seed)
    sample = vectors[np.sort(random.choice(len(vectors), min(_SAMPLE, len(vectors)), replace=False))]
    most = min(_LARGEST_AUTO, count_distinct(sample, len(sample)) - 1, max(2, len(sample) // 5))
    if most < 2:
        return 1
    counts = np.unique(np.geomspace(2, most, 16).round().astype(int)).tolist()
    quality = [
        silhouette_score(sample, _k_means(sample, ClusterOptions(k=count, seed=seed)), metric="cosine")
        for count in counts
    ]
    return int(counts[int(np.argmax(quality))])


@on_one_thread
def _agglomerative(vectors: FloatArray, options: ClusterOptions) -> IntArray:
    from sklearn.cluster import AgglomerativeClustering

    threshold = 0.5 if options.threshold is None else options.threshold
    check_threshold(threshold)
    if len(vectors) > MOST_AGGLOMERATED:
        raise BadInput(
            f"agglomerative clustering compares all pairs of {len(vectors):,} vectors, but at most "
            f"{MOST_AGGLOMERATED:,} fit into memory; use k-means or communities"
        )
    if len(vectors) == 1:
        return np.zeros(1, np.int64)
    distances = np.clip(1 - vectors @ vectors.T, 0, 2)
    method = AgglomerativeClustering(
        None, metric="precomputed", linkage="average", distance_threshold=np.nextafter(np.float32(1 - threshold), 3)
    )
    labels: IntArray = method.fit_predict(distances)
    return labels


def _communities(vectors: FloatArray, options: ClusterOptions) -> IntArray:
    threshold = 0.75 if options.threshold is None else options.threshold
    check_threshold(threshold)
    labels = np.full(len(vectors), -1, np.int64)
    for number, rows in enumerate(find_communities(vectors, threshold, options.min_size)):
        labels[rows] = number
    return labels


@on_one_thread
def _hdbscan(vectors: FloatArray, options: ClusterOptions) -> IntArray:
    from sklearn.cluster import HDBSCAN
    from sklearn.decomposition import PCA

    check_count("min_size", options.min_size)
    if options.min_size < 2:
        raise BadInput(f"min_size is {shown(options.min_size)}, but a dense cluster has at least 2 vectors")
    if len(vectors) < 2 * options.min_size:
        return np.full(len(vectors), -1, np.int64)
    if count_distinct(vectors, 2) == 1:
        return np.zeros(len(vectors), np.int64)
    dimensions = min(_DENSE_DIMENSIONS, *vectors.shape)
    reduced = PCA(dimensions, random_state=0, svd_solver="full").fit_transform(vectors)
    labels: IntArray = HDBSCAN(min_cluster_size=options.min_size, copy=True).fit_predict(reduced)
    return labels


_METHODS: dict[ClusterMethod, Callable[[FloatArray, ClusterOptions], IntArray]] = {
    "kmeans": _k_means,
    "agglomerative": _agglomerative,
    "communities": _communities,
    "hdbscan": _hdbscan,
}
