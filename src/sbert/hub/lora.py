"""Merges a LoRA adapter of PEFT into its base model while the transformer is read. No code and no pickle is run.

The folder names the base model. It is read from a local folder, an installed package, or what has been downloaded
before: a folder does not decide what is fetched from the network.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import Tensor

from sbert.errors import BadModel, ModelNotFound, listed, shown
from sbert.hub.files import read_object, refusal
from sbert.hub.find import Access, resolve
from sbert.hub.kind import ADAPTER
from sbert.hub.schema import FLAG, TEXT, Schema, checked, number
from sbert.hub.tensors import Stored

_WEIGHTS = "adapter_model.safetensors"
_PREFIX = "base_model.model."
_SETTINGS: Schema = {
    "peft_type": TEXT.otherwise("LORA"),
    "base_model_name_or_path": TEXT,
    "r": number(1, 1 << 20),
    "lora_alpha": number(0, 1 << 20).otherwise(8),
    "use_rslora": FLAG.otherwise(False),
    "bias": TEXT.otherwise("none"),
}
_UNKNOWN = (
    "use_dora",
    "fan_in_fan_out",
    "modules_to_save",
    "alpha_pattern",
    "rank_pattern",
    "trainable_token_indices",
)
"""Settings that change more than the product of two small matrices; they must be empty."""


def base_of(folder: Path) -> Path:
    """Return the local folder of the model that the adapter in ``folder`` changes."""
    name = _settings(folder)["base_model_name_or_path"]
    try:
        base = resolve(name, access=Access(local_files_only=True))
    except ModelNotFound:
        raise BadModel(
            f"{folder} holds an adapter of {shown(name)}, which is not on this machine; load that model once by its "
            "name, then the adapter"
        ) from None
    if (base / ADAPTER).is_file():
        raise BadModel(f"{folder} holds an adapter of an adapter, {base}; merge that one first and save the model")
    return base


def home(folder: Path) -> Path:
    """Return the folder that has what a bare adapter lacks: its base model. Any other folder is its own home."""
    return base_of(folder) if (folder / ADAPTER).is_file() else folder


def merge(folder: Path, weight_of: Callable[[str], Tensor | None]) -> None:
    """Add the adapter in ``folder`` to the weights of its base model.

    Args:
        folder: The folder of the adapter.
        weight_of: Returns the weights of a linear layer by the name in checkpoints, to be changed in place, or None.
    """
    settings, stored = _settings(folder), Stored(folder / _WEIGHTS)
    parts = {name.removeprefix(_PREFIX): shape for name, shape in stored.shapes.items()}
    layers = sorted(name.removesuffix(".lora_A.weight") for name in parts if name.endswith(".lora_A.weight"))
    expected = {f"{layer}.lora_{side}.weight" for layer in layers for side in "AB"}
    if not layers or expected != parts.keys():
        odd = sorted(expected ^ parts.keys())
        raise BadModel(
            f"{folder} holds {listed(odd, most=3)}, but pairs of lora_A and lora_B are expected; merge it with PEFT"
        )
    rank = settings["r"]
    scale = settings["lora_alpha"] / (rank**0.5 if settings["use_rslora"] else rank)
    for layer in layers:
        down, up = (stored.read(f"{_prefix(stored)}{layer}.lora_{side}.weight").float() for side in "AB")
        weight = weight_of(layer)
        if weight is None or down.ndim != 2 or up.ndim != 2 or weight.shape != (len(up), down.shape[1]):
            raise refusal(folder / _WEIGHTS, f"does not fit its base model at {shown(layer)}")
        if len(down) != rank or up.shape[1] != rank:
            raise refusal(folder / _WEIGHTS, f"has another rank than {rank} at {shown(layer)}")
        weight += scale * (up @ down)


def _prefix(stored: Stored) -> str:
    return _PREFIX if all(name.startswith(_PREFIX) for name in stored.shapes) else ""


def _settings(folder: Path) -> dict[str, Any]:
    path = folder / ADAPTER
    config = read_object(path)
    settings = checked(config, _SETTINGS, path)
    odd = [name for name in _UNKNOWN if config.get(name)]
    if settings["peft_type"] != "LORA" or settings["bias"] != "none" or odd:
        what = odd[0] if odd else f"peft_type {settings['peft_type']} and bias {settings['bias']}"
        raise BadModel(
            f"{path} has {what}, but only plain LoRA is merged; merge the adapter with PEFT and save the model"
        )
    return settings
