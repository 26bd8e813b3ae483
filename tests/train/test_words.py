"""Word encoders through the one trainer: InferSent's objective, the triplet loss, and the same exactness."""

from __future__ import annotations

import signal
from functools import partial

import numpy as np
import pytest
import torch

from sbert import TrainConfig, Trainer, WordEncoder, losses
from sbert.nn.words import BiLSTM, WordEmbeddings
from sbert.text import WordTokenizer, split_words
from sbert.train import trainer
from sbert.train.distributed import Team
from sbert.train.run.explain import explain
from sbert.train.step import Step


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures take longer than these runs."""
    monkeypatch.setattr(trainer, "draw", lambda folder, metrics, facts: None)


@pytest.fixture
def encoder(sentences):
    """``encoder(trainable=True)``: a fresh BiLSTM with max pooling on random vectors of the sentences' words."""

    def make(trainable: bool = False) -> WordEncoder:
        words = sorted({word for text in sentences for word in split_words(text)})[::2]  # every other one is unknown
        generator = torch.Generator().manual_seed(0)
        table = torch.randn(len(words) + 1, 16, generator=generator).half()
        table[0] = 0
        torch.manual_seed(1)
        return WordEncoder(WordTokenizer(words), WordEmbeddings(table, trainable), BiLSTM(16, 12), "max")

    return make


@pytest.fixture
def config(tmp_path):
    return partial(TrainConfig, output_dir=str(tmp_path / "실험"), batch_size=8, learning_rate=1e-2)


def softmax(model: WordEncoder, rows) -> losses.SoftmaxClassifier:
    torch.manual_seed(2)
    return losses.SoftmaxClassifier(model.embedding_dimension, rows.label_names, ("u", "v", "|u-v|", "u*v"))


@pytest.mark.parametrize("trainable", [False, True])
def test_infersent_learns_and_its_folder_gives_the_same_vectors(encoder, rows, config, tmp_path, trainable):
    model, columns, events = encoder(trainable), rows("softmax", 24), []
    table = model.embeddings.table.weight.clone()
    loss = softmax(model, columns)
    Trainer(model, config(epochs=20), train=columns, loss=loss, callbacks=[events.append]).train()
    steps = [event.values["loss"] for event in events if event.kind == "step"]
    assert np.mean(steps[-6:]) < np.mean(steps[:6]) / 2
    learned = model.embeddings.table.weight
    assert torch.equal(learned, table) is not trainable
    assert learned[0].abs().max() == 0
    texts = list(columns.texts["전제"])
    again = WordEncoder.from_pretrained(tmp_path / "실험")
    assert again.encode(texts).tolist() == model.encode(texts).tolist()


def test_triplets_move_together(encoder, rows, config):
    model, columns, events = encoder(), rows("triplet", 24), []
    Trainer(model, config(epochs=20), train=columns, loss=losses.triplet, callbacks=[events.append]).train()
    steps = [event.values["loss"] for event in events if event.kind == "step"]
    assert np.mean(steps[-6:]) < np.mean(steps[:6]) / 2


def test_stopped_and_resumed_to_the_bit(encoder, rows, config, tmp_path, state, same):
    columns = rows("softmax", 24)
    settings = {"epochs": 4, "checkpoint_steps": 2, "mini_batch_tokens": 40}

    def run(folder: str, resume: bool = False, **options) -> Trainer:
        model = encoder(trainable=True)
        made = config(output_dir=str(tmp_path / folder), **settings)
        run = Trainer(model, made, train=columns, loss=softmax(model, columns), **options)
        run.train(resume=resume)
        return run

    def interrupt(event: trainer.Event) -> None:
        if event.kind == "step" and event.step == 5:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run("다른", callbacks=[interrupt])
    same(state(run("다른", resume=True)), state(run("하나")))


def test_a_batch_in_parts_has_the_same_gradient(encoder, rows):
    columns = rows("triplet", 12)
    found = []
    for tokens in (None, 30):
        model = encoder(trainable=True)
        step = Step(model, Team(), "float32", tokens, torch.amp.GradScaler("cpu", enabled=False))
        step(losses.triplet, list(columns.texts.values()), None, (42, 0, 0), share=1.0)
        found.append({name: weight.grad for name, weight in model.named_parameters()})
    for name, gradient in found[0].items():
        assert gradient.abs().max() > 1e-4, name
        torch.testing.assert_close(found[1][name], gradient, atol=1e-6, rtol=1e-4)


def test_explained_before_it_runs(encoder, rows, config):
    model, columns = encoder(), rows("softmax", 24)
    facts = explain(Trainer(model, config(), train=columns, loss=softmax(model, columns)))
    assert (facts.steps, facts.max_seq_length) == (3, 512)
    assert facts.parameters == sum(weight.numel() for weight in model.lstm.parameters()) + 4 * 24 * 3 + 3
