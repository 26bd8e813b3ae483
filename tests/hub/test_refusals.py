"""What is not read, and the sentence that says so."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification

from sbert import hub
from sbert.errors import BadModel
from sbert.nn.heads import Dense, LayerNorm, Normalize

Change = Callable[[Path], object]


@pytest.fixture(scope="session")
def sound(tiny_folder, tmp_path_factory) -> Path:
    """A saved model with a Dense (2), a LayerNorm (3) and a Normalize (4) head."""
    parts = replace(
        hub.read(tiny_folder("bert")),
        heads=(Dense(32, 8), LayerNorm(8), Normalize()),
        prompts={"query": "질문: "},
        ranges=np.zeros((2, 8), np.float32),
        reference=hub.Reference(("하나",), np.ones((1, 8), np.float32)),
    )
    folder = tmp_path_factory.mktemp("sound") / "m"
    hub.write(parts, folder)
    hub.read(folder)
    return folder


@pytest.fixture
def folder(sound, tmp_path) -> Path:
    """A copy of it, to be damaged."""
    return shutil.copytree(sound, tmp_path / "모델")


def merged(file: str, **changes: object) -> Change:
    def change(folder: Path) -> None:
        path = folder / file
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}), encoding="utf-8")

    return change


def text(file: str, content: str) -> Change:
    return lambda folder: (folder / file).write_text(content, encoding="utf-8")


def without(file: str) -> Change:
    return lambda folder: (folder / file).unlink()


def module(index: int, **changes: object) -> Change:
    def change(folder: Path) -> None:
        path = folder / "modules.json"
        modules = json.loads(path.read_text())
        modules[index] |= changes
        path.write_text(json.dumps(modules))

    return change


def cut(file: str) -> Change:
    return lambda folder: (folder / file).write_bytes((folder / file).read_bytes()[:-40])


def only_tensors(keep: Callable[[str], bool]) -> Change:
    def change(folder: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        kept = {name: tensor for name, tensor in weights.items() if keep(name)}
        save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})

    return change


REFUSALS: dict[str, tuple[Change, str]] = {
    "cross-encoder": (
        merged("config_sentence_transformers.json", model_type="CrossEncoder"),
        r"holds a CrossEncoder, but a bi-encoder \(SentenceTransformer\) is expected",
    ),
    "sparse": (merged("config_sentence_transformers.json", model_type="SparseEncoder"), "holds a SparseEncoder"),
    "unknown module": (
        module(4, type="sentence_transformers.models.CNN"),
        "lists 'Transformer', 'Pooling', 'Dense', 'LayerNorm', 'CNN', but Transformer, Pooling, and then any of ",
    ),
    "words first": (
        module(0, type="sentence_transformers.models.WordEmbeddings"),
        "lists 'WordEmbeddings', 'Pooling'",
    ),
    "no pooling": (module(1, type="sentence_transformers.models.Normalize"), "lists 'Transformer', 'Normalize'"),
    "nothing": (text("modules.json", "[]"), "lists nothing"),
    "foreign code": (
        module(2, type="custom_st.Dense"),
        "asks for the module 'custom_st.Dense', whose code is not known",
    ),
    "outside": (module(2, path="../other"), r"points to '\.\./other', outside"),
    "absolute": (module(2, path="/etc"), "points to '/etc', outside"),
    "no module list": (text("modules.json", '[{"idx": 0}]'), "modules.json lacks 'type'"),
    "broken modules": (text("modules.json", "{nope"), r"modules\.json cannot be read as JSON"),
    "settings a list": (text("config_sentence_transformers.json", "[]"), "holds a list, but a JSON object"),
    "default prompt": (
        merged("config_sentence_transformers.json", default_prompt_name="qurey"),
        "default_prompt_name 'qurey', but its prompts are 'query'",
    ),
    "similarity": (
        merged("config_sentence_transformers.json", similarity_fn_name="maxsim"),
        "similarity_fn_name 'maxsim', but one of cosine, dot, euclidean, manhattan is expected",
    ),
    "prompts a list": (
        merged("config_sentence_transformers.json", prompts=["질문: "]),
        r"config_sentence_transformers\.json has prompts \['질문: '\], but a JSON object of texts is expected",
    ),
    "prompt a number": (
        merged("config_sentence_transformers.json", prompts={"질문": 1}),
        r"config_sentence_transformers\.json has prompts \{'질문': 1\}, but a JSON object of texts is expected",
    ),
    "default prompt a list": (
        merged("config_sentence_transformers.json", default_prompt_name=["query"]),
        r"has default_prompt_name \['query'\], but a text is expected",
    ),
    "short vectors a text": (
        merged("config_sentence_transformers.json", truncate_dim="8"),
        r"config_sentence_transformers\.json has truncate_dim '8', but a whole number from 1 to 8 is expected",
    ),
    "longer vectors": (
        merged("config_sentence_transformers.json", truncate_dim=9),
        "has truncate_dim 9, but a whole number from 1 to 8 is expected",
    ),
    "length a text": (
        merged("sentence_bert_config.json", max_seq_length="256"),
        r"sentence_bert_config\.json has max_seq_length '256', but a whole number from 1 on is expected",
    ),
    "no length": (
        merged("sentence_bert_config.json", max_seq_length=2),
        r"say to truncate texts at 2 tokens \(.* adds 2 special tokens; .*\); repair their max_seq_length",
    ),
    "tokenizer length": (
        lambda folder: [
            merged("sentence_bert_config.json", max_seq_length=None)(folder),
            merged("tokenizer_config.json", model_max_length="긴")(folder),
        ],
        r"tokenizer_config\.json has model_max_length '긴', but a number is expected",
    ),
    "tokenizer inputs": (
        merged("tokenizer_config.json", model_input_names="input_ids"),
        r"tokenizer_config\.json has model_input_names 'input_ids', but a list of texts is expected",
    ),
    "pooling a number": (
        text("1_Pooling/config.json", '{"pooling_mode": 3}'),
        r"1_Pooling.config\.json has pooling_mode 3, but a text or a list of texts is expected",
    ),
    "pooling lists": (
        text("1_Pooling/config.json", '{"pooling_mode": [["mean"]]}'),
        "but a text or a list of texts is expected",
    ),
    "pooling flag": (
        merged("1_Pooling/config.json", pooling_mode_attention=True),
        "asks for 'pooling_mode_attention', but only pooling_mode_cls_token",
    ),
    "pooling name": (
        text("1_Pooling/config.json", '{"pooling_mode": ["mean", "median"]}'),
        r"asks for pooling \['mean', 'median'\], but only cls, max, mean, mean_sqrt_len_tokens",
    ),
    "pooling nothing": (text("1_Pooling/config.json", '{"pooling_mode": []}'), r"asks for pooling \[\]"),
    "pooling size": (
        merged("1_Pooling/config.json", word_embedding_dimension=768),
        "pools vectors of 768 dimensions, but the transformer gives 32",
    ),
    "pooling missing": (without("1_Pooling/config.json"), r"1_Pooling.config\.json is missing"),
    "activation": (
        merged("2_Dense/config.json", activation_function="torch.nn.modules.activation.Softplus"),
        "activation_function 'torch.nn.modules.activation.Softplus', but only torch.nn's Identity, Tanh",
    ),
    "activation elsewhere": (merged("2_Dense/config.json", activation_function="evil.Tanh"), "'evil.Tanh', but only"),
    "residual": (merged("2_Dense/config.json", use_residual=True), "has use_residual, which is not supported"),
    "dense input": (
        merged("2_Dense/config.json", module_input_name="token_embeddings"),
        "module_input_name 'token_embeddings', but only 'sentence_embedding'",
    ),
    "normalize input": (
        merged("4_Normalize/config.json", module_output_name="other"),
        "module_output_name 'other', but only",
    ),
    "dense size": (
        merged("2_Dense/config.json", in_features=64),
        "takes vectors of 64 dimensions, but the modules before it give 32",
    ),
    "norm size": (merged("3_LayerNorm/config.json", dimension=9), "takes vectors of 9 .* before it give 8"),
    "dense incomplete": (
        text("2_Dense/config.json", '{"in_features": 32}'),
        "2_Dense.config.json lacks 'out_features'",
    ),
    "dense weights": (cut("2_Dense/model.safetensors"), r"2_Dense.model\.safetensors is damaged"),
    "dense shape": (merged("2_Dense/config.json", out_features=8, bias=False), "damaged or does not fit"),
    "dense no weights": (without("2_Dense/model.safetensors"), r"2_Dense.model\.safetensors is missing"),
    "no config": (without("config.json"), r"config\.json is missing; the folder is no complete model"),
    "model type": (merged("config.json", model_type="bret"), "model_type 'bret', which is no known text encoder"),
    "own code": (
        merged("config.json", model_type="bret", auto_map={"AutoModel": "evil.Evil"}),
        "model_type 'bret', which needs code from its folder, which is never run",
    ),
    "adapter": (text("adapter_config.json", "{}"), "lacks 'base_model_name_or_path'"),
    "no weights": (without("model.safetensors"), r"model\.safetensors is missing; download or save"),
    "cut weights": (cut("model.safetensors"), r"model\.safetensors is damaged"),
    "empty weights": (text("model.safetensors", ""), r"model\.safetensors is damaged"),
    "other shape": (merged("config.json", hidden_size=64), r"model\.safetensors is damaged or does not fit"),
    "missing tensors": (
        only_tensors(lambda name: "layer.1" not in name),
        r"lacks 16 tensors \('encoder\.layer\.1\.attention\.self\.query\.weight', .*, \.\.\. \(16 in all\)\)",
    ),
    "one missing tensor": (
        only_tensors(lambda name: name != "embeddings.word_embeddings.weight"),
        r"lacks 1 tensors \('embeddings\.word_embeddings\.weight'\)",
    ),
    "broken tokenizer": (text("tokenizer.json", "{}"), "gives no tokenizer"),
    "no tokenizer": (without("tokenizer.json"), "gives no tokenizer"),
    "task": (
        merged("sentence_bert_config.json", transformer_task="fill-mask"),
        "transformer_task 'fill-mask', but only 'feature-extraction'",
    ),
    "ranges": (cut("calibration.safetensors"), r"calibration\.safetensors is damaged"),
    "reference": (text("reference.json", '{"texts": ["a"]}'), r"reference\.json is damaged"),
    "reference shape": (
        text("reference.json", '{"texts": ["a", "b"], "vectors": [[1.0]]}'),
        r"holds 2 texts and vectors of shape \(1, 1\), but needs one vector per text",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refused(folder, name):
    change, complaint = REFUSALS[name]
    change(folder)
    with pytest.raises(BadModel, match=complaint) as caught:
        hub.read(folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_vocabulary_larger_than_the_embeddings(folder, tiny_folder):
    wide = json.loads((folder / "tokenizer.json").read_text())
    wide["model"]["vocab"]["안드로메다"] = 100_000
    (folder / "tokenizer.json").write_text(json.dumps(wide), encoding="utf-8")
    with pytest.raises(BadModel, match=r"gives ids up to 100000, but the transformer knows \d+"):
        hub.read(folder)


def test_sequence_classifier_is_a_cross_encoder(tiny_folder, tmp_path):
    shutil.copytree(tiny_folder("bert"), tmp_path / "m")
    config = AutoConfig.from_pretrained(tmp_path / "m", num_labels=1)
    AutoModelForSequenceClassification.from_config(config).save_pretrained(tmp_path / "m")
    with pytest.raises(BadModel, match="holds a CrossEncoder"):
        hub.read(tmp_path / "m")


def test_not_an_encoder(tiny_folder, tmp_path):
    shutil.copytree(tiny_folder("bert"), tmp_path / "m")
    config = AutoConfig.for_model("t5", d_model=16, d_ff=16, num_layers=1, num_heads=1, vocab_size=400)
    AutoModel.from_config(config).save_pretrained(tmp_path / "m")
    with pytest.raises(BadModel, match="model_type 't5', which is no known text encoder"):
        hub.read(tmp_path / "m")


def as_pickle(folder: Path) -> None:
    """The same weights as older releases wrote them."""
    for path in [folder / "model.safetensors", folder / "2_Dense" / "model.safetensors"]:
        torch.save(load_file(path), path.with_name("pytorch_model.bin"))
        path.unlink()


def test_pickle_only_when_asked_for(folder, encode, sentences):
    expected = encode(hub.read(folder), sentences)
    as_pickle(folder)
    with pytest.raises(BadModel, match=r"only as pytorch_model\.bin, a pickle.*pass legacy_weights=True"):
        hub.read(folder)
    np.testing.assert_array_equal(encode(hub.read(folder, legacy_weights=True), sentences), expected)


@pytest.mark.parametrize("place", [".", "2_Dense"])
def test_pickle_is_never_run(folder, tmp_path, place):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "trap"),)

    as_pickle(folder)
    (folder / place / "pytorch_model.bin").write_bytes(pickle.dumps({"linear.weight": Trap()}, protocol=2))
    with pytest.raises(BadModel, match=r"pytorch_model\.bin is damaged"):
        hub.read(folder, legacy_weights=True)
    assert not (tmp_path / "trap").exists()
    pickle.loads(pickle.dumps(Trap()))
    assert (tmp_path / "trap").exists()
