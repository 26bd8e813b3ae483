"""The evaluators against sentence-transformers' own, on the same model and the same texts."""

from __future__ import annotations

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.evaluation import EmbeddingSimilarityEvaluator, TripletEvaluator

from sbert import BiEncoder
from sbert.errors import BadInput
from sbert.evaluate import Similarity, Triplets


class Fixed:
    """An encoder whose vectors the test writes down; it notes how it was asked."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self.vectors, self.calls = vectors, 0

    def encode(self, sentences, *, on_truncate="warn"):
        self.calls += 1
        assert on_truncate == "ignore"
        return np.array([self.vectors[text] for text in sentences], np.float32)


@pytest.fixture(scope="module")
def models(tiny_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("evaluate") / "model"
    ours = BiEncoder.from_pretrained(tiny_folder("bert"))
    ours.save_pretrained(folder)
    return ours, SentenceTransformer(str(folder), device="cpu")


def test_similarity_as_sentence_transformers(models, sentences):
    ours, theirs = models
    first, second = sentences[:30], sentences[30:60]
    gold = np.random.default_rng(0).uniform(0, 5, 30).round(1).tolist()
    found = Similarity(first, second, gold)(ours)
    expected = EmbeddingSimilarityEvaluator(first, second, gold, main_similarity="cosine")(theirs)
    assert found.keys() == {"spearman", "pearson"}
    assert found["spearman"] == pytest.approx(100 * expected["spearman_cosine"], abs=1e-3)
    assert found["pearson"] == pytest.approx(100 * expected["pearson_cosine"], abs=1e-3)


def test_triplets_as_sentence_transformers(models, sentences):
    ours, theirs = models
    texts = [text for text in sentences if len(text) > 3]
    columns = texts[:16], texts[16:32], texts[32:48]
    found = Triplets(*columns)(ours)
    expected = TripletEvaluator(*columns, main_distance_function="euclidean")(theirs)
    assert found == {"accuracy": pytest.approx(100 * expected["euclidean_accuracy"])}
    assert 0 < found["accuracy"] < 100  # some right, some wrong


def test_by_hand():
    model = Fixed({"비": [1, 0], "소나기": [2, 0], "cat": [0, 1], "고양이": [1, 1], "dog": [-1, 0], "nil": [0, 0]})
    # Cosines 1, 0.707, -1 and 0 against gold that orders them otherwise in one place.
    found = Similarity(["비", "cat", "비", "nil"], ["소나기", "고양이", "dog", "cat"], gold=[4, 5, 1, 2])(model)
    assert found["spearman"] == pytest.approx(80.0)  # 1 - 6 * 2 / (4 * 15)
    assert model.calls == 1  # all texts at once
    # By angle the second positive would be nearer, by distance it is not; and equally far is not nearer.
    assert Triplets(["비", "비", "비"], ["고양이", "소나기", "nil"], ["dog", "고양이", "소나기"])(model) == {
        "accuracy": pytest.approx(100 / 3)
    }


def test_which_figure_decides():
    assert (Similarity.primary, Triplets.primary) == ("spearman", "accuracy")


def test_refused():
    with pytest.raises(BadInput, match="got 2 first texts, 1 second texts and 2 scores, but there must be equally"):
        Similarity(["하나", "둘"], ["셋"], [1, 2])
    with pytest.raises(BadInput, match="got 1 anchors, 1 positives and 2 negatives"):
        Triplets(["하나"], ["둘"], ["셋", "넷"])
    with pytest.raises(BadInput, match="at least one"):
        Triplets([], [], [])
    with pytest.raises(BadInput, match="at least two"):
        Similarity(["비"], ["눈"], [1])(Fixed({"비": [1, 0], "눈": [0, 1]}))
