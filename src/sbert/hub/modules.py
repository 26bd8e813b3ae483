"""What follows the transformer, as files: pooling and heads, in every spelling sentence-transformers has used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from sbert.errors import BadModel
from sbert.hub.files import entry, read_object, write_json
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
_FEATURE = "sentence_embedding"


def read_pooling(folder: Path, hidden_size: int) -> tuple[tuple[Pooling, ...], bool]:
    """The poolings in order, and whether they count the prompt's tokens."""
    path = folder / "config.json"
    config = read_object(path)
    size = config.get("embedding_dimension", config.get("word_embedding_dimension", hidden_size))
    if size != hidden_size:
        raise BadModel(f"{path} pools vectors of {size} dimensions, but the transformer gives {hidden_size}")
    modes = _short_form(config, path) if "pooling_mode" in config else _flags(config, path)
    return modes, bool(config.get("include_prompt", True))


def _short_form(config: dict[str, Any], path: Path) -> tuple[Pooling, ...]:
    stored = entry(config, "pooling_mode", str | list, path)
    names = stored if isinstance(stored, list) else [stored]
    if not names or any(name not in list(_SHORT) for name in names):  # a list, for not every name can be hashed
        raise BadModel(f"{path} asks for pooling {stored!r}, but only {', '.join(_SHORT)} are known")
    return tuple(_SHORT[name] for name in names)


def _flags(config: dict[str, Any], path: Path) -> tuple[Pooling, ...]:
    asked = [key for key, value in config.items() if key.startswith("pooling_mode_") and value]
    unknown = sorted(set(asked) - set(_FLAGS))
    if unknown:
        raise BadModel(f"{path} asks for {unknown[0]!r}, but only {', '.join(_FLAGS)} are known")
    return tuple(mode for key, mode in _FLAGS.items() if key in asked) or ("mean",)


def write_pooling(modes: tuple[Pooling, ...], include_prompt: bool, hidden_size: int, folder: Path) -> None:
    """In the long form, which every engine reads; in the short form where only that can say the order."""
    config: dict[str, object] = {"word_embedding_dimension": hidden_size}
    if modes == tuple(mode for mode in POOLINGS if mode in modes):
        config |= {key: mode in modes for key, mode in _FLAGS.items()}
    else:
        names = {mode: name for name, mode in _SHORT.items()}
        config = {"embedding_dimension": hidden_size, "pooling_mode": [names[mode] for mode in modes]}
    write_json(folder / "config.json", config | {"include_prompt": include_prompt})


def read_head(kind: str, folder: Path, size: int, legacy_weights: bool) -> nn.Module:
    """The head of type ``kind`` in ``folder``, which must accept vectors of ``size`` dimensions."""
    path = folder / "config.json"
    config = read_object(path, optional=kind == "Normalize")  # old models have no folder for it
    for key in ("module_input_name", "module_output_name"):
        if (config.get(key) or _FEATURE) != _FEATURE:
            raise BadModel(f"{path} has {key} {config[key]!r}, but only {_FEATURE!r} is supported")
    try:
        head = _READ[kind](config, path)
    except KeyError as error:
        raise BadModel(f"{path} lacks {error}, which {kind} needs; save the model again") from None
    taken = input_size(head)
    if taken not in (None, size):
        raise BadModel(f"{path} takes vectors of {taken} dimensions, but the modules before it give {size}")
    if taken is not None:
        _load_weights(head, folder, legacy_weights)
    return head.eval()


def _read_dense(config: dict[str, Any], path: Path) -> nn.Module:
    if config.get("use_residual"):
        raise BadModel(f"{path} has use_residual, which is not supported; only plain Dense layers are")
    activation = config.get("activation_function", "torch.nn.modules.activation.Tanh")
    if activation not in _ACTIVATIONS:
        known = ", ".join(name.rpartition(".")[2] for name in _ACTIVATIONS if "modules" in name)
        raise BadModel(f"{path} has activation_function {activation!r}, but only torch.nn's {known} are known")
    return Dense(config["in_features"], config["out_features"], config.get("bias", True), _ACTIVATIONS[activation])


def _class_path(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


_ACTIVATIONS = {_class_path(cls): name for name, cls in ACTIVATIONS.items()}
_ACTIVATIONS |= {f"torch.nn.{cls.__qualname__}": name for name, cls in ACTIVATIONS.items()}
_READ: dict[str, Callable[[dict[str, Any], Path], nn.Module]] = {
    "Dense": _read_dense,
    "LayerNorm": lambda config, path: LayerNorm(config["dimension"]),
    "Dropout": lambda config, path: Dropout(config.get("dropout", 0.2)),
    "Normalize": lambda config, path: Normalize(),
}
HEADS = tuple(_READ)


def _load_weights(head: nn.Module, folder: Path, legacy_weights: bool) -> None:
    path = weights_path(folder, legacy_weights)
    try:
        weights = torch.load(path, "cpu", weights_only=True) if path.suffix == ".bin" else load_file(path)
        head.load_state_dict(weights)
    except Exception as error:  # each format has its own errors
        raise damaged(path, error) from error
    head.float()


def weights_path(folder: Path, legacy_weights: bool) -> Path:
    """The weights in ``folder``: safetensors, or a pickle where that is allowed and nothing better is there."""
    for name in ("model.safetensors", "model.safetensors.index.json"):
        if (folder / name).is_file():
            return folder / name
    for name in ("pytorch_model.bin", "pytorch_model.bin.index.json"):
        if (folder / name).is_file() and legacy_weights:
            return folder / name
        if (folder / name).is_file():
            raise BadModel(
                f"{folder} has its weights only as {name}, a pickle, which can hide code; "
                "pass legacy_weights=True to read it with torch's weights_only loader, then save the model again"
            )
    raise BadModel(f"{folder / 'model.safetensors'} is missing; download or save the model again")


def damaged(path: Path, error: Exception) -> BadModel:
    """One sentence about weights that do not load."""
    reason = " ".join(str(error).split())
    return BadModel(f"{path} is damaged or does not fit its config.json ({reason}); download or save the model again")


def write_head(head: nn.Module, folder: Path) -> None:
    """Store one head."""
    config: dict[str, object] = {}
    if isinstance(head, Dense):
        config = {
            "in_features": head.linear.in_features,
            "out_features": head.linear.out_features,
            "bias": head.linear.bias is not None,
            "activation_function": _class_path(ACTIVATIONS[head.activation]),
        }
    elif isinstance(head, LayerNorm):
        config = {"dimension": head.norm.normalized_shape[0]}
    elif isinstance(head, Dropout):
        config = {"dropout": head.p}
    write_json(folder / "config.json", config)
    if weights := {name: tensor.contiguous() for name, tensor in head.state_dict().items()}:
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
