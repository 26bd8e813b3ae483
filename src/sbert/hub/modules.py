"""What follows the transformer, as files: pooling and heads, in every notation sentence-transformers has used."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from sbert.disk.files import write_json
from sbert.errors import BadModel, shown
from sbert.hub.files import read_object
from sbert.hub.limits import WIDEST
from sbert.hub.schema import FLAG, TEXT, TEXT_OR_TEXTS, Schema, checked, number, whole
from sbert.hub.tensors import SAFETENSORS, Stored, fill, weights_path, write_tensors
from sbert.nn.heads import ACTIVATIONS, Dense, Dropout, LayerNorm, Normalize, input_size
from sbert.nn.pooling import POOLINGS
from sbert.types import Pooling

Key = TypeVar("Key")

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
    "embedding_dimension": whole(1, WIDEST).otherwise(None),
    "word_embedding_dimension": whole(1, WIDEST).otherwise(None),
    "pooling_mode": TEXT_OR_TEXTS.otherwise(None),
    "include_prompt": FLAG.otherwise(True),
}
_FEATURE = "sentence_embedding"
_NAMES = {"module_input_name": TEXT.otherwise(_FEATURE), "module_output_name": TEXT.otherwise(_FEATURE)}
_HEADS: dict[str, Schema] = {
    "Dense": {
        "in_features": whole(1, WIDEST),
        "out_features": whole(1, WIDEST),
        "bias": FLAG.otherwise(True),
        "use_residual": FLAG.otherwise(False),
        "activation_function": TEXT.otherwise("torch.nn.modules.activation.Tanh"),
    },
    "LayerNorm": {"dimension": whole(1, WIDEST)},
    "Dropout": {"dropout": number(0, 1).otherwise(0.2)},
    "Normalize": {},
}
_SIMPLE: dict[str, type[nn.Module]] = {"LayerNorm": LayerNorm, "Dropout": Dropout, "Normalize": Normalize}
"""Heads that are built from the values of their settings."""
HEADS = tuple(_HEADS)


def read_pooling(folder: Path, hidden_size: int) -> tuple[tuple[Pooling, ...], bool]:
    """Return the poolings in order, and whether they include the tokens of the prompt."""
    path = folder / "config.json"
    stored = read_object(path)
    config = checked(stored, _POOLING, path)
    size = config["embedding_dimension"] or config["word_embedding_dimension"] or hidden_size
    if size != hidden_size:
        raise BadModel(f"{path} pools vectors of {size} dimensions, but the transformer gives {hidden_size}")
    named = config["pooling_mode"]
    return _flagged(stored, path) if named is None else _named(named, path), config["include_prompt"]


def _named(stored: str | list[str], path: Path) -> tuple[Pooling, ...]:
    names = stored if isinstance(stored, list) else [stored]
    if not 1 <= len(names) <= len(_SHORT) or not set(names) <= set(_SHORT):
        known = f"{', '.join(_SHORT)} are known, at most {len(_SHORT)} at once"
        raise BadModel(f"{path} asks for pooling {shown(stored)}, but only {known}")
    return tuple(_SHORT[name] for name in names)


def _flagged(config: dict[str, Any], path: Path) -> tuple[Pooling, ...]:
    asked = checked(config, {key: FLAG.otherwise(False) for key in config if key.startswith("pooling_mode_")}, path)
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
    if kind in _SIMPLE:
        return _SIMPLE[kind](*config.values())
    if config["use_residual"]:
        raise BadModel(f"{path} has use_residual, which is not supported; only plain Dense layers are")
    activation = by_path(config["activation_function"], ACTIVATIONS, f"{path} has activation_function")
    return Dense(config["in_features"], config["out_features"], config["bias"], activation)


def by_path(stored: object, classes: Mapping[Key, type[nn.Module]], where: str) -> Key:
    """Return the key of the class of torch.nn that a configuration names by its path; ``where`` begins the error."""
    place, _, name = str(stored).rpartition(".")
    known = {cls.__name__: key for key, cls in classes.items()}
    if place.split(".")[:2] != ["torch", "nn"] or name not in known:
        raise BadModel(f"{where} {shown(stored)}, but only torch.nn's {', '.join(known)} are known")
    return known[name]


def path_of(cls: type[nn.Module]) -> str:
    """Return the path of a class as sentence-transformers writes it."""
    return f"{cls.__module__}.{cls.__qualname__}"


def write_head(head: nn.Module, folder: Path) -> None:
    """Write one head."""
    config: dict[str, object] = {}
    if isinstance(head, Dense):
        config = {
            "in_features": head.linear.in_features,
            "out_features": head.linear.out_features,
            "bias": head.linear.bias is not None,
            "activation_function": path_of(ACTIVATIONS[head.activation]),
        }
    elif isinstance(head, LayerNorm):
        config = {"dimension": head.norm.normalized_shape[0]}
    elif isinstance(head, Dropout):
        config = {"dropout": head.p}
    write_json(folder / "config.json", config)
    if weights := head.state_dict():
        write_tensors(weights, folder / SAFETENSORS)
