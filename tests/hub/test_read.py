"""Folders made by others: what sentence-transformers saved, in today's and in yesterday's spelling."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules as models
from torch import nn
from transformers.utils import logging

from sbert import hub
from sbert.hub.transformer import lacks_pooler
from sbert.nn import heads as our_heads

ARCHITECTURES = [
    *("bert", "roberta", "xlm-roberta", "electra", "distilbert"),
    *("mpnet", "modernbert", "deberta-v2", "albert"),
]
TOLERANCE = 1e-5  # tiny models with large weights: values around one


def saved_there(source: Path, target: Path, *modules: nn.Module, **options: object) -> SentenceTransformer:
    model = SentenceTransformer(modules=[models.Transformer(str(source)), *modules], device="cpu", **options)
    model.save_pretrained(str(target))
    return model


def change_json(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}), encoding="utf-8")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_plain_encoder_is_mean_pooled_as_there(tiny_folder, sentences, encode, architecture):
    folder = tiny_folder(architecture)
    parts = hub.read(folder)
    assert (parts.pooling, parts.heads, parts.prompts, parts.similarity) == (("mean",), (), {}, "cosine")
    assert parts.tokenizer.max_length == 128
    expected = SentenceTransformer(str(folder), device="cpu").encode(sentences)
    np.testing.assert_allclose(encode(parts, sentences), expected, atol=TOLERANCE)


def test_every_module_of_a_folder_saved_there(tiny_folder, tmp_path, sentences, encode):
    torch.manual_seed(1)
    norm = models.LayerNorm(24)
    nn.init.normal_(norm.norm.weight)
    model = saved_there(
        tiny_folder("bert"),
        tmp_path / "m",
        models.Pooling(32, pooling_mode=("mean", "cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")),
        models.Dense(192, 24, activation_function=nn.GELU()),
        norm,
        models.Dropout(0.3),
        models.Dense(24, 8, bias=False, activation_function=nn.Identity()),
        models.Normalize(),
        prompts={"query": "질문: ", "document": ""},
        default_prompt_name="query",
        similarity_fn_name="dot",
    )
    parts = hub.read(tmp_path / "m")
    assert parts.pooling == ("mean", "cls", "max", "mean_sqrt_len", "weightedmean", "lasttoken")
    assert [type(head).__name__ for head in parts.heads] == ["Dense", "LayerNorm", "Dropout", "Dense", "Normalize"]
    assert isinstance(parts.heads[2], our_heads.Dropout)
    assert parts.heads[2].p == 0.3
    assert parts.prompts == {"query": "질문: ", "document": ""}
    assert (parts.default_prompt_name, parts.similarity, parts.truncate_dim) == ("query", "dot", None)
    np.testing.assert_allclose(encode(parts, sentences, "질문: "), model.encode(sentences), atol=TOLERANCE)


def test_prompt_left_out_of_pooling(tiny_folder, tmp_path, sentences, encode):
    model = saved_there(
        tiny_folder("bert"), tmp_path / "m", models.Pooling(32, "mean", include_prompt=False), prompts={"q": "질문: "}
    )
    parts = hub.read(tmp_path / "m")
    assert not parts.include_prompt
    texts = sentences[:50]  # a text that fills the whole length is cut differently
    np.testing.assert_allclose(encode(parts, texts, "질문: "), model.encode(texts, prompt_name="q"), atol=TOLERANCE)


def test_truncate_dim(tiny_folder, tmp_path):
    saved_there(tiny_folder("bert"), tmp_path / "m", models.Pooling(32), truncate_dim=16)
    assert hub.read(tmp_path / "m").truncate_dim == 16


@pytest.mark.parametrize(
    ("config", "pooling"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, ("cls",)),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}, ("cls", "mean")),
        ({"pooling_mode_lasttoken": True, "pooling_mode_max_tokens": True}, ("max", "lasttoken")),
        ({"pooling_mode_mean_sqrt_len_tokens": True}, ("mean_sqrt_len",)),
        ({"pooling_mode_weightedmean_tokens": True, "include_prompt": True}, ("weightedmean",)),
        ({"pooling_mode": "cls", "embedding_dimension": 32}, ("cls",)),
        ({"pooling_mode": ["max", "mean_sqrt_len_tokens", "cls"]}, ("max", "mean_sqrt_len", "cls")),
        ({"pooling_mode_mean_tokens": False}, ("mean",)),  # nothing asked for: mean, as there
    ],
)
def test_both_spellings_of_pooling(tiny_folder, tmp_path, sentences, encode, config, pooling):
    folder = tmp_path / "m"
    saved_there(tiny_folder("bert"), folder, models.Pooling(32))
    spelled = config if "embedding_dimension" in config else {"word_embedding_dimension": 32, **config}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(spelled))
    parts = hub.read(folder)
    assert parts.pooling == pooling
    expected = SentenceTransformer(str(folder), device="cpu").encode(sentences)
    np.testing.assert_allclose(encode(parts, sentences), expected, atol=TOLERANCE)


@pytest.mark.parametrize(
    "family",
    ["sentence_transformers.models", "sentence_transformers.base.modules.x", "sentence_transformers.new.place"],
)
def test_type_paths_of_any_release(tiny_folder, tmp_path, family):
    saved_there(tiny_folder("bert"), tmp_path / "m", models.Pooling(32, "cls"), models.Normalize())
    path = tmp_path / "m" / "modules.json"
    modules = json.loads(path.read_text())
    path.write_text(json.dumps([{**m, "type": f"{family}.{m['type'].rpartition('.')[2]}"} for m in modules]))
    parts = hub.read(tmp_path / "m")
    assert parts.pooling == ("cls",)
    assert isinstance(parts.heads[0], our_heads.Normalize)


def old_model(source: Path, target: Path, config_name: str, **config: object) -> Path:
    """As sentence-transformers 0.3 left them: the transformer in a folder of its own."""
    shutil.copytree(source, target / "0_Transformer")
    (target / "0_Transformer" / config_name).write_text(json.dumps(config))
    (target / "1_Pooling").mkdir()
    (target / "1_Pooling" / "config.json").write_text(
        '{"word_embedding_dimension": 32, "pooling_mode_cls_token": true}'
    )
    kinds = ["Transformer", "Pooling"]
    modules = [
        {"idx": i, "name": str(i), "path": f"{i}_{kind}", "type": f"sentence_transformers.models.{kind}"}
        for i, kind in enumerate(kinds)
    ]
    (target / "modules.json").write_text(json.dumps(modules))
    return target


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"])
def test_old_layout(tiny_folder, tmp_path, sentences, encode, kind):
    name = f"sentence_{kind}_config.json"
    folder = old_model(tiny_folder("roberta"), tmp_path / "m", name, max_seq_length=20, do_lower_case=True)
    parts = hub.read(folder)
    assert (parts.tokenizer.max_length, parts.tokenizer.lower_case, parts.pooling) == (20, True, ("cls",))
    vectors = encode(parts, sentences)
    np.testing.assert_array_equal(*encode(parts, ["HELLO WORLD", "hello world"]))
    if kind == "bert":
        expected = SentenceTransformer(str(folder), device="cpu").encode(sentences)
        np.testing.assert_allclose(vectors, expected, atol=TOLERANCE)


def test_length_never_passes_the_positions(tiny_folder, tmp_path):
    folder = old_model(tiny_folder("roberta"), tmp_path / "m", "sentence_bert_config.json", max_seq_length=514)
    assert hub.read(folder).tokenizer.max_length == 128
    change_json(folder / "0_Transformer" / "tokenizer_config.json", model_max_length=int(1e30))
    (folder / "0_Transformer" / "sentence_bert_config.json").unlink()
    assert hub.read(folder).tokenizer.max_length == 128
    change_json(folder / "0_Transformer" / "tokenizer_config.json", model_max_length=50)
    assert hub.read(folder).tokenizer.max_length == 50


def test_backbone_alone(tiny_folder, tmp_path):
    folder = old_model(tiny_folder("bert"), tmp_path / "m", "sentence_bert_config.json", max_seq_length=20)
    tokenizer, transformer = hub.read_backbone(folder)
    assert (tokenizer.max_length, transformer.facts.hidden_size) == (20, 32)


@pytest.mark.parametrize("architecture", ["bert", "albert"])
def test_checkpoint_without_pooler(architecture, tiny_folder, tmp_path, sentences, encode, capfd, caplog):
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(tiny_folder(architecture), tmp_path / "m")
    weights = load_file(folder / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if not name.startswith("pooler.")}
    assert len(kept) == len(weights) - 2
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    parts = hub.read(folder)
    assert lacks_pooler(parts.transformer)
    np.testing.assert_array_equal(encode(parts, sentences), encode(hub.read(tiny_folder(architecture)), sentences))
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


def test_settings_of_transformers_are_put_back(tiny_folder):
    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    assert before[1]
    logging.set_verbosity_info()
    hub.read(tiny_folder("distilbert"))
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == (logging.INFO, True)
    logging.set_verbosity(before[0])


@pytest.mark.parametrize("architecture", ["bert", "distilbert"])
def test_weights_in_half_precision_are_read_as_float32(architecture, tiny_folder, tmp_path):
    from transformers import AutoModel

    folder = shutil.copytree(tiny_folder(architecture), tmp_path / "m")
    AutoModel.from_pretrained(folder).half().save_pretrained(folder)
    assert {weights.dtype for weights in hub.read(folder).transformer.parameters()} == {torch.float32}


def test_no_socket_is_opened(tiny_folder, monkeypatch):
    def refuse(*_: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for name in (None, "all-MiniLM-L6-v2", str(tiny_folder("bert"))):
        hub.read(hub.resolve(name))
    with pytest.raises(AssertionError):
        socket.create_connection(("127.0.0.1", 9))


@pytest.mark.parametrize("architecture", ["bert", "distilbert"])
def test_no_code_from_the_folder_is_run(architecture, tiny_folder, tmp_path):
    folder = shutil.copytree(tiny_folder(architecture), tmp_path / "m")
    trap = tmp_path / "trap"
    (folder / "evil.py").write_text(f"open({str(trap)!r}, 'w')\nfrom transformers import BertModel as Evil\n")
    change_json(folder / "config.json", auto_map={"AutoModel": "evil.Evil", "AutoConfig": "evil.Evil"})
    change_json(folder / "tokenizer_config.json", auto_map={"AutoTokenizer": ["evil.Evil", "evil.Evil"]})
    parts = hub.read(folder)
    assert not trap.exists()
    hub.write(parts, tmp_path / "out")
    assert "auto_map" not in (tmp_path / "out" / "config.json").read_text()
