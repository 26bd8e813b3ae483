"""BERT and its kin, as files: between the names in their checkpoints and ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from sbert.errors import BadModel
from sbert.hub.files import write_json
from sbert.hub.modules import damaged
from sbert.nn.bert import ACTIVATIONS, Bert, BertSizes
from sbert.nn.transformer import Facts

# model_type -> the class name in transformers, and whether positions start behind the padding's.
_KINDS = {
    "bert": ("BertModel", False),
    "electra": ("ElectraModel", False),
    "roberta": ("RobertaModel", True),
    "xlm-roberta": ("XLMRobertaModel", True),
    "camembert": ("CamembertModel", True),
}
_PREFIXES = ("bert.", "electra.", "roberta.")  # checkpoints of models with a head on top
_NEEDED = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "type_vocab_size",
    "layer_norm_eps",
)
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


def is_bert(settings: dict[str, Any]) -> bool:
    """Whether these settings ask for nothing that :class:`sbert.nn.bert.Bert` does not have."""
    return (
        settings.get("model_type") in _KINDS
        and all(key in settings for key in _NEEDED)
        and settings.get("hidden_act", "gelu") in ACTIVATIONS
        and settings.get("position_embedding_type", "absolute") == "absolute"
        and not any(settings.get(key) for key in ("is_decoder", "add_cross_attention", "quantization_config"))
    )


def read_bert(settings: dict[str, Any], path: Path) -> Bert:
    """The encoder with the weights in ``path``."""
    try:
        stored = {_plain(name): tensor for name, tensor in load_file(path).items()}
        with torch.device("meta"):  # no random weights that are thrown away again
            model = Bert(_sizes(settings, pooler="pooler.dense.weight" in stored), _carried(settings))
        missing = [name for ours in model.state_dict() for name in _their_names(ours) if name not in stored]
        if missing:
            some = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
            raise BadModel(f"{path} lacks {len(missing)} tensors ({some}); download or save the model again")
        weights = {ours: torch.cat([stored[name] for name in _their_names(ours)]) for ours in model.state_dict()}
        model.load_state_dict({ours: tensor.float() for ours, tensor in weights.items()}, assign=True)
    except BadModel:
        raise
    except Exception as error:  # sizes that do not fit, files cut short: each has its own errors
        raise damaged(path, error) from error
    return model.requires_grad_().eval()


def write_bert(model: Bert, folder: Path) -> None:
    """Store config.json and model.safetensors, under the names everybody knows."""
    tensors: dict[str, Tensor] = {}
    for ours, tensor in model.state_dict().items():
        names = _their_names(ours)
        tensors |= {name: piece.contiguous() for name, piece in zip(names, tensor.chunk(len(names)), strict=True)}
    write_json(folder / "config.json", model.settings)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def _plain(name: str) -> str:
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")


def _their_names(ours: str) -> list[str]:
    """The tensors of a checkpoint that one of ours is made of: query, key and value are one matrix here."""
    module, _, part = ours.rpartition(".")
    if module in _OUTSIDE:
        return [f"{_OUTSIDE[module]}.{part}"]
    _, number, inner = module.split(".")
    return [f"encoder.layer.{number}.{name}.{part}" for name in _INSIDE[inner]]


def _carried(settings: dict[str, Any]) -> dict[str, Any]:
    """What config.json says when the model is saved again."""
    dropped = ("auto_map", "torch_dtype", "_name_or_path")
    kept = {key: value for key, value in settings.items() if key not in dropped}
    return kept | {"architectures": [_KINDS[settings["model_type"]][0]], "dtype": "float32"}


def _sizes(settings: dict[str, Any], pooler: bool) -> BertSizes:
    architecture, behind_padding = _KINDS[settings["model_type"]]
    padding = settings.get("pad_token_id", 1 if behind_padding else 0)
    first = padding + 1 if behind_padding else 0
    facts = Facts(
        architecture=architecture,
        hidden_size=settings["hidden_size"],
        depth=settings["num_hidden_layers"],
        vocabulary_size=settings["vocab_size"],
        max_length=settings["max_position_embeddings"] - first,
        first_position=first,
        segments=settings["type_vocab_size"],
        pad_token_id=padding,
    )
    return BertSizes(
        facts=facts,
        embedding_size=settings.get("embedding_size", facts.hidden_size),
        heads=settings["num_attention_heads"],
        intermediate_size=settings["intermediate_size"],
        activation=settings.get("hidden_act", "gelu"),
        norm_epsilon=settings["layer_norm_eps"],
        hidden_dropout=settings.get("hidden_dropout_prob", 0.1),
        attention_dropout=settings.get("attention_probs_dropout_prob", 0.1),
        pooler=pooler,
    )
