"""The packed route equals each model's own forward, or is not taken; either way bits depend on the text alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoConfig, AutoModel, BertConfig, BertModel

from sbert.nn.foreign import Foreign
from sbert.types import Batch

PACKED = ["bert", "roberta", "xlm-roberta", "electra", "distilbert", "modernbert", "albert"]
BY_LENGTH = ["mpnet", "deberta-v2"]


def make_batch(lengths: list[int], vocabulary: int = 300, seed: int = 0) -> Batch:
    ids = np.random.default_rng(seed).integers(5, vocabulary, sum(lengths))
    return Batch(ids.astype(np.int64), tuple(lengths))


def own_forward(folder: Path, batch: Batch) -> torch.Tensor:
    """Each text alone through the model as transformers loads it."""
    model = AutoModel.from_pretrained(folder).eval()
    pieces = torch.from_numpy(batch.input_ids).split(batch.lengths)
    with torch.inference_mode():
        return torch.cat([model(input_ids=piece[None]).last_hidden_state[0] for piece in pieces])


@pytest.fixture(scope="module")
def load(tiny_folder: Callable[[str], Path]) -> Callable[[str], Foreign]:
    return cache(lambda architecture: Foreign(AutoModel.from_pretrained(tiny_folder(architecture))))


@pytest.mark.parametrize("architecture", PACKED + BY_LENGTH)
def test_equals_the_models_own_forward(
    load: Callable[[str], Foreign], tiny_folder: Callable[[str], Path], architecture: str
) -> None:
    transformer = load(architecture)
    assert transformer.packed == (architecture in PACKED)
    batch = make_batch([60, 33, 33, 20, 9, 9, 9, 3])
    with torch.inference_mode():
        got = transformer(batch)
    assert torch.allclose(got, own_forward(tiny_folder(architecture), batch), atol=2e-6)


@pytest.mark.parametrize("architecture", PACKED + BY_LENGTH)
def test_first_position_and_room(load: Callable[[str], Foreign], architecture: str) -> None:
    transformer = load(architecture)
    assert transformer.facts.max_length == 128
    assert transformer.facts.first_position == (2 if architecture in ("roberta", "xlm-roberta", "mpnet") else 0)
    with torch.inference_mode():
        assert transformer(make_batch([128])).shape == (128, 32)


@pytest.mark.parametrize("architecture", BY_LENGTH)
def test_bits_do_not_depend_on_the_place_in_memory(load: Callable[[str], Foreign], architecture: str) -> None:
    """Two heads and odd lengths: the scores of every second text begin at an odd address."""
    transformer = load(architecture)
    for length in (1, 3, 5, 7, 9, 11):
        batch = make_batch([length] * 4)
        with torch.inference_mode():
            together = transformer(batch).split(length)
            for ids, expected in zip(torch.from_numpy(batch.input_ids).split(length), together, strict=True):
                assert torch.equal(transformer(Batch(ids.numpy(), (length,))), expected)


@pytest.mark.parametrize("architecture", ["bert", "modernbert", "mpnet"])
@settings(max_examples=15)
@given(st.data())
def test_bits_depend_on_the_text_alone(load: Callable[[str], Foreign], architecture: str, data: st.DataObject) -> None:
    transformer = load(architecture)
    lengths = data.draw(st.lists(st.integers(1, 40), min_size=1, max_size=12))
    lengths.sort(reverse=True)
    batch = make_batch(lengths)
    with torch.inference_mode():
        together = transformer(batch).split(lengths)
        for ids, expected in zip(torch.from_numpy(batch.input_ids).split(lengths), together, strict=True):
            alone = transformer(Batch(ids.numpy(), (len(ids),)))
            assert torch.equal(alone, expected)


def test_a_model_that_refuses_packed_attention_falls_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: BertModel, implementation: str) -> None:
        if implementation == "sbert_packed":
            raise ValueError("this model does not support it")

    monkeypatch.setattr(BertModel, "set_attn_implementation", refuse)
    config = BertConfig(
        vocab_size=300, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    assert not Foreign(BertModel(config)).packed


def test_gradients_flow_through_the_packed_route(tiny_folder: Callable[[str], Path]) -> None:
    transformer = Foreign(AutoModel.from_pretrained(tiny_folder("bert")))
    transformer(make_batch([9, 5])).sum().backward()
    assert transformer.model.embeddings.word_embeddings.weight.grad is not None


@pytest.mark.parametrize("architecture", BY_LENGTH)
def test_widths_that_do_not_fill_vectors_add_few_texts_to_a_group(
    tiny_folder: Callable[[str], Path], architecture: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = AutoConfig.from_pretrained(tiny_folder(architecture), intermediate_size=13, hidden_act="silu")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        network = AutoModel.from_config(config)
    model = Foreign(network)
    assert not model.packed
    batch = make_batch([7] * 33 + [5] * 3)
    alone = [make_batch([length]) for length in (7, 5)]
    seen: list[int] = []
    forward = network.forward

    def counted(input_ids: torch.Tensor, **inputs: object) -> object:
        seen.append(len(input_ids))
        return forward(input_ids, **inputs)

    monkeypatch.setattr(network, "forward", counted)
    with torch.inference_mode():
        together = model(batch)
        assert sum(seen) <= 64 + 64
        for first, one in zip((0, 33 * 7), alone, strict=True):
            same = Batch(batch.input_ids[first : first + len(one.input_ids)], one.lengths)
            assert torch.equal(model(same), together[first : first + len(one.input_ids)])
