"""A poly-encoder through the one trainer: queries and documents side by side, and the same exactness."""

from __future__ import annotations

import signal
from functools import partial

import numpy as np
import pytest
import torch

from sbert import Columns, PolyEncoder, TrainConfig, Trainer, losses
from sbert.errors import BadInput
from sbert.train import trainer
from sbert.train.run.explain import explain

SEED = (42, 0, 0)
FORMS = [{}, {"codes": "first"}, {"towers": "separate"}]


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures take longer than these runs."""
    monkeypatch.setattr(trainer, "draw", lambda folder, metrics, facts: None)


@pytest.fixture
def poly(bert_folder):
    """``poly(dropout=0.1, towers="separate")``: a fresh tiny poly-encoder with new codes."""
    return lambda dropout=0.0, **form: PolyEncoder.from_pretrained(bert_folder(dropout), num_codes=4, **form)


@pytest.fixture
def answers(sentences) -> Columns:
    """Every text is asked for by its first half."""
    texts = [text for text in dict.fromkeys(sentences) if 8 < len(text) < 40][:16]
    return Columns.of({"query": [text[: len(text) // 2] for text in texts], "document": texts})


@pytest.fixture
def config(tmp_path):
    return partial(TrainConfig, output_dir=str(tmp_path / "실험"), batch_size=8, learning_rate=3e-3)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_it_learns_to_choose(poly, answers, config, tmp_path, form):
    model, events = poly(0.1, **form), []
    queries, documents = answers.texts.values()
    Trainer(model, config(epochs=40), train=answers, loss=losses.poly_nce, callbacks=[events.append]).train()
    steps = [event.values["loss"] for event in events if event.kind == "step"]
    assert np.mean(steps[-6:]) < np.mean(steps[:6]) / 2
    right = [model.rank(query, documents)[0].id == row for row, query in enumerate(queries)]
    assert np.mean(right) > 0.8
    again = PolyEncoder.from_pretrained(tmp_path / "실험" / "model")
    pairs = list(zip(queries, documents, strict=True))
    assert again.predict(pairs).tolist() == model.predict(pairs).tolist()


def test_graded_pairs(poly, answers, config):
    queries, documents = answers.texts.values()
    grades = [float(row % 2) for row in range(len(queries))]
    columns = Columns.of({"query": queries, "document": documents}, grades, label_kind="score")
    model = poly()
    Trainer(model, config(epochs=40), train=columns, loss=losses.poly_scores(losses.bce)).train()
    scores = model.predict(list(zip(queries, documents, strict=True)))
    assert ((scores > 0) == (columns.labels > 0.5)).mean() > 0.85


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_both_towers_and_the_codes_are_trained(poly, answers, form, step, gradients):
    model = poly(**form)
    columns = list(answers.texts.values())
    step(model)(losses.poly_nce, columns, None, SEED, share=1.0)
    reached = {name.split(".")[0] for name in gradients(model)}
    expected = {"documents", "codes", "tower"}
    expected -= {"codes"} if "codes" in form else set()
    expected -= {"tower"} if "towers" not in form else set()
    assert reached == expected


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_batch_in_parts_has_the_same_gradient(poly, answers, form, step, gradients, close):
    whole, parts = poly(**form), poly(**form)
    columns = list(answers.texts.values())
    values = [
        step(model, tokens)(losses.poly_nce, columns, None, SEED, share=1.0).loss
        for model, tokens in ((whole, None), (parts, 60))
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-5)
    close(gradients(parts), gradients(whole))


def test_the_gradient_is_that_of_separate_passes(poly, answers, step, gradients):
    """Queries and documents read each for themselves, and the loss written out."""
    ours, plain = poly(), poly()
    queries, documents = answers.texts.values()
    step(ours)(losses.poly_nce, [queries, documents], None, SEED, share=1.0)
    codes = torch.cat([plain(_batch(plain, text)) for text in queries])
    vectors = torch.cat([plain.documents(_batch(plain, text)) for text in documents])
    products = torch.einsum("bmh,nh->bmn", codes, vectors)
    scores = (products.softmax(dim=1) * products).sum(dim=1)
    torch.nn.functional.cross_entropy(scores, torch.arange(len(queries))).backward()
    expected = gradients(plain)
    largest = max(float(gradient.abs().max()) for gradient in expected.values())
    for name, gradient in gradients(ours).items():
        torch.testing.assert_close(gradient, expected[name], atol=2e-6 * max(1.0, largest), rtol=1e-4)


def _batch(model, text):
    from sbert.text import batches

    return next(batches(model.tokenize([text]), 512))[1]


def test_stopped_and_resumed_to_the_bit(poly, answers, config, tmp_path, state, same):
    settings = {"epochs": 6, "checkpoint_steps": 2, "mini_batch_tokens": 60}
    straight = Trainer(poly(0.1, towers="separate"), config(**settings), train=answers, loss=losses.poly_nce)
    straight.train()

    def interrupt(event: trainer.Event) -> None:
        if event.kind == "step" and event.step == 5:
            signal.raise_signal(signal.SIGINT)

    other = partial(config, output_dir=str(tmp_path / "다른"), **settings)
    with pytest.raises(KeyboardInterrupt):
        Trainer(
            poly(0.1, towers="separate"), other(), train=answers, loss=losses.poly_nce, callbacks=[interrupt]
        ).train()
    resumed = Trainer(poly(0.1, towers="separate"), other(), train=answers, loss=losses.poly_nce)
    resumed.train(resume=True)
    same(state(resumed), state(straight))


def test_a_single_column_is_not_enough(poly, config):
    columns = Columns.of({"text": ["비", "cat"]}, [0.0, 1.0], label_kind="score")
    with pytest.raises(BadInput, match="got one text column, but a poly-encoder reads queries and documents"):
        Trainer(poly(), config(), train=columns, loss=losses.poly_nce).train()


def test_explained_before_it_runs(poly, answers, config):
    facts = explain(Trainer(poly(), config(), train=answers, loss=losses.poly_nce))
    assert (facts.steps, [column.name for column in facts.data[0].columns]) == (2, ["query", "document"])
