"""Exported graphs give the values of the model in ONNX Runtime, for every architecture, pooling and head."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from commandline import failure, sbert

from sbert import Backbone, BiEncoder, CrossEncoder, PolyEncoder
from sbert.adapters import onnx as adapter
from sbert.errors import BadInput, BadModel
from sbert.nn.heads import Dense, LayerNorm, Normalize
from sbert.nn.pooling import POOLINGS

onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra: pip install 'sbert[onnx]'")
pytest.importorskip("onnxscript", reason="needs the extra: pip install 'sbert[onnx]'")

TEXTS = ["고양이가 창가에서 잔다.", "A man is eating.", "비", "돈을 언제 돌려받을 수 있죠?"]
CLOSE = 2e-5


def graph_values(folder: Path, texts: list[str]) -> np.ndarray:
    """The first output for padded texts, as a program without sbert computes it: with the tokenizer of the folder."""
    from tokenizers import Tokenizer

    session = onnxruntime.InferenceSession(folder / adapter.GRAPH, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_padding()
    rows = tokenizer.encode_batch(texts)
    arrays = {
        "input_ids": [row.ids for row in rows],
        "attention_mask": [row.attention_mask for row in rows],
        "token_type_ids": [row.type_ids for row in rows],
    }
    wanted = [each.name for each in session.get_inputs()]
    return session.run(None, {name: np.array(arrays[name], np.int64) for name in wanted})[0]


@pytest.mark.parametrize("architecture", ["albert", "roberta", "mpnet", "modernbert"])
def test_graphs_of_every_architecture_give_the_vectors(architecture, tiny_folder, tmp_path):
    model = BiEncoder.from_pretrained(tiny_folder(architecture))
    assert adapter.export_onnx(model, tmp_path / "그래프") < CLOSE
    expected = model.encode(TEXTS)
    np.testing.assert_allclose(graph_values(tmp_path / "그래프", TEXTS), expected, atol=CLOSE * np.abs(expected).max())
    again = BiEncoder.from_pretrained(tmp_path / "그래프")
    assert (again.encode(TEXTS) == expected).all()


def test_graphs_pool_normalize_and_truncate(tiny_folder, tmp_path):
    backbone = Backbone.from_pretrained(tiny_folder("bert"))
    heads = [Dense(len(POOLINGS) * backbone.transformer.facts.hidden_size, 12), LayerNorm(12), Normalize()]
    model = BiEncoder(backbone, POOLINGS, heads, truncate_dim=7)
    assert adapter.export_onnx(model, tmp_path / "g") < CLOSE
    values = graph_values(tmp_path / "g", TEXTS)
    assert values.shape == (4, 7)
    np.testing.assert_allclose(values, model.encode(TEXTS), atol=CLOSE)


def test_graphs_of_cross_encoders_give_the_logits(tiny_classifier, tmp_path):
    model = CrossEncoder.from_pretrained(tiny_classifier("bert", 3))
    assert adapter.export_onnx(model, tmp_path / "g") < CLOSE
    pairs = list(zip(TEXTS, TEXTS[1:] + TEXTS[:1], strict=True))
    expected = model.predict(pairs, output="logit")
    np.testing.assert_allclose(graph_values(tmp_path / "g", pairs), expected, atol=CLOSE)


def test_a_graph_that_differs_is_not_written(tiny_folder, tmp_path, monkeypatch):
    model = BiEncoder.from_pretrained(tiny_folder("bert"))
    monkeypatch.setattr(adapter, "_pooled", lambda hidden, mask, pooling: hidden.mean(dim=1))  # with the padding
    with pytest.raises(BadModel, match="the graph differs from the model by"):
        adapter.export_onnx(model, tmp_path / "g")
    assert list(tmp_path.iterdir()) == []


def test_what_has_no_graph_is_refused(tiny_folder, tmp_path):
    backbone = Backbone.from_pretrained(tiny_folder("bert"))
    with pytest.raises(BadInput, match="PolyEncoder has no ONNX graph; export a bi-encoder or a cross-encoder"):
        adapter.export_onnx(PolyEncoder(BiEncoder(backbone), num_codes=2), tmp_path / "g")
    with pytest.raises(BadInput, match="pools without the tokens of its prompt"):
        adapter.export_onnx(BiEncoder(backbone, include_prompt=False), tmp_path / "g")
    assert "--to" in failure("export", tiny_folder("bert"), "-o", tmp_path / "g", "--to", "tflite", code=2)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_other_files_is_not_replaced(tiny_folder, tmp_path):
    (tmp_path / "논문").mkdir()
    (tmp_path / "논문" / "thesis.tex").write_text("years")
    assert "holds no model, so it is not replaced" in failure("export", tiny_folder("bert"), "-o", tmp_path / "논문")
    assert (tmp_path / "논문" / "thesis.tex").read_text() == "years"


def test_the_command_names_the_size_and_the_difference(tiny_folder, tmp_path):
    told = sbert("export", tiny_folder("electra"), "-o", tmp_path / "g").stderr
    assert "MB; differs from the model by" in told
    assert (tmp_path / "g" / "onnx" / "model.onnx").is_file()
