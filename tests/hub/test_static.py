"""StaticEmbedding and model2vec folders: the vectors of sentence-transformers, saved and read both ways."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import sbert
from sbert.errors import BadInput, BadModel

theirs = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")


@pytest.fixture(scope="module")
def static(tiny_folder, tmp_path_factory) -> Path:
    """A StaticEmbedding model with a Normalize head as sentence-transformers saves it; do not change it."""
    from sentence_transformers.sentence_transformer.modules import Normalize, StaticEmbedding
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(tiny_folder("bert") / "tokenizer.json"))
    weights = torch.randn(tokenizer.get_vocab_size(), 24, generator=torch.Generator().manual_seed(0))
    folder = tmp_path_factory.mktemp("static") / "모델"
    model = theirs.SentenceTransformer(modules=[StaticEmbedding(tokenizer, weights), Normalize()], device="cpu")
    model.save_pretrained(str(folder))
    return folder


def test_the_same_vectors_here_and_there(static, sentences, tmp_path):
    model = sbert.load(static)
    assert isinstance(model, sbert.WordEncoder)
    expected = theirs.SentenceTransformer(str(static), device="cpu").encode(sentences)
    got = model.encode(sentences)
    np.testing.assert_allclose(got, expected, atol=1e-6)
    assert not got[sentences.index("")].any()
    assert model.encode(sentences[:3]).tolist() == [model.encode(text).tolist() for text in sentences[:3]]
    model.save_pretrained(tmp_path / "again")
    np.testing.assert_allclose(
        theirs.SentenceTransformer(str(tmp_path / "again"), device="cpu").encode(sentences), expected, atol=1e-6
    )
    assert sbert.load(tmp_path / "again").encode(sentences).tolist() == got.tolist()


def test_a_folder_of_model2vec(static, sentences, tmp_path):
    """Pieces share vectors by a mapping and have weights, as model2vec 0.6 and later saves them."""
    table = load_file(static / "model.safetensors")["embedding.weight"]
    mapping = torch.arange(len(table)) // 2
    weights = torch.linspace(0.5, 1.5, len(table))
    folder = tmp_path / "m2v"
    folder.mkdir()
    save_file(
        {"embeddings": table[: len(table) // 2 + 1], "mapping": mapping, "weights": weights},
        folder / "model.safetensors",
    )
    (folder / "config.json").write_text(json.dumps({"model_type": "model2vec", "normalize": True}))
    (folder / "tokenizer.json").write_bytes((static / "tokenizer.json").read_bytes())
    from sentence_transformers.sentence_transformer.modules import Normalize, StaticEmbedding

    model = theirs.SentenceTransformer(modules=[StaticEmbedding.load(str(folder)), Normalize()], device="cpu")
    np.testing.assert_allclose(sbert.load(folder).encode(sentences), model.encode(sentences), atol=1e-6)


def test_it_can_be_trained_and_truncated(static):
    model = sbert.WordEncoder.from_pretrained(static, max_seq_length=2)
    assert model.encode("고양이가 잔다", on_truncate="ignore").shape == (24,)
    assert model.embeddings.table.weight.requires_grad
    assert model.max_seq_length == 2


def test_refusals(static, tmp_path):
    folder = tmp_path / "broken"
    folder.mkdir()
    for name in ("tokenizer.json", "modules.json", "config_sentence_transformers.json"):
        (folder / name).write_bytes((static / name).read_bytes())
    save_file({"embedding.weight": torch.zeros(3, 4)}, folder / "model.safetensors")
    with pytest.raises(BadModel, match="has 3 vectors, but the tokenizer has"):
        sbert.load(folder)
    save_file({"other": torch.zeros(3)}, folder / "model.safetensors")
    with pytest.raises(BadModel, match="no table of vectors"):
        sbert.load(folder)
    model = sbert.load(static)
    model.pooling = ("max",)
    with pytest.raises(BadInput, match="only the mean"):
        model.save_pretrained(tmp_path / "m")
    with pytest.raises(BadModel, match="WordEncoder"):
        sbert.BiEncoder.from_pretrained(static)


def test_the_drop_in_reads_it(static, sentences):
    from sbert.adapters.sentence_transformers import SentenceTransformer

    ours = SentenceTransformer(str(static)).encode(sentences, truncate_dim=8, normalize_embeddings=True)
    expected = theirs.SentenceTransformer(str(static), device="cpu").encode(
        sentences, truncate_dim=8, normalize_embeddings=True
    )
    np.testing.assert_allclose(ours, expected, atol=1e-6)
