"""BERT and its relatives as files: translates between the names in their checkpoints and ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from sbert.disk.files import write_json
from sbert.errors import BadModel
from sbert.hub.schema import DEEPEST, WIDEST, checked, choice, flag, number, text, whole
from sbert.hub.tensors import SAFETENSORS, Stored, fill
from sbert.nn.bert import ACTIVATIONS, Bert, BertSizes
from sbert.nn.transformer import Facts

# model_type -> the class name in transformers, and whether positions start after the padding's id.
_KINDS = {
    "bert": ("BertModel", False),
    "electra": ("ElectraModel", False),
    "roberta": ("RobertaModel", True),
    "xlm-roberta": ("XLMRobertaModel", True),
    "camembert": ("CamembertModel", True),
}
_PREFIXES = ("bert.", "electra.", "roberta.")  # in checkpoints of models with a head
_SIZES = {
    "vocab_size": whole(1),
    "hidden_size": whole(1, WIDEST),
    "num_hidden_layers": whole(1, DEEPEST),
    "num_attention_heads": whole(1, WIDEST),
    "intermediate_size": whole(1, WIDEST),
    "max_position_embeddings": whole(1),
    "type_vocab_size": whole(1, WIDEST),
    "layer_norm_eps": number(0, 1),
}
_OPTIONS = {
    "embedding_size": whole(1, WIDEST, default=None),
    "pad_token_id": whole(0, default=None),
    "hidden_act": choice(ACTIVATIONS, default="gelu"),
    "hidden_dropout_prob": number(0, 1, default=0.1),
    "attention_probs_dropout_prob": number(0, 1, default=0.1),
}
_UNUSUAL = {
    "hidden_act": text("gelu"),
    "position_embedding_type": text("absolute"),
    "is_decoder": flag(False),
    "add_cross_attention": flag(False),
}
_OUTSIDE = {
    "words": "embeddings.word_embeddings",
    "places": "embeddings.position_embeddings",
    "segments": "embeddings.token_type_embeddings",
    "norm": "embeddings.LayerNorm",
    "projection": "embeddings_project",
    "pooler": "pooler.dense",
}
_INSIDE = {
    "attention_out": ("attention.output.dense",),
    "attention_norm": ("attention.output.LayerNorm",),
    "qkv": ("attention.self.query", "attention.self.key", "attention.self.value"),
    "widen": ("intermediate.dense",),
    "narrow": ("output.dense",),
    "output_norm": ("output.LayerNorm",),
}


def is_bert(kind: str | None, settings: dict[str, Any], path: Path) -> bool:
    """Return whether these settings ask for nothing that :class:`sbert.nn.bert.Bert` lacks."""
    if kind not in _KINDS or any(settings.get(key) is None for key in _SIZES) or settings.get("quantization_config"):
        return False
    said = checked(settings, _UNUSUAL, path)
    return (
        said["hidden_act"] in ACTIVATIONS
        and said["position_embedding_type"] == "absolute"
        and not said["is_decoder"]
        and not said["add_cross_attention"]
    )


def read_bert(settings: dict[str, Any], path: Path, weights: Path) -> Bert:
    """Return the encoder with the settings of the file ``path`` and the tensors in ``weights``."""
    stored = Stored(weights, _plain)
    sizes = _sizes(settings, path, pooler="pooler.dense.weight" in stored.shapes)
    with torch.device("meta"):  # neither memory nor random weights
        model = Bert(sizes, _carried(settings))
    fill(model, stored, _their_names, besides=stored.shapes)
    return model.requires_grad_().eval()


def write_bert(model: Bert, folder: Path) -> None:
    """Write config.json and model.safetensors, under the names that other libraries use."""
    tensors: dict[str, Tensor] = {}
    for ours, tensor in model.state_dict().items():
        names = _their_names(ours)
        tensors |= {name: piece.contiguous() for name, piece in zip(names, tensor.chunk(len(names)), strict=True)}
    write_json(folder / "config.json", model.settings)
    save_file(tensors, folder / SAFETENSORS, metadata={"format": "pt"})


def _plain(name: str) -> str:
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")


def _their_names(ours: str) -> list[str]:
    """Return the tensors of a checkpoint that form one of ours: query, key and value are a single matrix here."""
    module, _, part = ours.rpartition(".")
    if module in _OUTSIDE:
        return [f"{_OUTSIDE[module]}.{part}"]
    _, number, inner = module.split(".")
    return [f"encoder.layer.{number}.{name}.{part}" for name in _INSIDE[inner]]


def _carried(settings: dict[str, Any]) -> dict[str, Any]:
    """Return what config.json says when the model is saved again."""
    dropped = ("auto_map", "torch_dtype", "attn_implementation")
    kept = {key: value for key, value in settings.items() if key not in dropped and not key.startswith("_")}
    return kept | {"architectures": [_KINDS[settings["model_type"]][0]], "dtype": "float32"}


def _sizes(settings: dict[str, Any], path: Path, pooler: bool) -> BertSizes:
    said = checked(settings, _SIZES | _OPTIONS, path)
    hidden, heads = said["hidden_size"], said["num_attention_heads"]
    if hidden % heads:
        raise BadModel(
            f"{path} has hidden_size {hidden}, which its num_attention_heads, {heads}, do not divide; "
            "download or save the model again"
        )
    architecture, after_padding = _KINDS[settings["model_type"]]
    padding = int(after_padding) if said["pad_token_id"] is None else said["pad_token_id"]
    first = padding + 1 if after_padding else 0
    positions = said["max_position_embeddings"]
    if positions <= first or padding >= said["vocab_size"]:
        raise BadModel(
            f"{path} has pad_token_id {padding}, which leaves no positions or is not in the vocabulary; "
            "download or save the model again"
        )
    facts = Facts(
        architecture=architecture,
        hidden_size=hidden,
        depth=said["num_hidden_layers"],
        vocabulary_size=said["vocab_size"],
        max_length=positions - first,
        first_position=first,
        segments=said["type_vocab_size"],
        pad_token_id=padding,
    )
    return BertSizes(
        facts=facts,
        embedding_size=said["embedding_size"] or hidden,
        heads=heads,
        intermediate_size=said["intermediate_size"],
        activation=said["hidden_act"],
        norm_epsilon=said["layer_norm_eps"],
        hidden_dropout=said["hidden_dropout_prob"],
        attention_dropout=said["attention_probs_dropout_prob"],
        pooler=pooler,
    )
