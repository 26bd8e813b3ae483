"""Which of two texts a token belongs to reaches the model where it has segments, on every route."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AutoModel

from sbert import hub
from sbert.nn.bert import Bert
from sbert.nn.foreign import Foreign
from sbert.types import Batch

LENGTHS = (33, 20, 9, 9, 3)


@pytest.fixture
def batch() -> Batch:
    random = np.random.default_rng(0)
    types = np.concatenate([np.arange(length) >= length // 2 for length in LENGTHS]).astype(np.int64)
    return Batch(random.integers(5, 300, sum(LENGTHS)), LENGTHS, token_types=types)


@torch.inference_mode()
def own_forward(folder, batch) -> torch.Tensor:
    model = AutoModel.from_pretrained(folder).eval()
    texts = [torch.from_numpy(values).split(LENGTHS) for values in (batch.input_ids, batch.token_types)]
    pieces = [
        model(input_ids=ids[None], token_type_ids=types[None]).last_hidden_state[0]
        for ids, types in zip(*texts, strict=True)
    ]
    return torch.cat(pieces)


@pytest.mark.parametrize("architecture", ["bert", "electra", "albert"])
@pytest.mark.parametrize("packed", [True, False])
def test_equals_transformers(tiny_folder, batch, architecture, packed):
    folder = tiny_folder(architecture)
    foreign = Foreign(AutoModel.from_pretrained(folder))
    if not packed:
        foreign.packed = False
        foreign.model.set_attn_implementation("sdpa")
    ours = hub.read_backbone(folder)[1]
    assert isinstance(ours, Bert)
    expected = own_forward(folder, batch)
    with torch.inference_mode():
        for model in (ours, foreign):
            assert torch.allclose(model(batch), expected, atol=2e-6)
            assert not torch.allclose(model(replace(batch, token_types=None)), expected, atol=1e-2)


@pytest.mark.parametrize("architecture", ["roberta", "distilbert", "mpnet", "modernbert"])
def test_a_model_without_segments_does_not_see_them(tiny_folder, batch, architecture):
    model = hub.read_backbone(tiny_folder(architecture))[1]
    with torch.inference_mode():
        assert torch.equal(model(batch), model(replace(batch, token_types=None)))


@pytest.mark.parametrize("architecture", ["bert", "electra"])
def test_all_of_the_first_text_is_as_if_nothing_was_said(tiny_folder, batch, architecture):
    model = hub.read_backbone(tiny_folder(architecture))[1]
    with torch.inference_mode():
        first = model(replace(batch, token_types=np.zeros_like(batch.token_types)))
        assert torch.equal(first, model(replace(batch, token_types=None)))
