"""A cross-encoder's folder: what it holds, where its scale may stand, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from sbert import Backbone, CrossEncoder, hub
from sbert.errors import BadModel
from sbert.nn.classify import Classifier


def merge(path: Path, **changes: object) -> None:
    stored = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    path.write_text(json.dumps(stored | changes), encoding="utf-8")


@pytest.fixture
def plain(tiny_classifier, tmp_path) -> Callable[..., Path]:
    """``plain("bert", 3)``: a classifier's folder that may be changed."""

    def copy(architecture: str = "bert", labels: int = 1) -> Path:
        return shutil.copytree(tiny_classifier(architecture, labels), tmp_path / f"{architecture}-{labels}")

    return copy


@pytest.fixture
def saved(plain, tmp_path) -> Path:
    """A folder as we write it."""
    hub.write_cross(hub.read_cross(plain("bert", 1)), tmp_path / "모델")
    return tmp_path / "모델"


@pytest.mark.parametrize(
    "architecture", ["bert", "roberta", "electra", "distilbert", "mpnet", "albert", "modernbert", "deberta-v2"]
)
def test_tensors_keep_their_names_and_values(plain, tmp_path, architecture):
    folder = plain(architecture, 3)
    hub.write_cross(hub.read_cross(folder), tmp_path / "m")
    tensors = []
    for place in (folder, tmp_path / "m"):
        with safe_open(place / "model.safetensors", "np") as file:
            tensors.append({name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118
    before, after = tensors
    assert before.keys() == after.keys()
    assert all((before[name] == after[name]).all() for name in before)
    kept = [json.loads((place / "config.json").read_text())["architectures"] for place in (folder, tmp_path / "m")]
    assert kept[0] == kept[1]


def test_what_is_written(saved):
    assert {path.name for path in saved.iterdir()} == {
        *("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "sentence_bert_config.json"),
        *("modules.json", "config_sentence_transformers.json", "README.md"),
    }
    settings = json.loads((saved / "config_sentence_transformers.json").read_text())
    assert settings["model_type"] == "CrossEncoder"
    assert settings["activation_fn"] == "torch.nn.modules.activation.Sigmoid"
    config = json.loads((saved / "config.json").read_text())
    assert config["sentence_transformers"] == {"activation_fn": "torch.nn.modules.activation.Sigmoid"}
    assert (config["id2label"], config["label2id"]) == ({"0": "LABEL_0"}, {"LABEL_0": 0})
    _, front, body = (saved / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    assert yaml.safe_load(front)["pipeline_tag"] == "text-ranking"
    assert 'CrossEncoder.from_pretrained("모델")' in body


@pytest.mark.parametrize(
    ("changes", "scale"),
    [
        ({}, "sigmoid"),
        ({"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"}, "identity"),
        ({"sbert_ce_default_activation_function": None}, "sigmoid"),
        ({"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Sigmoid"}}, "sigmoid"),
        ({"sentence_transformers": {"activation_fn": "torch.nn.Softmax", "version": "4.0"}}, "softmax"),
    ],
)
def test_where_the_scale_may_stand(plain, changes, scale):
    folder = plain()
    merge(folder / "config.json", **changes)
    assert hub.read_cross(folder).scale == scale


def test_their_newest_place_wins(saved):
    merge(saved / "config_sentence_transformers.json", activation_fn="torch.nn.modules.linear.Identity")
    assert hub.read_cross(saved).scale == "identity"


def test_old_keys_are_not_written_again(plain, tmp_path):
    folder = plain()
    old = "sbert_ce_default_activation_function"
    merge(folder / "config.json", **{old: "torch.nn.modules.linear.Identity", "problem_type": "regression"})
    hub.write_cross(hub.read_cross(folder), tmp_path / "m")
    config = json.loads((tmp_path / "m" / "config.json").read_text())
    assert not {old, "problem_type"} & config.keys()
    assert hub.read_cross(tmp_path / "m").scale == "identity"


def test_label_names_come_by_number(plain):
    folder = plain("bert", 3)
    merge(folder / "config.json", id2label={"2": "중립", "0": "모순", "1": "함의"})
    assert hub.read_cross(folder).labels == ("모순", "함의", "중립")


def test_two_labels_need_no_names(plain):
    assert hub.read_cross(plain("bert", 2)).labels == ("LABEL_0", "LABEL_1")


def test_dropout_is_the_configs(plain):
    folder = plain()
    for key, dropout in (("hidden_dropout_prob", 0.3), ("classifier_dropout", 0.7)):  # the second wins
        merge(folder / "config.json", **{key: dropout})
        head = hub.read_cross(folder).head
        assert isinstance(head, Classifier)
        assert (head.before.p, head.after.p) == (0.0, dropout)


def test_a_tokenizer_that_gives_no_types_is_believed(plain, tmp_path):
    folder = plain()
    merge(folder / "tokenizer_config.json", model_input_names=["input_ids", "attention_mask"])
    parts = hub.read_cross(folder)
    assert not parts.tokenizer.types
    hub.write_cross(parts, tmp_path / "m")
    assert not hub.read_cross(tmp_path / "m").tokenizer.types


def without(tensor: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        kept = {name: value for name, value in load_file(folder / "model.safetensors").items() if name != tensor}
        save_file(kept, folder / "fewer", metadata={"format": "pt"})
        (folder / "fewer").replace(folder / "model.safetensors")

    return change


REFUSALS: dict[str, tuple[Callable[[Path], None], str]] = {
    "sparse": (
        lambda folder: merge(folder / "config_sentence_transformers.json", model_type="SparseEncoder"),
        "holds a SparseEncoder, but a CrossEncoder or a plain encoder is expected; name another model, or",
    ),
    "more modules": (
        lambda folder: (folder / "modules.json").write_text(
            json.dumps(
                [
                    {"type": "sentence_transformers.models.Transformer", "path": ""},
                    {"type": "a.LogitScore", "path": "1"},
                ]
            )
        ),
        r"lists 'sentence_transformers\.models\.Transformer', 'a\.LogitScore', but only a Transformer",
    ),
    "no list": (
        lambda folder: (folder / "modules.json").write_text("[7]"),
        "must be a list of modules with type and path",
    ),
    "prompt": (
        lambda folder: merge(folder / "config_sentence_transformers.json", default_prompt_name="query"),
        "has a default prompt, but pairs are read without prompts",
    ),
    "task": (
        lambda folder: merge(folder / "sentence_bert_config.json", transformer_task="text-generation"),
        "transformer_task 'text-generation', but only 'sequence-classification' fits",
    ),
    "activation": (
        lambda folder: merge(folder / "config_sentence_transformers.json", activation_fn="evil.Sigmoid"),
        "has the activation 'evil.Sigmoid', but only torch.nn's Sigmoid, Identity, Softmax, Tanh are known",
    ),
    "too many names": (
        lambda folder: merge(folder / "config.json", id2label={"0": "a", "1": "b"}),
        "names the labels '0', '1', but the head gives '0'; make them fit",
    ),
    "no projection": (without("classifier.weight"), r"model\.safetensors lacks 1 tensors \('classifier.weight'\)"),
    "no pooler": (without("bert.pooler.dense.bias"), r"model\.safetensors"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refused(saved, name):
    change, complaint = REFUSALS[name]
    change(saved)
    with pytest.raises(BadModel, match=complaint) as caught:
        hub.read_cross(saved)
    assert str(saved) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_head_that_is_not_known(tiny_classifier, monkeypatch):
    monkeypatch.delitem(hub.cross._FORMS, "modernbert")
    with pytest.raises(BadModel, match="is of type 'modernbert', but cross-encoders are made of bert, albert"):
        hub.read_cross(tiny_classifier("modernbert", 1))


def test_the_card_of_a_model_with_hostile_labels_is_plain_text(
    tiny_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    labels = ["<script>alert(1)</script>", "\x1b[31m빨강\x9b", "\u202e뒤집힘", "둘\n| 줄 |"]
    CrossEncoder(Backbone.from_pretrained(tiny_folder("bert")), labels).save_pretrained(tmp_path / "<b>모델")
    card = (tmp_path / "<b>모델" / "README.md").read_text(encoding="utf-8")
    assert "| labels | &lt;script&gt;alert(1)&lt;/script&gt;, [31m빨강, 뒤집힘, 둘 \\| 줄 \\| |\n" in card
    assert "# &lt;b&gt;모델\n" in card
    assert all(letter.isprintable() or letter == "\n" for letter in card)
