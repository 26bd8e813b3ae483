"""Reads and writes the folder of a bi-encoder, in the layout of sentence-transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
from safetensors.numpy import save_file

from sbert.disk.files import real, write_json
from sbert.errors import BadModel, listed, shown
from sbert.hub import bundled
from sbert.hub.card import card
from sbert.hub.files import inside, read_object, reads_folder, whole_model
from sbert.hub.kind import BI, MODULES, SETTINGS, kind_of, listed_modules, versions, way_to_load
from sbert.hub.modules import HEADS, read_head, read_pooling, write_head, write_pooling
from sbert.hub.parts import Parts
from sbert.hub.reference import read_reference, write_reference
from sbert.hub.schema import checked, choice, table, text, whole
from sbert.hub.tensors import Stored
from sbert.hub.vocabulary import read_tokenizer, write_sentence_config, write_tokenizer
from sbert.hub.weights import lacks_pooler, read_transformer, write_transformer
from sbert.nn.heads import output_size
from sbert.nn.transformer import Transformer
from sbert.text import Tokenizer
from sbert.types import FloatArray, Pooling, Similarity

_CALIBRATION = "calibration.safetensors"
_REFERENCE = "reference.json"
_SETTINGS = {
    "prompts": table(default={}),
    "default_prompt_name": text(None),
    "similarity_fn_name": choice(get_args(Similarity), default="cosine"),
}


@reads_folder
def read(folder: Path, *, legacy_weights: bool = False) -> Parts:
    """Return the parts of the bi-encoder in ``folder``.

    A plain encoder, without modules.json, gets mean pooling and no heads.

    Args:
        folder: A model folder; see :func:`sbert.hub.resolve` for names.
        legacy_weights: Whether to accept ``pytorch_model.bin``, which is read without running any code from it.
    """
    return read_parts(folder, legacy_weights)


@reads_folder
def read_backbone(folder: Path) -> tuple[Tokenizer, Transformer]:
    """Return tokenizer and transformer alone, of a plain encoder or of any model."""
    return _read_backbone(_read_modules(folder)[0][1])


def read_parts(folder: Path, legacy_weights: bool = False) -> Parts:
    """Return the same as :func:`read`, for functions that are protected themselves."""
    kind = kind_of(folder) or BI
    if kind != BI:
        raise BadModel(f"{folder} holds a {kind}, but a bi-encoder ({BI}) is expected; {way_to_load(kind)}")
    settings = read_object(folder / SETTINGS, optional=True)
    modules = _read_modules(folder)
    tokenizer, transformer = _read_backbone(modules[0][1], legacy_weights)
    pooling: tuple[Pooling, ...] = ("mean",)
    include_prompt = True
    if len(modules) > 1:
        pooling, include_prompt = read_pooling(modules[1][1], transformer.facts.hidden_size)
    heads: list[torch.nn.Module] = []
    size = transformer.facts.hidden_size * len(pooling)
    for kind, path in modules[2:]:
        heads.append(read_head(kind, path, size, legacy_weights))
        size = output_size(heads[-1:], size)
    return Parts(
        tokenizer=tokenizer,
        transformer=transformer,
        pooling=pooling,
        include_prompt=include_prompt,
        heads=tuple(heads),
        **_read_settings(settings, folder / SETTINGS, size),
        ranges=_read_ranges(folder / _CALIBRATION, size),
        reference=read_reference(bundled.reference_path(folder) or folder / _REFERENCE),
    )


def _read_backbone(folder: Path, legacy_weights: bool = False) -> tuple[Tokenizer, Transformer]:
    transformer = read_transformer(folder, legacy_weights)
    return read_tokenizer(folder, transformer), transformer


def _read_modules(folder: Path) -> list[tuple[str, Path]]:
    """Return kind and folder of each module: a transformer, its pooling, and heads."""
    path = folder / MODULES
    if not path.is_file():
        return [("Transformer", folder)]
    modules = [(_kind(name, path), inside(folder, place, path)) for name, place in listed_modules(path)]
    kinds = [kind for kind, _ in modules]
    if kinds[:2] != ["Transformer", "Pooling"] or not set(kinds[2:]) <= set(HEADS):
        raise BadModel(
            f"{path} lists {listed(kinds) or 'nothing'}, but Transformer, Pooling, and then any of "
            f"{', '.join(HEADS)} are expected"
        )
    return modules


def _kind(name: str, path: Path) -> str:
    """Return the last part of a class path, whichever release of sentence-transformers wrote it."""
    if not name.startswith("sentence_transformers."):
        raise BadModel(f"{path} asks for the module {shown(name)}, whose code is not known here and never run")
    return name.rpartition(".")[2]


def _read_settings(settings: dict[str, Any], path: Path, dimensions: int) -> dict[str, Any]:
    said = checked(settings, _SETTINGS | {"truncate_dim": whole(1, dimensions, default=None)}, path)
    prompts = {name: prompt for name, prompt in said["prompts"].items() if prompt is not None}
    default = said["default_prompt_name"]
    if default is not None and default not in prompts:
        raise BadModel(
            f"{path} has default_prompt_name {shown(default)}, but its prompts are {listed(prompts) or 'none'}"
        )
    return {
        "prompts": prompts,
        "default_prompt_name": default,
        "similarity": said["similarity_fn_name"],
        "truncate_dim": said["truncate_dim"],
    }


def _read_ranges(path: Path, dimensions: int) -> FloatArray | None:
    if not path.is_file():
        return None
    stored = Stored(path)
    if stored.shapes.get("ranges") != (2, dimensions):
        raise BadModel(f"{path} is damaged: it has no ranges of shape {(2, dimensions)}; delete it, or save it again")
    ranges: FloatArray = stored.read("ranges").float().numpy().copy()
    return ranges


def write(parts: Parts, folder: Path) -> None:
    """Save a bi-encoder whole or not at all. Replaces a model, but no other folder."""
    with whole_model(folder) as draft:
        write_into(draft, parts, real(folder).name)


def write_into(draft: Path, parts: Parts, name: str) -> None:
    """Write the files of a bi-encoder into an empty folder that will be called ``name``."""
    write_transformer(parts.transformer, draft)
    write_tokenizer(parts.tokenizer, parts.transformer, draft)
    # Without this, other libraries create and report a random pooler.
    bare = {"model_args": {"add_pooling_layer": False}} if lacks_pooler(parts.transformer) else {}
    write_sentence_config(parts.tokenizer, draft, bare)
    modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    for index, head in enumerate([None, *parts.heads], 1):
        kind = "Pooling" if head is None else type(head).__name__
        place = draft / f"{index}_{kind}"
        place.mkdir()
        if head is None:
            write_pooling(parts.pooling, parts.include_prompt, parts.transformer.facts.hidden_size, place)
        else:
            write_head(head, place)
        modules.append(
            {"idx": index, "name": str(index), "path": place.name, "type": f"sentence_transformers.models.{kind}"}
        )
    write_json(draft / MODULES, modules)
    write_json(draft / SETTINGS, _settings(parts))
    if parts.ranges is not None:
        save_file({"ranges": np.ascontiguousarray(parts.ranges)}, draft / _CALIBRATION)
    if parts.reference is not None:
        write_reference(parts.reference, draft / _REFERENCE)
    (draft / "README.md").write_text(card(parts, name), encoding="utf-8")


def _settings(parts: Parts) -> dict[str, object]:
    settings: dict[str, object] = {
        "model_type": BI,
        "__version__": versions(),
        "prompts": parts.prompts,
        "default_prompt_name": parts.default_prompt_name,
        "similarity_fn_name": parts.similarity,
    }
    return settings if parts.truncate_dim is None else settings | {"truncate_dim": parts.truncate_dim}
