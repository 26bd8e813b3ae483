"""A whole model folder, read and written. The layout is sentence-transformers', so either side reads the other's."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any, get_args

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from sbert.errors import BadModel
from sbert.hub import bundled
from sbert.hub.card import card
from sbert.hub.files import entry, read_object, real, whole_folder, write_json
from sbert.hub.kind import BI, MODULES, SETTINGS, kind_of, listed_modules, versions, way_to_load
from sbert.hub.modules import HEADS, damaged, read_head, read_pooling, write_head, write_pooling
from sbert.hub.parts import Parts
from sbert.hub.reference import read_reference, write_reference
from sbert.hub.vocabulary import read_tokenizer, write_sentence_config, write_tokenizer
from sbert.hub.weights import lacks_pooler, read_transformer, write_transformer
from sbert.nn.heads import output_size
from sbert.nn.transformer import Transformer
from sbert.text import Tokenizer
from sbert.types import FloatArray, Pooling, Similarity

_CALIBRATION = "calibration.safetensors"
_REFERENCE = "reference.json"


def read(folder: Path, *, legacy_weights: bool = False) -> Parts:
    """The model in ``folder``. A plain encoder, without modules.json, gets mean pooling and no heads.

    Args:
        folder: a model folder; see :func:`sbert.hub.resolve` for names.
        legacy_weights: accept ``pytorch_model.bin``, read without running any code from it.
    """
    settings = read_object(folder / SETTINGS, optional=True)
    _check_kind(folder)
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
        ranges=_read_ranges(folder / _CALIBRATION),
        reference=read_reference(bundled.reference_path(folder) or folder / _REFERENCE),
    )


def read_backbone(folder: Path) -> tuple[Tokenizer, Transformer]:
    """Tokenizer and transformer alone, of a plain encoder or of any model."""
    return _read_backbone(_read_modules(folder)[0][1])


def _read_backbone(folder: Path, legacy_weights: bool = False) -> tuple[Tokenizer, Transformer]:
    transformer = read_transformer(folder, legacy_weights)
    return read_tokenizer(folder, transformer), transformer


def _check_kind(folder: Path) -> None:
    kind = kind_of(folder) or BI
    if kind != BI:
        raise BadModel(f"{folder} holds a {kind}, but a bi-encoder ({BI}) is expected; {way_to_load(kind)}")


def _read_modules(folder: Path) -> list[tuple[str, Path]]:
    """Kind and folder of each module: a transformer, its pooling, and heads."""
    path = folder / MODULES
    if not path.is_file():
        return [("Transformer", folder)]
    modules = [(name, PurePosixPath(place)) for name, place in listed_modules(path)]
    for _, place in modules:
        if place.is_absolute() or ".." in place.parts:
            raise BadModel(f"{path} points to {place}, outside of the model folder")
    kinds = [_kind(name, path) for name, _ in modules]
    if kinds[:2] != ["Transformer", "Pooling"] or not set(kinds[2:]) <= set(HEADS):
        raise BadModel(
            f"{path} lists {', '.join(kinds) or 'nothing'}, but Transformer, Pooling, and then any of "
            f"{', '.join(HEADS)} are expected"
        )
    return [(kind, folder / place) for kind, (_, place) in zip(kinds, modules, strict=True)]


def _kind(name: str, path: Path) -> str:
    """The last part of a class path, whichever release of sentence-transformers wrote it."""
    if not name.startswith("sentence_transformers."):
        raise BadModel(f"{path} asks for the module {name}, whose code is not known here and never run")
    return name.rpartition(".")[2]


def _read_settings(settings: dict[str, Any], path: Path, dimensions: int) -> dict[str, Any]:
    prompts = _read_prompts(settings, path)
    default = entry(settings, "default_prompt_name", str, path)
    if default is not None and default not in prompts:
        raise BadModel(
            f"{path} has default_prompt_name {default!r}, but its prompts are {', '.join(prompts) or 'none'}"
        )
    similarity = settings.get("similarity_fn_name") or "cosine"
    if similarity not in get_args(Similarity):
        raise BadModel(
            f"{path} has similarity_fn_name {similarity!r}, but only {', '.join(get_args(Similarity))} are known"
        )
    size = entry(settings, "truncate_dim", int, path)
    if size is not None and not 1 <= size <= dimensions:
        raise BadModel(f"{path} has truncate_dim {size}, but the model gives 1 to {dimensions} dimensions")
    return {"prompts": prompts, "default_prompt_name": default, "similarity": similarity, "truncate_dim": size}


def _read_prompts(settings: dict[str, Any], path: Path) -> dict[str, str]:
    stored = entry(settings, "prompts", dict, path) or {}
    prompts = {name: entry(stored, name, str, path) for name in stored}
    return {name: text for name, text in prompts.items() if text is not None}


def _read_ranges(path: Path) -> FloatArray | None:
    if not path.is_file():
        return None
    try:
        ranges: FloatArray = load_file(path)["ranges"]
    except (OSError, SafetensorError, KeyError) as error:
        raise damaged(path, error) from error
    return ranges


def write(parts: Parts, folder: Path) -> None:
    """Save ``parts`` whole or not at all; a model that is already there is replaced, any other folder is not."""
    with whole_folder(folder) as draft:
        write_into(draft, parts, real(folder).name)


def write_into(draft: Path, parts: Parts, name: str) -> None:
    """Write the files of ``parts`` into an empty folder that is going to be called ``name``."""
    write_transformer(parts.transformer, draft)
    write_tokenizer(parts.tokenizer, parts.transformer, draft)
    # Without this, loading it elsewhere makes and reports a random pooler.
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
