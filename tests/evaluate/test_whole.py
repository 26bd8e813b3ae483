"""Clustering, several evaluators as one, and evaluators at work in the trainer."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, v_measure_score

from sbert import Columns, CrossEncoder, TrainConfig, Trainer, evaluate, losses
from sbert.errors import BadInput, BadOption
from sbert.evaluate import Clustering, PairClassification, Several, Similarity, Triplets, primary_metric


def test_clustering_as_scikit_learn(encoders, sentences):
    model = encoders[0]
    labels = ["영어" if text.isascii() else "한국어" for text in sentences]
    evaluator = Clustering(sentences, labels)
    found = evaluator(model)
    clusters = KMeans(2, random_state=42).fit_predict(model.encode(sentences, on_truncate="ignore"))
    assert found["v_measure"] == pytest.approx(100 * v_measure_score(labels, clusters))
    assert found["ari"] == pytest.approx(100 * adjusted_rand_score(labels, clusters))
    assert evaluator(model) == found
    assert next(iter(found)) == primary_metric(evaluator, model) == "v_measure"


def test_clustering_by_hand(fixed):
    model = fixed({"비": [0, 0], "눈": [0, 1], "cat": [9, 9], "dog": [9, 8]})
    texts = ["비", "cat", "눈", "dog", "비"]
    assert Clustering(texts, ["날씨", "동물", "날씨", "동물", "날씨"])(model)["ari"] == pytest.approx(100)
    assert Clustering(texts, [1, 1, 2, 2, 1])(model)["ari"] < 50
    assert model.asked[0] == ["비", "cat", "눈", "dog"]


def test_clustering_repr_and_refusals():
    different = [
        Clustering(["비", "눈"], ["a", "b"]),
        Clustering(["비", "해"], ["a", "b"]),
        Clustering(["비", "눈", "해"], ["a", "b", "a"]),
        Clustering(["비", "눈", "해"], ["a", "b", "b"]),
        Clustering(["비", "눈"], ["a", "b"], seed=1),
    ]
    assert len({repr(evaluator) for evaluator in different}) == 5
    assert repr(different[0]).startswith("Clustering(2 texts, 2 groups, checksum ")
    with pytest.raises(BadInput, match="got 2 texts and 1 labels"):
        Clustering(["비", "눈"], ["a"])
    with pytest.raises(BadInput, match="all 2 texts have the label 'a', but two groups are needed"):
        Clustering(["비", "눈"], ["a", "a"])


def test_several(encoders, cross_encoders, sentences):
    gold = np.random.default_rng(0).uniform(0, 5, 20)
    one, two = Similarity(sentences[:20], sentences[20:40], gold), Similarity(sentences[20:40], sentences[40:60], gold)
    both = Several({"sts": one, "korsts": two})
    for model in (encoders[0], cross_encoders(1)[0]):
        found, name = both(model), primary_metric(one, model)
        assert found["mean"] == pytest.approx((one(model)[name] + two(model)[name]) / 2)
        assert {key: value for key, value in found.items() if key.startswith("sts_")} == {
            f"sts_{key}": value for key, value in one(model).items()
        }
        assert len(found) == 1 + 2 * len(one(model))
        assert primary_metric(both, model) == "mean"
        named = Several({"sts": one, "korsts": two}, decides="korsts")
        assert named(model)[primary_metric(named, model)] == two(model)[name]
        nested = Several({"all": named}, decides="all")
        assert nested(model)[primary_metric(nested, model)] == two(model)[name]
    assert primary_metric(nested, encoders[0]) == "all_korsts_spearman_cosine"
    assert repr(one) in repr(both) != repr(named)


def test_several_refused():
    with pytest.raises(BadInput, match="got no evaluators"):
        Several({})
    with pytest.raises(BadOption, match="decides is 'stsb', but must be one of 'sts'"):
        Several({"sts": Triplets(["비"], ["눈"], ["해"])}, decides="stsb")


def test_public_names():
    assert sorted(evaluate.__all__) == list(evaluate.__all__)
    assert all(getattr(evaluate, name).__name__ == name for name in evaluate.__all__)
    with pytest.raises(AttributeError, match="Simlarity"):
        _ = evaluate.Simlarity


@pytest.mark.parametrize("kind", ["similarity", "classes", "several"])
def test_the_trainer_measures_cross_encoders(kind, tiny_folder, tmp_path, sentences):
    first, second = sentences[:16], sentences[16:32]
    labels = np.tile([0, 1], 8)
    similarity, classes = Similarity(first, second, labels), PairClassification(first, second, labels)
    evaluator, loss, metric = {
        "similarity": (similarity, losses.mse, "spearman"),
        "classes": (classes, losses.cross_entropy, "accuracy"),
        "several": (Several({"dev": similarity}, decides="dev"), losses.mse, "dev_spearman"),
    }[kind]
    model = CrossEncoder.from_pretrained(tiny_folder("bert"), num_labels=2 if kind == "classes" else 1)
    train = Columns.of({"a": first, "b": second}, labels if kind == "classes" else labels.astype(float))
    config = TrainConfig(output_dir=str(tmp_path / "run"), epochs=1, batch_size=8)
    trainer = Trainer(model, config, train=train, loss=loss, evaluator=evaluator)
    assert trainer.metric == metric
    assert trainer.train().best_score == pytest.approx(evaluator(model)[metric])
