"""The layout keeps neighbours together, stays between -1 and 1, and is the same in every run."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from sbert.explore import layout as module
from sbert.explore.layout import plane_layout


def groups(count=120, noise=0.1):
    random = np.random.default_rng(0)
    labels = np.arange(count) % 3
    return np.eye(12)[labels] + noise * random.standard_normal((count, 12)), labels


def share_with_same_neighbour(places, labels):
    away = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(away, np.inf)
    return (labels[away.argmin(axis=1)] == labels).mean()


@pytest.mark.parametrize("landmarks", [10_000, 60])
def test_near_texts_lie_near(landmarks, monkeypatch):
    monkeypatch.setattr(module, "LANDMARKS", landmarks)
    vectors, labels = groups()
    places = plane_layout(vectors)
    assert places.shape == (120, 2)
    assert np.abs(places).max() == pytest.approx(1)
    assert share_with_same_neighbour(places, labels) > 0.95


def test_two_runs_and_another_number_of_threads_give_the_same():
    vectors, _ = groups(noise=0.5)
    expected = plane_layout(vectors)
    for threads in (1, 2):
        with threadpool_limits(threads):
            assert (plane_layout(vectors) == expected).all()


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 30])
def test_few_or_equal_vectors_have_places(count):
    places = plane_layout(np.ones((count, 5)))
    assert places.shape == (count, 2)
    assert np.isfinite(places).all()
    assert np.isfinite(plane_layout(np.random.default_rng(0).standard_normal((count, 1)))).all()


def test_the_nearest_point_always_belongs_to_the_same_group():
    random = np.random.default_rng(0)
    labels = np.arange(150) % 3
    vectors = np.eye(16)[labels] * 3 + random.normal(size=(150, 16)) * 0.4
    assert share_with_same_neighbour(plane_layout(vectors), labels) == 1
