"""SentenceEncoder in the tools of scikit-learn: clones, pickles, pipelines, grid searches and data frames."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

import sbert
from sbert.adapters.scikit import SentenceEncoder
from sbert.errors import BadInput


@pytest.fixture(scope="module")
def folder(tiny_folder) -> str:
    return str(tiny_folder("bert"))


def test_a_clone_shares_the_model_and_the_options(folder):
    model = sbert.BiEncoder.from_pretrained(folder)
    encoder = SentenceEncoder(model, truncate_dim=8, normalize_embeddings=True)
    copy = clone(encoder)
    assert copy is not encoder
    assert copy.model is model
    assert copy.get_params() == encoder.get_params()
    check_is_fitted(encoder)  # it needs no fitting


def test_a_pickle_of_a_named_model_is_small(folder):
    encoder = SentenceEncoder(folder).fit(["a"])
    expected = encoder.transform(["고양이", "cat"])
    stored = pickle.dumps(encoder)
    assert len(stored) < 2_000
    np.testing.assert_array_equal(pickle.loads(stored).transform(["고양이", "cat"]), expected)


def test_a_grid_search_in_a_pipeline(folder, sentences):
    texts = [text for text in sentences if text.strip()][:40]
    labels = [int(text.isascii()) for text in texts]
    pipeline = make_pipeline(SentenceEncoder(folder), LogisticRegression())
    grid = {"sentenceencoder__truncate_dim": [2, 32], "sentenceencoder__normalize_embeddings": [True, False]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(texts, labels)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    again = clone(pipeline).set_params(**search.best_params_).fit(texts, labels)
    assert search.predict(texts).tolist() == again.predict(texts).tolist()


def test_options_change_what_comes_out(folder):
    encoder = SentenceEncoder(folder)
    assert encoder.transform(["a", "나"]).shape == (2, 32)
    encoder.set_params(truncate_dim=5, normalize_embeddings=True)
    vectors = encoder.transform(np.array(["a", "나"]))
    assert vectors.shape == (2, 5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-5)


def test_names_of_features_and_data_frames(folder):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    encoder = SentenceEncoder(folder, truncate_dim=3).fit(["a"])
    assert encoder.get_feature_names_out().tolist() == [f"sentenceencoder{number}" for number in range(3)]
    table = pandas.DataFrame({"text": ["고양이", "cat"], "n": [1.0, 2.0]}, index=["x", "y"])
    framed = clone(encoder).set_output(transform="pandas").fit_transform(table["text"])
    assert list(framed.columns) == [f"sentenceencoder{number}" for number in range(3)]
    both = ColumnTransformer([("t", SentenceEncoder(folder, truncate_dim=3), "text"), ("n", "passthrough", ["n"])])
    np.testing.assert_array_equal(both.fit_transform(table)[:, :3], encoder.transform(["고양이", "cat"]))


def test_refusals(folder, tiny_classifier):
    with pytest.raises(BadInput, match="role is 'passage'"):
        SentenceEncoder(folder, role="passage").fit(["a"])
    with pytest.raises(BadInput, match="one vector per text is needed"):
        SentenceEncoder(str(tiny_classifier("bert", 1))).fit(["a"])
    with pytest.raises(BadInput, match="1 to 32 dimensions"):
        SentenceEncoder(folder, truncate_dim=99).transform(["a"])
    with pytest.raises(BadInput, match="row 1 is"):
        SentenceEncoder(folder).transform(["a", None])


def test_tags_say_what_it_reads(folder):
    from sklearn.utils import get_tags

    tags = get_tags(SentenceEncoder(folder))
    assert tags.input_tags.string
    assert tags.input_tags.one_d_array
    assert not tags.input_tags.two_d_array
    assert not tags.requires_fit


def test_the_code_on_the_page_runs():
    page = (Path(__file__).parents[2] / "docs" / "adapters.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, object] = {}
    exec(block, names)
    assert names["classifier"].predict(["a great film"]).tolist() == [1]
