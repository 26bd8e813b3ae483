"""ALBERT is our BERT with one layer that is applied several times, and equals the model of transformers."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModel

from sbert import Backbone, BiEncoder, hub
from sbert.nn.bert import Bert
from sbert.nn.foreign import Foreign
from sbert.nn.transformer import Transformer
from sbert.types import Batch

LENGTHS = (60, 33, 33, 20, 9, 9, 9, 3)


@pytest.fixture
def batch() -> Batch:
    return Batch(np.random.default_rng(0).integers(5, 300, sum(LENGTHS)), LENGTHS)


@pytest.fixture
def albert(tiny_folder: Callable[[str], Path], tmp_path: Path) -> Callable[..., tuple[Transformer, Foreign]]:
    """``albert(num_hidden_layers=3)``: ALBERT with random weights and these settings, read both ways."""

    def read(**settings: Any) -> tuple[Transformer, Foreign]:
        folder = shutil.copytree(tiny_folder("albert"), tmp_path / "m")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            AutoModel.from_config(AutoConfig.from_pretrained(folder, **settings)).save_pretrained(folder)
        return hub.read_backbone(folder)[1], Foreign(AutoModel.from_pretrained(folder))

    return read


@pytest.mark.parametrize("activation", ["gelu_new", "gelu", "relu"])
@pytest.mark.parametrize("passes", [1, 5])
def test_any_number_of_passes_shares_one_layer(albert, batch, passes, activation):
    ours, theirs = albert(num_hidden_layers=passes, hidden_act=activation)
    assert isinstance(ours, Bert)
    assert len(ours.layers) == 1
    assert ours.facts == theirs.facts
    assert ours.facts.depth == passes
    with torch.inference_mode():
        expected = theirs(batch)
        assert float((ours(batch) - expected).abs().max()) <= 1e-6 * float(expected.abs().max())


def test_fewer_passes_of_the_same_weights(tiny_folder, tmp_path, batch):
    folder = shutil.copytree(tiny_folder("albert"), tmp_path / "m")
    config = (folder / "config.json").read_text(encoding="utf-8")
    (folder / "config.json").write_text(config.replace('"num_hidden_layers": 2', '"num_hidden_layers": 1'))
    fewer = hub.read_backbone(folder)[1]
    assert fewer.facts.depth == 1
    with torch.inference_mode():
        expected = Foreign(AutoModel.from_pretrained(folder))(batch)
        assert torch.allclose(fewer(batch), expected, atol=1e-6)
        assert not torch.allclose(hub.read_backbone(tiny_folder("albert"))[1](batch), expected, atol=1e-2)


def test_embeddings_as_wide_as_the_hidden_states_are_projected_too(albert, batch):
    ours, theirs = albert(embedding_size=32)
    assert isinstance(ours, Bert)
    with torch.inference_mode():
        assert torch.allclose(ours(batch), theirs(batch), atol=2e-6)


@pytest.mark.parametrize("setting", ["num_hidden_groups", "inner_group_num"])
def test_several_different_layers_run_through_transformers(albert, batch, setting):
    ours, theirs = albert(**{setting: 2})
    assert isinstance(ours, Foreign)
    with torch.inference_mode():
        assert torch.equal(ours(batch), theirs(batch))


def test_what_a_configuration_leaves_out_is_what_transformers_assumes(tiny_folder, tmp_path, batch):
    folder = shutil.copytree(tiny_folder("albert"), tmp_path / "m")
    lines = (folder / "config.json").read_text(encoding="utf-8").splitlines()
    (folder / "config.json").write_text("\n".join(line for line in lines if "hidden_act" not in line))
    with torch.inference_mode():
        expected = Foreign(AutoModel.from_pretrained(folder))(batch)
        assert torch.allclose(hub.read_backbone(folder)[1](batch), expected, atol=1e-6)


def test_dropout_is_where_transformers_has_it(albert, batch):
    """Both draw the same random numbers only if they drop the same values in the same order."""
    ours, theirs = albert(hidden_dropout_prob=0.3, attention_probs_dropout_prob=0.0)
    results = []
    for model in (ours.train(), theirs.train()):
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(2)
            results.append(model(batch))
    assert torch.allclose(*results, atol=2e-6)


def test_one_batch_gives_the_same_bits_on_any_number_of_threads(albert, tiny_folder):
    """Wide enough for threads to share a product, but not for each of them to get whole vectors of an activation."""
    wide = {"hidden_size": 384, "embedding_size": 128, "intermediate_size": 1600, "num_attention_heads": 6}
    ours, _ = albert(**wide)
    model = BiEncoder(Backbone(hub.read_backbone(tiny_folder("albert"))[0], ours))
    texts = ["고양이가 잔다. " * 20, "A man is playing a guitar.", "비가 온다."]
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        expected = [model.encode(texts[:count]) for count in (1, 2, 3)]
        for threads in (2, 3, 4, 7):
            torch.set_num_threads(threads)
            for wanted in expected:
                assert np.array_equal(model.encode(texts[: len(wanted)]), wanted), threads
    finally:
        torch.set_num_threads(before)
