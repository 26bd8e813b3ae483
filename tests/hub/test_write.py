"""What we save loads in sentence-transformers without a word, with the same vectors, and here bit for bit."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from safetensors import safe_open
from sentence_transformers import SentenceTransformer
from transformers import AutoTokenizer

from sbert import hub
from sbert.disk import files
from sbert.hub.transformer import lacks_pooler
from sbert.nn.heads import ACTIVATIONS, Dense, Dropout, LayerNorm, Normalize
from sbert.types import FloatArray

ARCHITECTURES = [
    *("bert", "roberta", "xlm-roberta", "electra", "distilbert"),
    *("mpnet", "modernbert", "deberta-v2", "albert"),
]


@pytest.fixture
def loaded_there(no_bars, capfd, caplog):
    """Load a folder in sentence-transformers; any warning, log line or output is an error."""

    def load(folder: Path) -> SentenceTransformer:
        capfd.readouterr()
        with warnings.catch_warnings(), caplog.at_level("WARNING"):
            warnings.simplefilter("error")
            model = SentenceTransformer(str(folder), device="cpu")
            model.encode(["하나", "two words"])
        assert capfd.readouterr() == ("", "")
        told = [record.getMessage() for record in caplog.records]
        assert [line for line in told if "Default prompt name is set" not in line] == []  # told of every such model
        return model

    return load


def full_heads() -> tuple[torch.nn.Module, ...]:
    torch.manual_seed(3)
    norm = LayerNorm(24)
    torch.nn.init.normal_(norm.norm.weight)
    return Dense(64, 24, activation="gelu"), norm, Dropout(0.25), Dense(24, 8, False, "identity"), Normalize()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_architecture_there_and_back(tiny_folder, tmp_path, sentences, encode, loaded_there, architecture):
    parts = hub.read(tiny_folder(architecture))
    hub.write(parts, tmp_path / "m")
    ours = encode(parts, sentences)
    np.testing.assert_array_equal(encode(hub.read(tmp_path / "m"), sentences), ours)
    model = loaded_there(tmp_path / "m")
    np.testing.assert_allclose(model.encode(sentences), ours, atol=1e-5)
    assert model.max_seq_length == parts.tokenizer.max_length


def test_bundled_model_there_and_back(tmp_path, sentences, encode, loaded_there):
    parts = hub.read(hub.resolve())
    hub.write(parts, tmp_path / "모델")
    ours = encode(parts, sentences)
    np.testing.assert_array_equal(encode(hub.read(tmp_path / "모델"), sentences), ours)
    theirs = loaded_there(tmp_path / "모델").encode(sentences)
    assert np.abs(theirs - ours).max() < 1e-6
    tensors = {}
    for folder in (hub.resolve(), tmp_path / "모델"):
        with safe_open(folder / "model.safetensors", "np") as file:
            names = set(file.keys()) - {"embeddings.position_ids"}  # a counter that old releases stored
            tensors[folder] = {name: file.get_tensor(name) for name in names}
    before, after = tensors.values()
    assert before.keys() == after.keys()
    assert all((before[name] == after[name]).all() for name in before)


def test_everything_a_model_can_hold(tiny_folder, tmp_path, sentences, encode, loaded_there):
    plain = hub.read(tiny_folder("bert"))
    parts = replace(
        plain,
        tokenizer=plain.tokenizer.with_max_length(48),
        pooling=("max", "mean"),
        include_prompt=False,
        heads=tuple(head.eval() for head in full_heads()),
        prompts={"query": "질문: ", "문서": "passage | text: "},
        default_prompt_name="query",
        similarity="euclidean",
        ranges=np.array([[-1.0] * 8, [1.0] * 8], np.float32),
        truncate_dim=4,
    )
    vectors = encode(parts, hub.REFERENCE_TEXTS)
    parts = replace(parts, reference=hub.Reference(hub.REFERENCE_TEXTS, vectors))
    hub.write(parts, tmp_path / "m")
    again = hub.read(tmp_path / "m")
    for name in ("pooling", "include_prompt", "prompts", "default_prompt_name", "similarity", "truncate_dim"):
        assert getattr(again, name) == getattr(parts, name), name
    assert again.tokenizer.max_length == 48
    np.testing.assert_array_equal(again.ranges, parts.ranges)
    assert hub.largest_difference(again.reference, encode(again, hub.REFERENCE_TEXTS)) == 0
    assert again.heads[2].p == 0.25
    model = loaded_there(tmp_path / "m")
    assert (model.similarity_fn_name, model.truncate_dim, model.max_seq_length) == ("euclidean", 4, 48)
    texts = sentences[:50]
    np.testing.assert_allclose(encode(parts, texts, "질문: ")[:, :4], model.encode(texts), atol=1e-5)


def written(tiny_folder, folder: Path, **changes: object) -> Path:
    hub.write(replace(hub.read(tiny_folder("bert")), **changes), folder)
    return folder


def test_only_types_that_every_release_knows(tiny_folder, tmp_path):
    folder = written(tiny_folder, tmp_path / "m", pooling=("max", "mean"), heads=full_heads())
    modules = json.loads((folder / "modules.json").read_text())
    kinds = ["Transformer", "Pooling", "Dense", "LayerNorm", "Dropout", "Dense", "Normalize"]
    assert modules == [
        {"idx": i, "name": str(i), "path": f"{i}_{kind}" if i else "", "type": f"sentence_transformers.models.{kind}"}
        for i, kind in enumerate(kinds)
    ]
    settings = json.loads((folder / "config_sentence_transformers.json").read_text())
    assert settings["model_type"] == "SentenceTransformer"
    assert set(settings["__version__"]) == {"sbert", "transformers", "pytorch"}


def test_pooling_in_the_long_form(tiny_folder, tmp_path):
    folder = written(tiny_folder, tmp_path / "m", pooling=("cls", "mean_sqrt_len"))
    assert json.loads((folder / "1_Pooling" / "config.json").read_text()) == {
        "word_embedding_dimension": 32,
        "pooling_mode_cls_token": True,
        "pooling_mode_mean_tokens": False,
        "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": True,
        "pooling_mode_weightedmean_tokens": False,
        "pooling_mode_lasttoken": False,
        "include_prompt": True,
    }


def test_pooling_in_the_short_form_where_only_it_can_say_the_order(
    tiny_folder, tmp_path, sentences, encode, loaded_there
):
    folder = written(tiny_folder, tmp_path / "m", pooling=("mean_sqrt_len", "cls"))
    config = json.loads((folder / "1_Pooling" / "config.json").read_text())
    assert config["pooling_mode"] == ["mean_sqrt_len_tokens", "cls"]
    parts = hub.read(folder)
    assert parts.pooling == ("mean_sqrt_len", "cls")
    np.testing.assert_allclose(loaded_there(folder).encode(sentences), encode(parts, sentences), atol=1e-5)


def test_every_activation(tiny_folder, tmp_path, sentences, encode, loaded_there):
    torch.manual_seed(0)
    heads = tuple(Dense(32, 32, activation=activation) for activation in ACTIVATIONS)
    folder = written(tiny_folder, tmp_path / "m", heads=heads)
    parts = hub.read(folder)
    assert [head.activation for head in parts.heads] == list(ACTIVATIONS)
    np.testing.assert_allclose(loaded_there(folder).encode(sentences), encode(parts, sentences), atol=1e-5)


def test_model_without_pooler_loads_there_without_a_word(tiny_folder, tmp_path, loaded_there):
    parts = hub.read(tiny_folder("bert"))
    parts.transformer.pooler = None
    hub.write(parts, tmp_path / "m")
    assert lacks_pooler(hub.read(tmp_path / "m").transformer)
    loaded_there(tmp_path / "m")


def test_lower_case_is_kept(tiny_folder, tmp_path, sentences, encode, loaded_there):
    from sbert.text import Tokenizer

    plain = hub.read(tiny_folder("roberta"))
    parts = replace(plain, tokenizer=Tokenizer(plain.tokenizer.backend, 128, lower_case=True))
    hub.write(parts, tmp_path / "m")
    assert hub.read(tmp_path / "m").tokenizer.lower_case
    np.testing.assert_allclose(loaded_there(tmp_path / "m").encode(sentences), encode(parts, sentences), atol=1e-5)


@pytest.mark.parametrize("architecture", [*ARCHITECTURES, "bundled"])
def test_special_tokens_keep_their_roles(tiny_folder, tmp_path, architecture):
    source = hub.resolve() if architecture == "bundled" else tiny_folder(architecture)
    hub.write(hub.read(source), tmp_path / "m")
    before, after = AutoTokenizer.from_pretrained(source), AutoTokenizer.from_pretrained(tmp_path / "m")
    for role in ("pad", "unk", "cls", "sep", "mask"):
        assert getattr(after, f"{role}_token") == getattr(before, f"{role}_token")
        assert getattr(after, f"{role}_token_id") == getattr(before, f"{role}_token_id")


def test_nothing_of_ours_leaks_into_config(tiny_folder, tmp_path):
    folder = written(tiny_folder, tmp_path / "m")
    text = (folder / "config.json").read_text()
    for word in ("sbert", "attn", str(tmp_path)):
        assert word not in text
    assert json.loads(text)["model_type"] == "bert"


def test_card(tiny_folder, tmp_path):
    folder = written(
        tiny_folder, tmp_path / '한국어 "모델"', pooling=("cls", "mean"), prompts={"질문": "질문 | "}, truncate_dim=16
    )
    _, front, body = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    data = yaml.safe_load(front)
    assert data["library_name"] == "sentence-transformers"
    assert data["pipeline_tag"] == "sentence-similarity"
    assert '# 한국어 "모델"' in body
    assert r'BiEncoder.from_pretrained("한국어 \"모델\"")' in body
    for phrase in ("| pooling | cls, mean |", "16 dimensions", "128 tokens"):
        assert phrase in body
    assert r'| 질문: "질문 \| " |' in body


class TestFolder:
    """A folder is written whole or not at all, and only ever in place of a model."""

    def test_model_is_replaced(self, tiny_folder, tmp_path):
        folder = written(tiny_folder, tmp_path / "m", heads=(Normalize(),))
        written(tiny_folder, folder)
        assert not (folder / "2_Normalize").exists()
        assert [path.name for path in tmp_path.iterdir()] == ["m"]

    def test_encoder_and_empty_folder_are_replaced(self, tiny_folder, tmp_path):
        (tmp_path / "empty").mkdir()
        (tmp_path / "encoder").mkdir()
        (tmp_path / "encoder" / "config.json").write_text('{"model_type": "bert"}')
        for name in ("empty", "encoder", "deep/er"):
            assert (written(tiny_folder, tmp_path / name) / "modules.json").is_file()

    @pytest.mark.parametrize(
        ("file", "text", "complaint"),
        [
            ("thesis.txt", "years of work", "is not empty and holds no model"),
            ("config.json", '{"theme": "dark"}', "is not empty and holds no model"),
            (".git/HEAD", "ref", "is a git repository"),
        ],
    )
    def test_anything_else_is_kept(self, tiny_folder, tmp_path, file, text, complaint):
        path = tmp_path / "home" / file
        path.parent.mkdir(parents=True)
        path.write_text(text)
        with pytest.raises(ValueError, match=complaint):
            written(tiny_folder, tmp_path / "home")
        assert path.read_text() == text
        assert [entry.name for entry in tmp_path.iterdir()] == ["home"]

    def test_file_is_kept(self, tiny_folder, tmp_path):
        (tmp_path / "m").write_text("mine")
        with pytest.raises(ValueError, match="is a file"):
            written(tiny_folder, tmp_path / "m")
        assert (tmp_path / "m").read_text() == "mine"

    def test_failure_leaves_the_old_model(self, tiny_folder, tmp_path):
        folder = written(tiny_folder, tmp_path / "m")
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        with pytest.raises(TypeError, match="not JSON serializable"):
            written(tiny_folder, folder, prompts={"a": object()})
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
        assert [path.name for path in tmp_path.iterdir()] == ["m"]

    def test_old_model_comes_back_if_the_new_one_cannot_move_in(self, tiny_folder, tmp_path, monkeypatch):
        folder = written(tiny_folder, tmp_path / "m")
        rename = Path.rename

        def once(self: Path, target: Path) -> Path:
            if self.name == "new" and target == folder:
                raise OSError("no")
            return rename(self, target)

        monkeypatch.setattr(Path, "rename", once)
        monkeypatch.setattr(files, "_exchange", lambda first, second: False)  # as on systems that lack it
        with pytest.raises(OSError, match="no"):
            written(tiny_folder, folder)
        assert hub.read(folder).pooling == ("mean",)
        assert [path.name for path in tmp_path.iterdir()] == ["m"]

    def test_others_may_read_it(self, tiny_folder, tmp_path):
        (tmp_path / "usual").mkdir()
        folder = written(tiny_folder, tmp_path / "m")
        assert folder.stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_vectors_survive_training_mode(tiny_folder, tmp_path, encode, sentences):
    """Saving in the middle of training stores the weights, not the mode."""
    parts = replace(hub.read(tiny_folder("bert")), heads=(Dropout(0.5),))
    parts.transformer.train()
    hub.write(parts, tmp_path / "m")
    again = hub.read(tmp_path / "m")
    vectors: list[FloatArray] = [encode(again, sentences) for _ in range(2)]
    np.testing.assert_array_equal(*vectors)
