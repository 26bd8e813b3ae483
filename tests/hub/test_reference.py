"""Reference vectors come back bit for bit, and a difference is seen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sbert.hub.reference import REFERENCE_TEXTS, Reference, largest_difference, read_reference, write_reference

FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(vectors=hnp.arrays(np.float32, (2, 5), elements=FINITE), texts=st.tuples(st.text(), st.text()))
def test_round_trip_is_exact(tmp_path_factory, vectors, texts):
    texts = tuple(text.encode("utf-8", "replace").decode() for text in texts)
    path = tmp_path_factory.mktemp("reference") / "reference.json"
    write_reference(Reference(texts, vectors), path)
    again = read_reference(path)
    assert again.texts == texts
    assert again.vectors.dtype == np.float32
    assert again.vectors.tobytes() == vectors.tobytes()
    assert largest_difference(again, vectors) == 0


def test_none_stored(tmp_path):
    assert read_reference(tmp_path / "reference.json") is None


def test_text_stays_readable(tmp_path):
    write_reference(Reference(("한국어",), np.zeros((1, 1), np.float32)), tmp_path / "r.json")
    assert "한국어" in (tmp_path / "r.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("vectors", "expected"),
    [([[1.0, 2.0]], 0.0), ([[1.0, 1.5]], 0.5), ([[3.0, 2.0]], 2.0), ([[1.0]], np.inf), ([[1.0, np.nan]], np.inf)],
)
def test_largest_difference(vectors, expected):
    reference = Reference(("a",), np.array([[1.0, 2.0]], np.float32))
    assert largest_difference(reference, np.array(vectors, np.float32)) == expected


def test_texts_are_varied():
    assert len(REFERENCE_TEXTS) == 5
    assert "" in REFERENCE_TEXTS
    assert any("서울" in text for text in REFERENCE_TEXTS)
    assert max(map(len, REFERENCE_TEXTS)) > 1500
