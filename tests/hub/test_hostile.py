"""Folders made to do harm: loading ends with one sentence, without code, without a network, without much memory."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from sbert import BiEncoder, CrossEncoder, PolyEncoder, WordEncoder, hub
from sbert.errors import BadModel
from sbert.hub.limits import LARGEST_CHARSMAP
from sbert.models.load import load
from sbert.nn.heads import Dense, Dropout
from sbert.nn.words import WordEmbeddings
from sbert.text import WordTokenizer

LONGEST_MESSAGE = 700
Change = Callable[[Path], object]


@pytest.fixture
def network_is_refused(monkeypatch):
    """Any attempt to reach a network is an error that no boundary hides."""

    def refuse(*_: object, **__: object) -> None:
        raise KeyboardInterrupt("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def changed(file: str, **changes: object) -> Change:
    def change(folder: Path) -> None:
        path = folder / file
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}), encoding="utf-8")

    return change


def tokenizer_with(**changes: Any) -> Change:
    return changed("tokenizer.json", **changes)


def model_of_tokenizer(**changes: object) -> Change:
    def change(folder: Path) -> None:
        path = folder / "tokenizer.json"
        whole = json.loads(path.read_text())
        whole["model"] |= changes
        path.write_text(json.dumps(whole), encoding="utf-8")

    return change


def content(file: str, content: bytes) -> Change:
    return lambda folder: (folder / file).write_bytes(content)


def replace(pattern: dict[str, str], with_: str = "x") -> dict[str, object]:
    return {"type": "Replace", "pattern": pattern, "content": with_}


def several(*normalizers: dict[str, object]) -> dict[str, object]:
    return {"type": "Sequence", "normalizers": list(normalizers)}


DEEP = b'{"a":' * 100_000
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [100_000], "tokens": ["[CLS]"]}},
}
FIXED = {"strategy": {"Fixed": 10**9}, "direction": "Right", "pad_to_multiple_of": None}

REFUSED: dict[str, tuple[str, Change, str]] = {
    # The tokenizer.
    "broken charsmap": (
        "bert",
        tokenizer_with(normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
        "precompiled_charsmap",
    ),
    "huge charsmap": (
        "bert",
        tokenizer_with(normalizer={"type": "Precompiled", "precompiled_charsmap": "A" * (LARGEST_CHARSMAP + 4)}),
        "a precompiled_charsmap of more than 4,194,304 characters",
    ),
    "charsmap without end": (
        "bert",
        tokenizer_with(normalizer={"type": "Precompiled", "precompiled_charsmap": "BAAAAAAAAAA="}),
        r"tokenizer\.json is damaged",
    ),
    "pieces of length 0": (
        "bert",
        tokenizer_with(pre_tokenizer={"type": "FixedLength", "length": 0}),
        "chunk size must be non-zero",
    ),
    "empty regex": ("bert", tokenizer_with(normalizer=replace({"Regex": ""})), "replaces an empty pattern"),
    "empty text": ("bert", tokenizer_with(normalizer=several(replace({"String": ""}))), "replaces an empty pattern"),
    "explosion": (
        "bert",
        tokenizer_with(normalizer=several(*[replace({"Regex": "."}, "x" * 100)] * 4)),
        "makes more than 4,000 characters of one",
    ),
    "template": ("bert", tokenizer_with(post_processor=TEMPLATE), "gives ids up to 100000, but the transformer knows"),
    "template beyond int32": (
        "bert",
        tokenizer_with(post_processor={"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2**32 - 1]}),
        r"tokenizer|ids up to 4294967295",
    ),
    "vocabulary with one huge id": ("bert", model_of_tokenizer(vocab={"[UNK]": 2**32 - 1}), "ids up to 4294967295"),
    "no unknown token": ("bert", model_of_tokenizer(unk_token="[NOPE]"), r"Missing \[UNK\] token"),
    "nested tokenizer": ("bert", content("tokenizer.json", DEEP), "gives no tokenizer"),
    # config.json of BERT and its relatives.
    "layers": ("bert", changed("config.json", num_hidden_layers=10**9), "num_hidden_layers 1000000000, but a whole"),
    "one column": ("bert", changed("config.json", intermediate_size=1), "a whole number from 2 to 1,048,576 is"),
    "negative layers": ("bert", changed("config.json", num_hidden_layers=-1), "from 1 to 1,000 is expected"),
    "heads": ("bert", changed("config.json", num_attention_heads=3), "num_attention_heads, 3, do not divide"),
    "no heads": ("bert", changed("config.json", num_attention_heads=0), "num_attention_heads 0, but"),
    "vocabulary": ("bert", changed("config.json", vocab_size=10**9), r"model\.safetensors is damaged or does not fit"),
    "wide": ("bert", changed("config.json", hidden_size=10**18), "hidden_size 1000000000000000000, but"),
    "many digits": ("bert", changed("config.json", hidden_size=10**400), "hidden_size 1000"),
    "negative dropout": (
        "bert",
        changed("config.json", hidden_dropout_prob=-1),
        "hidden_dropout_prob -1, but a number",
    ),
    "dropout a list": ("bert", changed("config.json", hidden_dropout_prob=[0.1]), r"\[0\.1\], but a number"),
    "type a list": ("bert", changed("config.json", model_type=["bert"]), r"model_type \['bert'\], but a text"),
    "activation a list": ("bert", changed("config.json", hidden_act=["gelu"]), r"\['gelu'\], but a text"),
    "padding": ("roberta", changed("config.json", pad_token_id=10**6), "pad_token_id 1000000, which leaves no"),
    "architectures": ("bert", changed("config.json", architectures=[3]), r"architectures \[3\], but a list of texts"),
    "nested config": ("bert", content("config.json", DEEP), r"config\.json cannot be read as JSON"),
    "binary config": ("bert", content("config.json", b"\xff\xfe{"), r"config\.json cannot be read as JSON"),
    "wide embeddings": (
        "albert",
        changed("config.json", embedding_size=10**9),
        "embedding_size 1000000000, but a whole",
    ),
    "other embeddings": ("albert", changed("config.json", embedding_size=17), "does not fit its config"),
    "embeddings a text": ("albert", changed("config.json", embedding_size="16"), "embedding_size '16', but a whole"),
    "many passes": ("albert", changed("config.json", num_hidden_layers=10**9), "num_hidden_layers 1000000000, but a"),
    "groups a text": ("albert", changed("config.json", num_hidden_groups="1"), "num_hidden_groups '1', but a whole"),
    "inner digits": ("albert", changed("config.json", inner_group_num=10**400), "inner_group_num 1000.*, but a whole"),
    # config.json of encoders that transformers builds.
    "foreign layers": ("distilbert", changed("config.json", n_layers=10**9), "asks for more than 1,000 layers"),
    "shared layers": ("albert", changed("config.json", inner_group_num=10**9), "asks for more than 1,000 layers"),
    "foreign width": ("distilbert", changed("config.json", dim=10**6), "does not fit its config"),
    "foreign vocabulary": ("distilbert", changed("config.json", vocab_size=10**9), "does not fit its config"),
    "foreign type": ("distilbert", changed("config.json", dim="32"), "dim"),
    "foreign digits": ("distilbert", changed("config.json", dim=10**400), "dim 1000.*, which no encoder has"),
    "not a number": ("distilbert", changed("config.json", dropout=float("nan")), "dropout inf, which no encoder has"),
    "foreign heads": ("distilbert", changed("config.json", n_heads=3), "damaged or"),
    "positions": ("deberta-v2", changed("config.json", max_position_embeddings=10**9), "does not fit its config"),
    "quantized": ("distilbert", changed("config.json", quantization_config={"bits": 4}), "has quantization_config"),
    "vision": (
        "bert",
        changed("config.json", model_type="detr", backbone="someone/model"),
        "is no known text encoder",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_one_sentence(tiny_folder, tmp_path, network_is_refused, name):
    architecture, change, complaint = REFUSED[name]
    folder = shutil.copytree(tiny_folder(architecture), tmp_path / "m")
    change(folder)
    with pytest.raises(BadModel, match=complaint) as caught:
        load(folder)
    assert len(str(caught.value)) < LONGEST_MESSAGE
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("architecture", ["bert", "modernbert", "deberta-v2"])
def test_kernels_are_never_asked_for(tiny_folder, tmp_path, network_is_refused, monkeypatch, architecture):
    import transformers.integrations.hub_kernels as kernels

    def refuse(*_: object, **__: object) -> None:
        raise KeyboardInterrupt("a kernel was asked for")

    for name in ("load_and_register_attn_kernel", "get_kernel", "lazy_load_kernel"):
        if hasattr(kernels, name):
            monkeypatch.setattr(kernels, name, refuse)
    folder = shutil.copytree(tiny_folder(architecture), tmp_path / "m")
    expected = load(folder).encode(["하나"])
    wish = "someone/kernel"
    changed("config.json", attn_implementation=wish, _attn_implementation=wish, _attn_implementation_internal=wish)(
        folder
    )
    model = load(folder)
    np.testing.assert_array_equal(model.encode(["하나"]), expected)
    model.save_pretrained(tmp_path / "again")
    assert wish not in (tmp_path / "again" / "config.json").read_text()


def test_a_huge_window_is_not_tried_whole(tiny_folder, tmp_path):
    folder = shutil.copytree(tiny_folder("modernbert"), tmp_path / "m")
    changed("config.json", local_attention=10**9, max_position_embeddings=10**9)(folder)
    assert load(folder).encode(["하나"]).shape == (1, 32)


def test_padding_of_the_tokenizer_is_not_followed(tiny_folder, tmp_path):
    folder = shutil.copytree(tiny_folder("bert"), tmp_path / "m")
    expected = load(folder).encode(["하나"])
    tokenizer_with(padding={**FIXED, "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"})(folder)
    np.testing.assert_array_equal(load(folder).encode(["하나"]), expected)


@pytest.mark.parametrize(
    ("place", "complaint"),
    [
        ("../outside.safetensors", "outside of the model folder"),
        ("/etc/passwd.safetensors", "outside of the model folder"),
        ("C:\\outside.safetensors", "outside of the model folder"),
        ("weights.bin", r"weight_map from tensors to \.safetensors files"),
        (["a.safetensors"], r"weight_map from tensors to \.safetensors files"),
        ("missing.safetensors", "is missing, which model.safetensors.index.json lists"),
    ],
)
@pytest.mark.parametrize("architecture", ["bert", "distilbert"])
def test_index_stays_inside(tiny_folder, tmp_path, architecture, place, complaint):
    folder = shutil.copytree(tiny_folder(architecture), tmp_path / "m")
    weights = folder / "model.safetensors"
    index = {"weight_map": {name: place for name in load_file(weights)}}
    shutil.move(weights, tmp_path / "outside.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(BadModel, match=complaint):
        load(folder)


@pytest.mark.parametrize("architecture", ["bert", "distilbert"])
def test_index_of_several_files_is_read(tiny_folder, tmp_path, architecture):
    folder = shutil.copytree(tiny_folder(architecture), tmp_path / "m")
    tensors = load_file(folder / "model.safetensors")
    places = {name: f"model-{number % 2}.safetensors" for number, name in enumerate(tensors)}
    for place in set(places.values()):
        part = {name: tensor for name, tensor in tensors.items() if places[name] == place}
        save_file(part, folder / place, metadata={"format": "pt"})
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))
    np.testing.assert_array_equal(load(folder).encode(["하나"]), load(tiny_folder(architecture)).encode(["하나"]))


HEADS: dict[str, tuple[Change, str]] = {
    "dense a text": (changed("2_Dense/config.json", out_features="8"), "out_features '8', but a whole number"),
    "dense huge": (changed("2_Dense/config.json", out_features=10**18), "out_features 1000000000000000000, but"),
    "dense negative": (changed("2_Dense/config.json", out_features=-1), "out_features -1, but"),
    "dense wide": (changed("2_Dense/config.json", out_features=10**6), r"damaged or does not fit"),
    "activation a list": (changed("2_Dense/config.json", activation_function=["x"]), r"\['x'\], but a text"),
    "bias a text": (changed("2_Dense/config.json", bias="yes"), "bias 'yes', but true or false"),
    "dropout": (changed("3_Dropout/config.json", dropout=-1), "dropout -1, but a number from 0 to 1"),
    "name a list": (changed("3_Dropout/config.json", module_input_name=["x"]), r"module_input_name \['x'\], but"),
    "ranges": (
        lambda folder: save_file({"ranges": torch.zeros(2, 3)}, folder / "calibration.safetensors"),
        r"holds ranges of shape \(2, 3\), but \(2, 8\) is expected",
    ),
    "reference of numbers": (
        content("reference.json", b'{"texts": [1], "vectors": [[1]]}'),
        r"texts \[1\], but a list of texts",
    ),
    "reference of digits": (
        content("reference.json", b'{"texts": ["a"], "vectors": [[1' + b"0" * 400 + b"]]}"),
        r"reference\.json is damaged",
    ),
}


@pytest.mark.parametrize("name", HEADS)
def test_heads_are_checked_before_they_are_built(tiny_folder, tmp_path, name):
    change, complaint = HEADS[name]
    parts = hub.read(tiny_folder("bert"))
    folder = tmp_path / "m"
    hub.write(hub.Parts(parts.tokenizer, parts.transformer, heads=(Dense(32, 8), Dropout(0.1))), folder)
    change(folder)
    with pytest.raises(BadModel, match=complaint):
        BiEncoder.from_pretrained(folder)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (changed("config.json", id2label=["a"]), r"id2label \['a'\], but a JSON object"),
        (changed("config.json", id2label={str(n): "x" for n in range(10_000)}), "10,000 in all"),
        (changed("config.json", classifier_dropout=-1), "classifier_dropout -1, but a number from 0 to 1"),
        (changed("config.json", sbert_ce_default_activation_function=["x" * 5_000]), "has the activation"),
    ],
)
def test_cross_encoder(tiny_classifier, tmp_path, change, complaint):
    folder = shutil.copytree(tiny_classifier("bert", 1), tmp_path / "m")
    change(folder)
    with pytest.raises(BadModel, match=complaint) as caught:
        CrossEncoder.from_pretrained(folder)
    assert len(str(caught.value)) < LONGEST_MESSAGE


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"num_codes": 10**18}, "num_codes 1000000000000000000, but a whole number from 1 to 65,536"),
        ({"num_codes": "4"}, "num_codes '4', but"),
        ({"codes": ["learned"]}, r"codes \['learned'\], but one of"),
        ({"towers": 3}, "towers 3, but one of shared, separate"),
        ({"num_codes": 5}, r"holds codes of shape \(4, 32\), but \(5, 32\)"),
    ],
)
def test_poly_encoder(tiny_folder, tmp_path, changes, complaint):
    folder = tmp_path / "m"
    PolyEncoder(BiEncoder.from_pretrained(tiny_folder("bert")), 4).save_pretrained(folder)
    changed("poly/config.json", **changes)(folder)
    with pytest.raises(BadModel, match=complaint):
        PolyEncoder.from_pretrained(folder)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (content("words.txt", b"\xff\xfe\n"), r"words\.txt is damaged"),
        (changed("config.json", lstm_size=10**18), "lstm_size 1000000000000000000, but"),
        (changed("config.json", lstm_size=7), "lacks 8 tensors"),
        (changed("config.json", pooling="mean"), "pooling 'mean', but a list of texts"),
        (changed("config.json", pooling=[]), r"pooling \(\), but one or more of"),
        (changed("config.json", max_seq_length=0), "max_seq_length 0, but a whole number from 1"),
        (changed("config.json", lower_case="yes"), "lower_case 'yes', but true or false"),
    ],
)
def test_word_encoder(tmp_path, change, complaint):
    folder = tmp_path / "m"
    WordEncoder(WordTokenizer(["비"]), WordEmbeddings(torch.zeros(2, 3))).save_pretrained(folder)
    change(folder)
    with pytest.raises(BadModel, match=complaint):
        WordEncoder.from_pretrained(folder)


def test_an_adapter_without_a_base_is_refused(tmp_path):
    (tmp_path / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    save_file({"a": torch.zeros(1)}, tmp_path / "adapter_model.safetensors")
    for cls in (BiEncoder, CrossEncoder, PolyEncoder, WordEncoder):
        with pytest.raises(BadModel, match=r"lacks 'base_model_name_or_path'|config\.json is missing|plain encoder"):
            cls.from_pretrained(tmp_path)
    with pytest.raises(BadModel, match=r"adapter_config\.json lacks"):
        load(tmp_path)
    with pytest.raises(BadModel, match=r"adapter_config\.json lacks"):
        hub.read_backbone(tmp_path)


def test_interrupts_pass_the_boundary(tiny_folder, monkeypatch):
    from sbert.hub import layout

    for error in (KeyboardInterrupt, SystemExit, MemoryError):
        monkeypatch.setattr(layout, "kind_of", lambda *_, error=error: (_ for _ in ()).throw(error("now")))
        with pytest.raises(error):
            hub.read(tiny_folder("bert"))
