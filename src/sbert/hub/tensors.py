"""The tensors of a model folder: where they are stored, their names and shapes, and how a module receives them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from sbert.errors import BadModel, listed, shown
from sbert.hub import bundled
from sbert.hub.files import check_file, inside, read_object, reading, refusal

SAFETENSORS, _PICKLE = "model.safetensors", "pytorch_model.bin"
_INDEX = ".index.json"


def weights_path(folder: Path, legacy_weights: bool = False) -> Path:
    """Return the file of weights in ``folder``: safetensors, or a pickle where that is allowed and nothing better.

    A packaged model may have a pickle, because its digest is known. The path may be an index, which lists the files
    that hold the tensors.
    """
    for name in (SAFETENSORS, SAFETENSORS + _INDEX, _PICKLE, _PICKLE + _INDEX):
        if not (folder / name).is_file():
            continue
        if name.startswith(_PICKLE) and not legacy_weights and not bundled.is_published(folder / name):
            raise BadModel(
                f"{folder} has its weights only as {name}, a pickle, which can hide code; "
                "pass legacy_weights=True to read it with torch's weights_only loader, then save the model again"
            )
        return folder / name
    raise refusal(folder / SAFETENSORS, "is missing")


class Stored:
    """The tensors in a file of weights, or in all files that an index lists.

    Names and shapes are known at once; the data of safetensors is read on demand.

    Args:
        path: What :func:`weights_path` returned, or any safetensors file.
        rename: Translates the names in the file.
    """

    def __init__(self, path: Path, rename: Callable[[str], str] = str) -> None:
        self.path = path
        self.shapes: dict[str, tuple[int, ...]] = {}
        self._read: dict[str, Callable[[], Tensor]] = {}
        with reading(path):
            for file in _files(path):
                for name, shape, read in _tensors(file):
                    self.shapes[rename(name)] = tuple(shape)
                    self._read[rename(name)] = read

    def read(self, name: str) -> Tensor:
        """Return one tensor."""
        with reading(self.path):
            return self._read[name]()


def _files(path: Path) -> list[Path]:
    """Return the files of tensors: ``path`` itself, or what it lists if it is an index."""
    if not path.name.endswith(_INDEX):
        return [path]
    places = read_object(path).get("weight_map")
    suffix = ".bin" if ".bin" in path.name else ".safetensors"
    if not isinstance(places, dict) or not all(isinstance(p, str) and p.endswith(suffix) for p in places.values()):
        raise BadModel(f"{path} must have a weight_map from tensors to {suffix} files; download the model again")
    files = [inside(path.parent, place, path) for place in sorted(set(places.values()))]
    if missing := [file for file in files if not file.is_file()]:
        raise BadModel(f"{missing[0]} is missing, which {path.name} lists; download the model again")
    return files


def _tensors(path: Path) -> Iterator[tuple[str, Collection[int], Callable[[], Tensor]]]:
    """Yield the name and the shape of each tensor in a file, and a function that reads it."""
    check_file(path)  # to open a pipe would wait for its writer
    if path.suffix == ".bin":
        for name, tensor in torch.load(path, "cpu", weights_only=True).items():
            yield name, tensor.shape, tensor.detach
        return
    file: Any = safe_open(path, "pt")  # stays open as long as its tensors may be read
    for name in file.keys():  # noqa: SIM118
        yield name, file.get_slice(name).get_shape(), partial(file.get_tensor, name)


def fill(
    module: nn.Module,
    stored: Stored,
    their_names: Callable[[str], list[str]] = lambda name: [name],
    besides: Collection[str] = (),
) -> None:
    """Give a module that was built on the meta device its weights, in float32.

    Names and shapes are compared before any memory is allocated. Every weight is copied out of the mapped file,
    where tensors lie at addresses at which some matrix products round differently.

    Args:
        module: Its tensors have shapes but no memory.
        stored: Where the weights are.
        their_names: Stored tensors that one of the module's tensors is the concatenation of.
        besides: Stored tensors that belong to something else. Any other tensor that the module lacks is refused.
    """
    wanted = {ours: their_names(ours) for ours in module.state_dict()}
    used = [name for names in wanted.values() for name in names]
    if missing := [name for name in used if name not in stored.shapes]:
        raise lacks(stored.path, missing)
    if extra := sorted(stored.shapes.keys() - {*used, *besides}):
        raise misfit(stored.path, f"it has {listed(extra, most=3)} besides")
    for ours, tensor in module.state_dict().items():
        expected = (len(tensor) // len(wanted[ours]), *tensor.shape[1:])
        for name in wanted[ours]:
            if (shape := stored.shapes[name]) != expected:
                raise misfit(stored.path, f"{shown(name)} has the shape {shown(shape)}, but {expected} is expected")
    weights = {ours: torch.cat([stored.read(name) for name in names]).float() for ours, names in wanted.items()}
    module.load_state_dict(weights, assign=True)


def read_tensor(path: Path, name: str, shape: tuple[int, ...]) -> Tensor:
    """Return the tensor called ``name``, which must have this shape, in float32 and copied like those of a module."""
    stored = Stored(path)
    if (found := stored.shapes.get(name)) != shape:
        raise refusal(path, f"is damaged: it holds {name} of shape {shown(found)}, but {shape} is expected")
    return stored.read(name).float().clone()


def write_tensors(tensors: dict[str, Tensor], path: Path) -> None:
    """Write a safetensors file that transformers reads, too."""
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path, metadata={"format": "pt"})


def lacks(path: Path, names: list[str]) -> BadModel:
    """Return the error for tensors that are missing."""
    return refusal(path, f"lacks {len(names)} tensors ({listed(names, most=3)})")


def misfit(path: Path, why: str) -> BadModel:
    """Return the error for weights that are not those of the model that config.json describes."""
    return refusal(path, f"is damaged or does not fit its config.json ({why})")
