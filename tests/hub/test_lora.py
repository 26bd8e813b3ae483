"""LoRA adapters are merged when they are loaded: the vectors are those of the merged weights."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from sbert import BiEncoder
from sbert.errors import BadModel

LAYERS = {
    "bert": [
        "encoder.layer.0.attention.self.query",
        "encoder.layer.1.attention.self.value",
        "encoder.layer.1.output.dense",
    ],
    "distilbert": ["transformer.layer.0.attention.q_lin", "transformer.layer.1.ffn.lin1"],
}


@pytest.fixture(params=LAYERS)
def adapter(request, tiny_folder, tmp_path) -> tuple[Path, Path]:
    """The folders of an adapter as PEFT saves it, and of the model that it makes, merged by hand."""
    base, folder, merged = tiny_folder(request.param), tmp_path / "어댑터", tmp_path / "merged"
    shutil.copytree(base, merged)
    weights = load_file(base / "model.safetensors")
    generator, stored = torch.Generator().manual_seed(1), {}
    for layer in LAYERS[request.param]:
        out, into = weights[f"{layer}.weight"].shape
        down, up = torch.randn(4, into, generator=generator), torch.randn(out, 4, generator=generator)
        stored |= {f"base_model.model.{layer}.lora_A.weight": down, f"base_model.model.{layer}.lora_B.weight": up}
        weights[f"{layer}.weight"] = weights[f"{layer}.weight"] + 16 / 4 * up @ down
    save_file(weights, merged / "model.safetensors", metadata={"format": "pt"})
    folder.mkdir()
    save_file(stored, folder / "adapter_model.safetensors")
    configure(folder, peft_type="LORA", base_model_name_or_path=str(base), r=4, lora_alpha=16, task_type=None)
    return folder, merged


def configure(folder: Path, **settings: Any) -> None:
    path = folder / "adapter_config.json"
    stored = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    path.write_text(json.dumps(stored | settings), encoding="utf-8")


def test_the_vectors_are_those_of_the_merged_weights(adapter, sentences, tmp_path):
    folder, merged = adapter
    model, expected = BiEncoder.from_pretrained(folder), BiEncoder.from_pretrained(merged)
    got = model.encode(sentences, on_truncate="ignore")
    np.testing.assert_allclose(got, expected.encode(sentences, on_truncate="ignore"), atol=1e-5)
    base = json.loads((folder / "adapter_config.json").read_text())["base_model_name_or_path"]
    assert np.abs(got - BiEncoder.from_pretrained(base).encode(sentences, on_truncate="ignore")).max() > 0.01
    model.save_pretrained(tmp_path / "whole")
    again = BiEncoder.from_pretrained(tmp_path / "whole").encode(sentences, on_truncate="ignore")
    assert again.tolist() == got.tolist()


def test_a_scale_of_the_root_of_the_rank(adapter):
    folder, _ = adapter
    usual = BiEncoder.from_pretrained(folder).encode("고양이")
    configure(folder, use_rslora=True, lora_alpha=8)  # 8 / sqrt(4) is 16 / 4
    np.testing.assert_allclose(BiEncoder.from_pretrained(folder).encode("고양이"), usual, atol=1e-5)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"use_dora": True}, "has use_dora, but only plain LoRA is merged"),
        ({"peft_type": "IA3"}, "has peft_type IA3"),
        ({"bias": "all"}, "bias all"),
        ({"r": 2}, "has another rank than 2"),
        ({"base_model_name_or_path": "no-such/model-1"}, "is not on this machine"),
        ({"task_type": "SEQ_CLS"}, "an adapter for 'SEQ_CLS'"),
        ({"modules_to_save": ["pooler"]}, "has modules_to_save"),
    ],
)
def test_what_cannot_be_merged(adapter, settings, words):
    folder, _ = adapter
    configure(folder, **settings)
    with pytest.raises(BadModel) as caught:
        BiEncoder.from_pretrained(folder)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_adapter_of_another_model(adapter, tiny_folder):
    folder, _ = adapter
    configure(folder, base_model_name_or_path=str(tiny_folder("albert")))
    with pytest.raises(BadModel, match="does not fit its base model"):
        BiEncoder.from_pretrained(folder)


def test_an_adapter_of_an_adapter(adapter):
    folder, _ = adapter
    configure(folder, base_model_name_or_path=str(folder))
    with pytest.raises(BadModel, match="adapter of an adapter"):
        BiEncoder.from_pretrained(folder)


def test_the_pooling_of_the_base_is_kept(adapter, bundled, tmp_path):
    folder, _ = adapter
    base = json.loads((folder / "adapter_config.json").read_text())["base_model_name_or_path"]
    model = BiEncoder.from_pretrained(base)
    model.pooling = ("cls",)
    model.save_pretrained(tmp_path / "cls")
    configure(folder, base_model_name_or_path=str(tmp_path / "cls"))
    assert BiEncoder.from_pretrained(folder).pooling == ("cls",)


def test_the_classifier_of_setfit_is_named_as_left_out(tiny_folder, tmp_path, caplog):
    BiEncoder.from_pretrained(tiny_folder("bert")).save_pretrained(tmp_path / "m")
    (tmp_path / "m" / "model_head.pkl").write_bytes(b"not read")
    with caplog.at_level(logging.WARNING):
        BiEncoder.from_pretrained(tmp_path / "m")
    assert "model_head.pkl, a pickle that is left out" in caplog.text
