"""What follows the transformer, as files: pooling and heads, in every notation sentence-transformers has used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import nn

from sbert.disk.files import write_json
from sbert.errors import BadModel, shown
from sbert.hub.files import read_object
from sbert.hub.schema import WIDEST, Schema, checked, flag, number, text, text_or_texts, whole
from sbert.hub.tensors import SAFETENSORS, Stored, fill, weights_path
from sbert.nn.heads import ACTIVATIONS, Dense, Dropout, LayerNorm, Normalize, input_size
from sbert.nn.pooling import POOLINGS
from sbert.types import Pooling

_FLAGS: dict[str, Pooling] = {  # in the order of POOLINGS, in which several are concatenated
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_SHORT: dict[str, Pooling] = {{"mean_sqrt_len": "mean_sqrt_len_tokens"}.get(mode, mode): mode for mode in POOLINGS}
_POOLING = {
    "embedding_dimension": whole(1, WIDEST, default=None),
    "word_embedding_dimension": whole(1, WIDEST, default=None),
    "pooling_mode": text_or_texts(default=None),
    "include_prompt": flag(default=True),
}
_FEATURE = "sentence_embedding"
_NAMES = {"module_input_name": text(_FEATURE), "module_output_name": text(_FEATURE)}
_ACTIVATIONS = {f"{cls.__module__}.{cls.__qualname__}": name for name, cls in ACTIVATIONS.items()}
_ACTIVATIONS |= {f"torch.nn.{cls.__qualname__}": name for name, cls in ACTIVATIONS.items()}
_HEADS: dict[str, Schema] = {
    "Dense": {
        "in_features": whole(1, WIDEST),
        "out_features": whole(1, WIDEST),
        "bias": flag(default=True),
        "use_residual": flag(default=False),
        "activation_function": text("torch.nn.modules.activation.Tanh"),
    },
    "LayerNorm": {"dimension": whole(1, WIDEST)},
    "Dropout": {"dropout": number(0, 1, default=0.2)},
    "Normalize": {},
}
HEADS = tuple(_HEADS)


def read_pooling(folder: Path, hidden_size: int) -> tuple[tuple[Pooling, ...], bool]:
    """Return the poolings in order, and whether they include the tokens of the prompt."""
    path = folder / "config.json"
    stored = read_object(path)
    config = checked(stored, _POOLING, path)
    size = config["embedding_dimension"] or config["word_embedding_dimension"] or hidden_size
    if size != hidden_size:
        raise BadModel(f"{path} pools vectors of {size} dimensions, but the transformer gives {hidden_size}")
    names = config["pooling_mode"]
    return _flags(stored, path) if names is None else _short_form(names, path), config["include_prompt"]


def _short_form(stored: str | list[str], path: Path) -> tuple[Pooling, ...]:
    names = stored if isinstance(stored, list) else [stored]
    if not names or any(name not in _SHORT for name in names):
        raise BadModel(f"{path} asks for pooling {shown(stored)}, but only {', '.join(_SHORT)} are known")
    if len(names) > len(_SHORT):
        raise BadModel(f"{path} asks for {len(names):,} poolings, but at most {len(_SHORT)} are known")
    return tuple(_SHORT[name] for name in names)


def _flags(config: dict[str, Any], path: Path) -> tuple[Pooling, ...]:
    asked = checked(config, {key: flag(False) for key in config if key.startswith("pooling_mode_")}, path)
    unknown = sorted(key for key, value in asked.items() if value and key not in _FLAGS)
    if unknown:
        raise BadModel(f"{path} asks for {shown(unknown[0])}, but only {', '.join(_FLAGS)} are known")
    return tuple(mode for key, mode in _FLAGS.items() if asked.get(key)) or ("mean",)


def write_pooling(modes: tuple[Pooling, ...], include_prompt: bool, hidden_size: int, folder: Path) -> None:
    """Write the long form, which every engine reads, or the short form where only that can express the order."""
    config: dict[str, object] = {"word_embedding_dimension": hidden_size}
    if modes == tuple(mode for mode in POOLINGS if mode in modes):
        config |= {key: mode in modes for key, mode in _FLAGS.items()}
    else:
        names = {mode: name for name, mode in _SHORT.items()}
        config = {"embedding_dimension": hidden_size, "pooling_mode": [names[mode] for mode in modes]}
    write_json(folder / "config.json", config | {"include_prompt": include_prompt})


def read_head(kind: str, folder: Path, size: int, legacy_weights: bool) -> nn.Module:
    """Return the head of type ``kind`` in ``folder``, which must accept vectors of ``size`` dimensions."""
    path = folder / "config.json"
    stored = read_object(path, optional=kind == "Normalize")  # old models have no folder for it
    for key, name in checked(stored, _NAMES, path).items():
        if name != _FEATURE:
            raise BadModel(f"{path} has {key} {shown(name)}, but only {_FEATURE!r} is supported")
    with torch.device("meta"):  # no memory before the sizes have been compared with the stored tensors
        head = _head(kind, checked(stored, _HEADS[kind], path), path)
    taken = input_size(head)
    if taken not in (None, size):
        raise BadModel(f"{path} takes vectors of {taken} dimensions, but the modules before it give {size}")
    if taken is not None:
        fill(head, Stored(weights_path(folder, legacy_weights)))
    return head.eval()


def _head(kind: str, config: dict[str, Any], path: Path) -> nn.Module:
    if kind == "LayerNorm":
        return LayerNorm(config["dimension"])
    if kind == "Dropout":
        return Dropout(config["dropout"])
    if kind == "Normalize":
        return Normalize()
    if config["use_residual"]:
        raise BadModel(f"{path} has use_residual, which is not supported; only plain Dense layers are")
    activation = config["activation_function"]
    if activation not in _ACTIVATIONS:
        known = ", ".join(name.rpartition(".")[2] for name in _ACTIVATIONS if "modules" in name)
        raise BadModel(f"{path} has activation_function {shown(activation)}, but only torch.nn's {known} are known")
    return Dense(config["in_features"], config["out_features"], config["bias"], _ACTIVATIONS[activation])


def write_head(head: nn.Module, folder: Path) -> None:
    """Write one head."""
    config: dict[str, object] = {}
    if isinstance(head, Dense):
        cls = ACTIVATIONS[head.activation]
        config = {
            "in_features": head.linear.in_features,
            "out_features": head.linear.out_features,
            "bias": head.linear.bias is not None,
            "activation_function": f"{cls.__module__}.{cls.__qualname__}",
        }
    elif isinstance(head, LayerNorm):
        config = {"dimension": head.norm.normalized_shape[0]}
    elif isinstance(head, Dropout):
        config = {"dropout": head.p}
    write_json(folder / "config.json", config)
    if weights := {name: tensor.contiguous() for name, tensor in head.state_dict().items()}:
        save_file(weights, folder / SAFETENSORS, metadata={"format": "pt"})
