"""Our BERT equals transformers' models of the same checkpoint, in numbers, in gradients and in facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from transformers import AutoModel

from sbert import Backbone, hub
from sbert.hub.transformer import _KINDS, _their_names
from sbert.nn.bert import Bert
from sbert.nn.foreign import Foreign
from sbert.nn.pooling import pool
from sbert.types import Batch

KIN = ["bert", "roberta", "xlm-roberta", "electra", "albert"]


@pytest.fixture
def threads_as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def batch() -> Batch:
    lengths = (60, 33, 33, 20, 9, 9, 9, 3)
    return Batch(np.random.default_rng(0).integers(5, 300, sum(lengths)), lengths)


@pytest.fixture(params=KIN)
def pair(request: pytest.FixtureRequest, tiny_folder: Callable[[str], Path]) -> tuple[Bert, Foreign]:
    """The same checkpoint read both ways."""
    folder = tiny_folder(request.param)
    ours = hub.read_backbone(folder)[1]
    assert isinstance(ours, Bert)
    return ours, Foreign(AutoModel.from_pretrained(folder))


def test_equals_transformers(pair: tuple[Bert, Foreign], batch: Batch) -> None:
    ours, theirs = pair
    with torch.inference_mode():
        assert torch.allclose(ours(batch), theirs(batch), atol=2e-6)


def test_knows_the_same_facts(pair: tuple[Bert, Foreign]) -> None:
    assert pair[0].facts == pair[1].facts


def test_gradients_equal_transformers(pair: tuple[Bert, Foreign], batch: Batch) -> None:
    ours, theirs = pair
    weights = torch.linspace(-1, 1, 32)
    for model in pair:
        (model(batch) * weights).sum().backward()
    expected = {name: values.grad for name, values in theirs.model.named_parameters()}
    for name, values in ours.named_parameters():
        if not name.startswith("pooler"):
            names = _their_names(_KINDS[ours.settings["model_type"]], name)
            whole = torch.cat([expected[theirs] for theirs in names])
            assert torch.allclose(values.grad, whole, atol=1e-4 * float(whole.abs().max()) + 1e-6), name


def test_working_in_place_changes_nothing_but_rounding(pair: tuple[Bert, Foreign], batch: Batch) -> None:
    ours, _ = pair
    weights = {name: values.clone() for name, values in ours.state_dict().items()}
    with torch.inference_mode():
        in_place, again, firsts = ours(batch), ours(batch), ours.first(batch)
    assert torch.equal(in_place, again)
    with torch.no_grad():
        without = ours(batch)
    assert torch.equal(without, ours(batch))
    assert torch.allclose(in_place, ours(batch), atol=2e-6)
    assert torch.allclose(firsts, ours.first(batch), atol=2e-6)
    assert all(torch.equal(values, weights[name]) for name, values in ours.state_dict().items())


def test_what_is_not_a_number_stays_in_its_text(pair: tuple[Bert, Foreign], batch: Batch) -> None:
    ours, _ = pair
    texts = np.split(batch.input_ids, np.cumsum(batch.lengths)[:-1])
    hurt = [int(texts[4][2]) in ids for ids in texts]
    with torch.no_grad():
        ours.words.weight[int(texts[4][2])] = torch.nan
    with torch.inference_mode():
        states, firsts = ours(batch).split(batch.lengths), ours.first(batch)
    assert any(hurt)
    assert not all(hurt)
    assert [bool(text.isnan().any()) for text in states] == hurt
    assert firsts.isnan().any(dim=1).tolist() == hurt


def test_what_is_not_a_number_changes_no_bit_of_other_texts(pair: tuple[Bert, Foreign], batch: Batch) -> None:
    ours, _ = pair
    texts = np.split(batch.input_ids, np.cumsum(batch.lengths)[:-1])
    with torch.inference_mode():
        states, firsts = ours(batch).split(batch.lengths), ours.first(batch)
    with torch.no_grad():
        ours.words.weight[int(texts[4][2])] = torch.nan
    with torch.inference_mode():
        after, firsts_after = ours(batch).split(batch.lengths), ours.first(batch)
    healthy = [place for place, ids in enumerate(texts) if int(texts[4][2]) not in ids]
    assert healthy
    for place in healthy:
        assert torch.equal(states[place], after[place])
        assert torch.equal(firsts[place], firsts_after[place])


def test_who_listens_to_the_layers_hears_what_they_computed(pair: tuple[Bert, Foreign], batch: Batch) -> None:
    ours, _ = pair
    heard: list[Tensor] = []
    copies: list[Tensor] = []
    for layer in ours.layers:
        layer.output_norm.register_forward_hook(lambda _, __, output: heard.append(output))
        layer.register_forward_hook(lambda _, __, output: copies.append(output.clone()))
    with torch.inference_mode():
        ours(batch)
        ours.first(batch)
    assert len(heard) == 2 * ours.facts.depth
    assert all(map(torch.equal, heard, copies))


class Adapted(nn.Linear):
    """As low-rank adapters do: more than its weights."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + 1


@pytest.mark.parametrize("name", ["qkv", "attention_out", "widen", "narrow"])
def test_a_layer_that_was_replaced_is_called(pair: tuple[Bert, Foreign], batch: Batch, name: str) -> None:
    ours, _ = pair
    plain = getattr(ours.layers[-1], name)
    adapted = Adapted(plain.in_features, plain.out_features)
    adapted.load_state_dict(plain.state_dict())
    setattr(ours.layers[-1], name, adapted)
    expected = ours(batch)
    with torch.inference_mode():
        assert torch.allclose(ours(batch), expected, atol=2e-6)
        assert torch.allclose(ours.first(batch), pool(expected, batch.groups, ["cls"]), atol=2e-6)


def test_first_tokens_alone_equal_those_of_all(pair: tuple[Bert, Foreign], batch: Batch) -> None:
    weights = torch.linspace(-1, 1, 32)
    for model in pair:
        expected = pool(model(batch), batch.groups, ["cls"])
        (expected * weights).sum().backward()
        gradients = {name: values.grad for name, values in model.named_parameters()}
        model.zero_grad()
        got = model.first(batch)
        (got * weights).sum().backward()
        assert got.shape == (len(batch.lengths), 32)
        assert torch.allclose(got, expected, atol=2e-6)
        for name, values in model.named_parameters():
            if gradients[name] is not None:
                assert torch.allclose(values.grad, gradients[name], atol=1e-5 * float(gradients[name].abs().max())), (
                    name
                )


def test_dropout_works_in_training_only(pair: tuple[Bert, Foreign], batch: Batch) -> None:
    ours = pair[0]
    with torch.no_grad():
        assert torch.equal(ours(batch), ours(batch))
        ours.train()
        assert not torch.equal(ours(batch), ours(batch))


def test_bits_depend_on_the_text_alone(pair: tuple[Bert, Foreign], batch: Batch) -> None:
    ours = pair[0]
    with torch.inference_mode():
        together = ours(batch).split(batch.lengths)
        for ids, expected in zip(np.split(batch.input_ids, np.cumsum(batch.lengths)[:-1]), together, strict=True):
            assert torch.equal(ours(Batch(ids, (len(ids),))), expected)


@pytest.mark.parametrize("threads", [1, 2])
def test_bits_of_a_first_token_depend_on_its_text_alone(threads: int, threads_as_before: None) -> None:
    torch.set_num_threads(threads)
    ours = Backbone.from_pretrained("all-MiniLM-L6-v2").transformer.eval()  # wide enough for products to be divided
    random = np.random.default_rng(1)
    lengths = tuple(sorted(random.integers(3, 60, 40).tolist()))
    texts = [random.integers(1000, 30000, length) for length in lengths]
    with torch.inference_mode():
        together = ours.first(Batch(np.concatenate(texts), lengths))
        for ids, expected in zip(texts, together, strict=True):
            assert torch.equal(ours.first(Batch(ids, (len(ids),)))[0], expected)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
def test_a_model_of_another_precision_computes_the_same(
    pair: tuple[Bert, Foreign], batch: Batch, dtype: torch.dtype
) -> None:
    ours = pair[0]
    with torch.inference_mode():
        expected = ours(batch)
        assert torch.allclose(ours.to(dtype)(batch).float(), expected, atol=0.05 if dtype == torch.float16 else 1e-5)


def test_huge_states_depend_on_the_text_alone(tiny_folder: Callable[[str], Path], batch: Batch) -> None:
    ours, rows = hub.read_backbone(tiny_folder("bert"))[1], np.split(batch.input_ids, np.cumsum(batch.lengths)[:-1])
    with torch.inference_mode():
        ours.layers[-1].output_norm.weight.mul_(1e36)  # every state is finite, but their sum is not
        assert torch.equal(ours(batch), torch.cat([ours(Batch(ids, (len(ids),))) for ids in rows]))
