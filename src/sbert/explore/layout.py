"""Places vectors on a plane so that similar vectors are close together. Works on arrays only."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sbert.explore.neighbours import unit_vectors
from sbert.explore.threads import on_one_thread
from sbert.types import FloatArray, IntArray

LANDMARKS = 10_000
"""Maximum number of vectors that t-SNE places. Others are placed between their nearest neighbours of these."""
_DIMENSIONS, _NEAREST, _BLOCK = 50, 8, 2048


@on_one_thread
def plane_layout(vectors: npt.ArrayLike, seed: int = 0) -> FloatArray:
    """Place vectors on a plane: (N, D) -> (N, 2) float32, between -1 and 1.

    The vectors are reduced to 50 principal components and placed by t-SNE. If there are more than 10,000, a random
    sample is placed, and every other vector is placed at the mean of its nearest neighbours in the sample, weighted by
    similarity. Time and memory grow linearly with the number of vectors. The same vectors give the same places.

    Args:
        vectors: (N, D).
        seed: Random seed of the sample and of t-SNE.
    """
    unit = unit_vectors(vectors)
    if len(unit) < 4:
        return np.stack([np.linspace(-1, 1, len(unit)), np.zeros(len(unit))], axis=1).astype(np.float32)
    rows = np.arange(len(unit))
    if len(unit) > LANDMARKS:
        rows = np.sort(np.random.default_rng(seed).choice(len(unit), LANDMARKS, replace=False))
    places = _tsne(unit[rows], seed)
    if len(rows) < len(unit):
        places = _between(unit, rows, places)
    places -= (places.min(axis=0) + places.max(axis=0)) / 2
    return (places / max(float(np.abs(places).max()), 1e-12)).astype(np.float32)


def _tsne(vectors: FloatArray, seed: int) -> FloatArray:
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    if vectors.shape[1] < 2 or not np.ptp(vectors, axis=0).any():  # all texts are equal
        angles = np.linspace(0, 2 * np.pi, len(vectors), endpoint=False)
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)
    reduced = PCA(min(_DIMENSIONS, *vectors.shape), random_state=seed, svd_solver="full").fit_transform(vectors)
    start = reduced[:, :2] / max(float(reduced[:, 0].std()), 1e-12) * 1e-4
    perplexity = min(30.0, (len(vectors) - 1) / 3)
    places: FloatArray = TSNE(perplexity=perplexity, init=start, random_state=seed, max_iter=500).fit_transform(
        reduced
    )
    return places.astype(np.float64)


def _between(vectors: FloatArray, landmarks: IntArray, places: FloatArray) -> FloatArray:
    """Place every vector at the weighted mean of its nearest landmarks; landmarks keep their places."""
    found = np.empty((len(vectors), 2))
    for start in range(0, len(vectors), _BLOCK):
        cosines = vectors[start : start + _BLOCK] @ vectors[landmarks].T
        nearest = np.argpartition(-cosines, _NEAREST, axis=1)[:, :_NEAREST]
        weights = np.exp((np.take_along_axis(cosines, nearest, axis=1) - 1) / 0.05).astype(np.float64) + 1e-12
        weights /= weights.sum(axis=1, keepdims=True)
        found[start : start + _BLOCK] = np.einsum("nk,nkd->nd", weights, places[nearest])
    found[landmarks] = places
    return found
