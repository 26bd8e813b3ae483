"""A cross-encoder through the one trainer: pairs of a row's texts, its own losses, and the same exactness."""

from __future__ import annotations

import signal
from functools import partial

import numpy as np
import pytest
import torch
from sentence_transformers import CrossEncoder as Theirs
from sentence_transformers.cross_encoder import losses as their_losses

from sbert import Columns, CrossEncoder, TrainConfig, Trainer, losses
from sbert.errors import BadInput
from sbert.train import trainer
from sbert.train.run.explain import explain

NLI = ("contradiction", "entailment", "neutral")
SEED = (42, 0, 0)


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures take longer than these runs."""
    monkeypatch.setattr(trainer, "draw", lambda folder, metrics, facts: None)


@pytest.fixture
def cross(bert_folder):
    """``cross(dropout=0.1, labels=NLI)``: a fresh tiny cross-encoder with a new head."""
    return lambda dropout=0.0, labels=("score",): CrossEncoder.from_pretrained(bert_folder(dropout), labels=labels)


@pytest.fixture
def alike(sentences) -> Columns:
    """Whether two texts are the same: easy for one who reads both."""
    texts = [text for text in sentences if 2 < len(text) < 40][:16]
    second = [text if row % 2 else texts[row - 3] for row, text in enumerate(texts)]
    return Columns.of({"sentence1": texts, "sentence2": second}, [float(row % 2) for row in range(16)])


@pytest.fixture
def config(tmp_path):
    return partial(TrainConfig, output_dir=str(tmp_path / "실험"), batch_size=8, learning_rate=2e-3)


@pytest.mark.parametrize("loss", [losses.mse, losses.bce])
def test_it_learns_and_its_folder_gives_the_same_scores(cross, alike, config, tmp_path, loss):
    model, events = cross(0.1), []
    pairs = list(zip(*alike.texts.values(), strict=True))
    Trainer(model, config(epochs=40), train=alike, loss=loss, callbacks=[events.append]).train()
    steps = [event.values["loss"] for event in events if event.kind == "step"]
    assert np.mean(steps[-6:]) < np.mean(steps[:6]) / 2
    scores = model.predict(pairs)
    assert ((scores > 0.5) == (alike.labels > 0.5)).mean() > 0.85
    again = CrossEncoder.from_pretrained(tmp_path / "실험" / "model")
    assert again.predict(pairs).tolist() == scores.tolist()
    theirs = Theirs(str(tmp_path / "실험" / "model"), device="cpu")
    np.testing.assert_allclose(theirs.predict(pairs), scores, atol=1e-6)


def test_classes_have_names(cross, rows, config):
    model, columns = cross(labels=NLI), rows("softmax", 12)
    Trainer(model, config(epochs=60), train=columns, loss=losses.cross_entropy).train()
    found = model.predict_proba(list(zip(*columns.texts.values(), strict=True))).argmax(axis=1)
    assert (found == columns.labels).mean() > 0.7
    assert model.labels == columns.label_names


@pytest.mark.parametrize("loss", [losses.rank_net, losses.list_net, losses.lambda_rank, losses.margin_mse_scores])
def test_a_query_and_its_documents(cross, sentences, config, loss):
    texts = [text for text in sentences if 2 < len(text) < 40][:8]
    columns = Columns.of(
        {"query": texts, "document": texts, "other": texts[1:] + texts[:1], "third": texts[2:] + texts[:2]},
        np.tile([2.0, 1.0, 0.0], (8, 1)),
        label_kind="scores",
    )
    events: list[trainer.Event] = []
    model = cross()
    Trainer(model, config(epochs=60), train=columns, loss=loss, callbacks=[events.append]).train()
    steps = [event.values["loss"] for event in events if event.kind == "step"]
    lowest = 0.833 if loss is losses.list_net else 0  # the entropy of what it is to learn
    assert steps[-1] - lowest < (steps[0] - lowest) / 2
    assert [model.rank(text, [texts[0], texts[4]])[0].text for text in (texts[0], texts[4])] == [texts[0], texts[4]]


class FirstIsBest:
    """An evaluator that likes every model less than the one before."""

    primary_metric = "score"

    def __init__(self) -> None:
        self.seen: list[dict[str, torch.Tensor]] = []

    def __call__(self, model: CrossEncoder) -> dict[str, float]:
        self.seen.append({name: tensor.clone() for name, tensor in model.state_dict().items()})
        return {"score": -float(len(self.seen))}


def test_the_best_model_is_kept(cross, alike, config):
    model, evaluator = cross(), FirstIsBest()
    result = Trainer(model, config(epochs=3), train=alike, loss=losses.mse, evaluator=evaluator).train()
    assert (result.best_step, len(evaluator.seen)) == (2, 3)
    assert all(torch.equal(tensor, evaluator.seen[0][name]) for name, tensor in model.state_dict().items())
    assert not torch.equal(evaluator.seen[0]["head.dense.weight"], evaluator.seen[2]["head.dense.weight"])


def test_stopped_and_resumed_to_the_bit(cross, alike, config, tmp_path, state, same):
    settings = {"epochs": 6, "checkpoint_steps": 2, "mini_batch_tokens": 60}
    straight = Trainer(cross(0.1), config(**settings), train=alike, loss=losses.mse)
    straight.train()

    def interrupt(event: trainer.Event) -> None:
        if event.kind == "step" and event.step == 5:
            signal.raise_signal(signal.SIGINT)

    other = partial(config, output_dir=str(tmp_path / "다른"), **settings)
    with pytest.raises(KeyboardInterrupt):
        Trainer(cross(0.1), other(), train=alike, loss=losses.mse, callbacks=[interrupt]).train()
    resumed = Trainer(cross(0.1), other(), train=alike, loss=losses.mse)
    resumed.train(resume=True)
    same(state(resumed), state(straight))


def test_a_batch_in_parts_has_the_same_gradient(cross, alike, step, gradients, close):
    whole, parts = cross(), cross()
    labels, columns = torch.from_numpy(alike.labels), list(alike.texts.values())
    losses_ = [
        step(model, tokens)(losses.bce, columns, labels, SEED, share=1.0).loss
        for model, tokens in ((whole, None), (parts, 60))
    ]
    assert losses_[0] == pytest.approx(losses_[1], rel=1e-5)
    close(gradients(parts), gradients(whole))


def test_the_gradients_of_sentence_transformers(cross, alike, tmp_path, step, gradients):
    ours = cross()
    ours.save_pretrained(tmp_path / "m")
    theirs = Theirs(str(tmp_path / "m"), device="cpu")
    labels, columns = torch.from_numpy(alike.labels), list(alike.texts.values())
    value = their_losses.BinaryCrossEntropyLoss(theirs)(columns, labels)
    value.backward()
    outcome = step(ours)(losses.bce, columns, labels, SEED, share=1.0)
    assert outcome.loss == pytest.approx(value.item(), abs=1e-6)
    found, expected = gradients(ours), {name: weight.grad for name, weight in theirs.named_parameters()}
    for mine, name in (
        ("transformer.words.weight", "word_embeddings.weight"),
        ("transformer.segments.weight", "token_type_embeddings.weight"),
        ("head.dense.weight", "pooler.dense.weight"),
        ("head.projection.weight", "classifier.weight"),
    ):
        gradient = next(gradient for key, gradient in expected.items() if key.endswith(name))
        assert gradient.abs().max() > 1e-4
        torch.testing.assert_close(found[mine], gradient, atol=1e-6, rtol=1e-4)


def test_a_pair_that_stands_twice_goes_through_once(cross, step):
    model, seen = cross(), []
    forward = model.forward
    model.forward = lambda batch: (seen.append(len(batch.lengths)), forward(batch))[1]
    columns = [["비", "cat", "비", "비"], ["눈", "dog", "눈", "dog"]]
    step(model)(losses.mse, columns, torch.tensor([0.0, 1.0, 0.0, 1.0]), SEED, share=1.0)
    assert seen == [3]


def test_a_single_column_is_no_pair(cross, config):
    columns = Columns.of({"text": ["비", "cat"]}, [0.0, 1.0], label_kind="score")
    with pytest.raises(BadInput, match="got one text column, but a cross-encoder reads pairs; pass two or more"):
        Trainer(cross(), config(), train=columns, loss=losses.mse).train()


def test_explained_before_it_runs(cross, alike, config):
    facts = explain(Trainer(cross(), config(), train=alike, loss=losses.mse))
    assert (facts.steps, [column.name for column in facts.data[0].columns]) == (2, ["sentence1", "sentence2"])
    first, second = facts.data[0].columns
    lengths = cross().tokenize(list(zip(*alike.texts.values(), strict=True))).lengths
    assert first.tokens is None  # it is read with the other one only
    assert (second.tokens.mean, second.tokens.longest, second.tokens.truncated) == (lengths.mean(), lengths.max(), 0)
    assert (facts.data[0].unit, facts.data[0].loss) == ("pairs", "mse")
    assert [column.role for column in facts.data[0].columns] == ["sentence1", "sentence2"]
