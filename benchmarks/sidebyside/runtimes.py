"""The same weights in ONNX Runtime and OpenVINO, as sentence-transformers' backends run them, if installed.

Its own export needs packages that do not install beside transformers 5, so the graph is exported here with torch;
the rest is its way: texts sorted by their number of characters, batches of 32, padded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

Encode = Callable[[Sequence[str]], np.ndarray]
Session = Callable[[dict[str, np.ndarray]], np.ndarray]


def runtimes(folder: str, model: SentenceTransformer, place: Path) -> dict[str, Encode]:
    """Name -> encode, for each runtime that is installed; ``place`` holds the graph, which they may read later on."""
    if not (find_spec("onnx") and find_spec("onnxscript")):
        return {}
    graph = export(folder, place / "model.onnx")
    found = {}
    if find_spec("onnxruntime"):
        found["ONNX Runtime (batch 32)"] = padded(model, onnxruntime_session(graph))
    if find_spec("openvino"):
        found["OpenVINO (batch 32)"] = padded(model, openvino_session(graph))
    return found


def export(folder: str, path: Path) -> Path:
    from transformers import AutoModel

    body = AutoModel.from_pretrained(folder, attn_implementation="eager", add_pooling_layer=False).eval()

    class Plain(torch.nn.Module):
        def forward(self, input_ids, attention_mask, token_type_ids):
            return body(input_ids, attention_mask, token_type_ids).last_hidden_state

    example = tuple(torch.ones(2, 9, dtype=torch.long) for _ in range(3))
    names = ["input_ids", "attention_mask", "token_type_ids"]
    axes = {0: torch.export.Dim("batch"), 1: torch.export.Dim("length")}
    torch.onnx.export(
        Plain().eval(),
        example,
        path,
        input_names=names,
        output_names=["hidden"],
        dynamic_shapes=[axes] * 3,
        verbose=False,
    )
    return path


def onnxruntime_session(graph: Path) -> Session:
    import onnxruntime

    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    return lambda inputs: session.run(None, inputs)[0]


def openvino_session(graph: Path) -> Session:
    import openvino

    compiled = openvino.Core().compile_model(graph, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return lambda inputs: compiled(inputs)[0]


def padded(model: SentenceTransformer, session: Session) -> Encode:
    """Mean pooling and unit vectors over padded batches, longest texts first."""

    def encode(texts: Sequence[str]) -> np.ndarray:
        order = np.argsort([-len(text) for text in texts], kind="stable")
        vectors = np.empty((len(texts), model.get_embedding_dimension()), np.float32)
        for start in range(0, len(texts), 32):
            rows = order[start : start + 32]
            inputs = model.tokenizer(
                [texts[row] for row in rows],
                padding=True,
                truncation=True,
                max_length=model.max_seq_length,
                return_tensors="np",
            )
            names = ("input_ids", "attention_mask", "token_type_ids")
            hidden = session({name: inputs[name].astype(np.int64) for name in names})
            mask = inputs["attention_mask"][..., None]
            pooled = (hidden * mask).sum(axis=1) / mask.sum(axis=1)
            vectors[rows] = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return vectors

    return encode
