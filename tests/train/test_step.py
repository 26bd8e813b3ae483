"""The gradients of a batch: those of a plain loop, of sentence-transformers, and of the same batch in parts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import losses as theirs
from torch import Tensor, nn

from sbert import Columns, losses
from sbert.errors import BadInput
from sbert.text import batches
from sbert.train.config import TrainConfig
from sbert.train.distributed import Team
from sbert.train.optim import supports_bf16
from sbert.train.update import Update

LOSSES = {
    "info_nce": losses.info_nce,
    "cosine_mse": losses.cosine_mse,
    "triplet": losses.triplet,
    "softmax": None,
}
SEED = (42, 0, 0)


def softmax() -> losses.SoftmaxClassifier:
    torch.manual_seed(1)
    return losses.SoftmaxClassifier(32, ["contradiction", "entailment", "neutral"])


def labels_of(columns) -> Tensor | None:
    return None if columns.labels is None else torch.from_numpy(columns.labels)


def plain(model, loss, columns) -> float:
    """Every text of every column by itself, whatever stands twice, and one backward."""

    def embed(text: str) -> Tensor:
        ((_, batch),) = batches(model.tokenize([text]), 10_000)
        return model(batch)[0]

    vectors = [torch.stack([embed(text) for text in texts]) for texts in columns.texts.values()]
    value = loss(vectors, labels_of(columns))
    value.backward()
    return value.item()


@pytest.mark.parametrize("tokens", [None, 40])
@pytest.mark.parametrize("name", LOSSES)
def test_as_one_text_after_another(name, tokens, bert, rows, step, gradients, close):
    loss, ours, other, columns = LOSSES[name] or softmax(), bert().train(), bert().train(), rows(name, 10)
    expected = plain(other, loss, columns)
    if isinstance(loss, nn.Module):
        own = gradients(loss)
        loss = softmax()
    outcome = step(ours, tokens=tokens)(loss, list(columns.texts.values()), labels_of(columns), SEED, share=1.0)
    assert outcome.loss == pytest.approx(expected, abs=1e-6)
    close(gradients(ours), gradients(other))
    if isinstance(loss, nn.Module):
        close(gradients(loss), own)


@pytest.mark.parametrize(
    ("ours", "name"),
    [
        ("info_nce", "MultipleNegativesRankingLoss"),
        ("cosine_mse", "CosineSimilarityLoss"),
        ("triplet", "TripletLoss"),
    ],
)
def test_as_sentence_transformers(ours, name, bert, rows, tmp_path, step, gradients, close):
    loss, columns = getattr(losses, ours), rows(ours, 10)
    options = {"triplet_margin": loss.__kwdefaults__["margin"]} if ours == "triplet" else {}
    model = bert().train()
    model.save_pretrained(tmp_path / "m")
    reference = SentenceTransformer(str(tmp_path / "m"), device="cpu").train()
    features = [reference.preprocess(texts) for texts in columns.texts.values()]
    labels = labels_of(columns)
    value = getattr(theirs, name)(reference, **options)(features, labels)
    value.backward()
    outcome = step(model)(loss, list(columns.texts.values()), labels, SEED, share=1.0)
    assert outcome.loss == pytest.approx(value.item(), abs=1e-5)
    expected = {name: weight.grad for name, weight in reference.named_parameters() if weight.grad is not None}
    found = gradients(model)
    their_words = next(grad for name, grad in expected.items() if "word_embeddings" in name)
    assert their_words.abs().max() > 1e-3
    torch.testing.assert_close(found["transformer.words.weight"], their_words, atol=1e-6, rtol=1e-4)
    lengths = [float(torch.nn.utils.get_total_norm(every.values())) for every in (found, expected)]
    assert lengths[0] == pytest.approx(lengths[1], rel=1e-5)


class Watched(nn.Module):
    """A model that remembers how many texts went through it and what came out."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model, self.device, self.items, self.tokenize = model, model.device, model.items, model.tokenize
        self.texts: list[int] = []
        self.vectors: list[Tensor] = []

    def reader(self, column: int) -> Watched:
        return self

    def forward(self, batch) -> Tensor:
        vectors = self.model(batch)
        self.texts.append(len(batch.lengths))
        self.vectors.append(vectors.detach().clone())
        return vectors


def test_the_second_pass_draws_the_same_dropout(bert, rows, step):
    model, columns = Watched(bert(0.1).train()), rows("info_nce", 12)
    step(model, tokens=60)(losses.info_nce, list(columns.texts.values()), None, SEED, share=1.0)
    parts = len(model.vectors) // 2
    assert parts > 2
    for first, second in zip(model.vectors[:parts], model.vectors[parts:], strict=True):
        assert torch.equal(first, second)
    still = Watched(bert(0.0).train())
    step(still, tokens=60)(losses.info_nce, list(columns.texts.values()), None, SEED, share=1.0)
    assert not torch.equal(still.vectors[0], model.vectors[0])  # there was dropout to replay


def test_randomness_belongs_to_the_batch(bert, rows, step):
    columns = list(rows("info_nce", 8).texts.values())

    def loss_with(*seed: int) -> float:
        return step(bert(0.1).train())(losses.info_nce, columns, None, seed, share=1.0).loss

    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = loss_with(42, 0, 0)
    assert torch.equal(torch.get_rng_state(), before)  # and nothing outside is touched
    torch.rand(3)
    assert loss_with(42, 0, 0) == first
    assert len({first, loss_with(43, 0, 0), loss_with(42, 1, 0), loss_with(42, 0, 1)}) == 4


def test_a_text_is_embedded_once_a_column(bert, step):
    model = Watched(bert(0.1).train())
    twice = ["비가 온다.", "A cat sleeps.", "비가 온다.", "비가 온다."]
    outcome = step(model)(losses.info_nce, [twice, twice], None, SEED, share=1.0)
    assert model.texts == [4]  # two different texts, in two columns
    lengths = model.model.tokenize(["비가 온다.", "A cat sleeps."]).lengths
    assert outcome.tokens == 2 * lengths.sum()
    assert outcome.padded == 2 * 4 * lengths.max()
    different = {tuple(vector) for vector in model.vectors[0].tolist()}
    assert len(different) == 4  # dropout tells the equal texts of two columns apart


def test_bf16_multiplies_in_half_precision(bert, rows, step):
    if not supports_bf16():
        pytest.skip("this processor stops a program that multiplies in bf16")
    columns = list(rows("info_nce", 8).texts.values())
    full, half = (
        step(model, precision=precision)(losses.info_nce, columns, None, SEED, share=1.0)
        for model, precision in ((bert().train(), "float32"), (bert().train(), "bf16"))
    )
    assert half.loss != full.loss
    assert half.loss == pytest.approx(full.loss, rel=0.1)


def test_fp16_needs_an_accelerator(bert):
    config = TrainConfig(output_dir="unused", precision="fp16")
    with pytest.raises(BadInput, match=r"precision is 'fp16', but a CPU cannot train with it; choose 'bf16'"):
        Update(bert(), nn.ModuleList(), config, 1, Team())


def test_bf16_needs_a_processor_that_allows_it(bert, monkeypatch):
    monkeypatch.setattr("sbert.train.optim.supports_bf16", lambda: False)
    config = TrainConfig(output_dir="unused", precision="bf16")
    with pytest.raises(BadInput, match=r"precision is 'bf16', but this processor .*; choose 'float32'"):
        Update(bert(), nn.ModuleList(), config, 1, Team())


def update(model, **settings) -> Callable:
    config = TrainConfig(output_dir="unused", learning_rate=1e-3, warmup_ratio=0.0, **settings)
    return Update(model, nn.ModuleList(), config, 10, Team())


def test_two_batches_of_eight_are_one_of_sixteen(bert, rows, step, gradients, close):
    columns, one, two = rows("cosine_mse", 16), bert(), bert()
    halves = [columns.take(np.arange(8)), columns.take(np.arange(8, 16))]
    step(one)(losses.cosine_mse, list(columns.texts.values()), labels_of(columns), SEED, share=1.0)
    for half in halves:
        step(two)(losses.cosine_mse, list(half.texts.values()), labels_of(half), SEED, share=0.5)
    close(gradients(two), gradients(one))
    one.zero_grad()
    two.zero_grad()
    whole = update(one)(0, [(losses.cosine_mse, columns)])
    apart = update(two)(0, [(losses.cosine_mse, half) for half in halves])
    assert [apart[name] for name in ("loss", "gradient")] == pytest.approx(
        [whole[name] for name in ("loss", "gradient")], rel=1e-5
    )


def test_a_gradient_that_is_no_number_leaves_the_weights(bert):
    model = bert()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}

    def rooted(embeddings, labels):
        return (embeddings[0] - embeddings[1]).square().sum().sqrt()  # fine at 0, but for its slope

    stepper = update(model)
    figures = stepper(0, [(rooted, Columns.of({"a": ["같은 글"], "b": ["같은 글"]}))])
    assert figures["loss"] == 0
    assert stepper.not_finite(figures) == "gradient"
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
