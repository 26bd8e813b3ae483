"""Reads and writes the folder of a bi-encoder, in the layout of sentence-transformers."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
from safetensors.numpy import save_file

from sbert.disk.files import real, write_json
from sbert.errors import BadModel, listed, shown
from sbert.hub import bundled, lora
from sbert.hub.card import write_card
from sbert.hub.files import inside, reads_folder, refusal, whole_model
from sbert.hub.kind import BI, MODULES, POLY, SETTINGS, kind_of, listed_modules, versions, write_modules, wrong_kind
from sbert.hub.limits import MOST_PROMPTS
from sbert.hub.modules import HEADS, read_head, read_pooling, write_head, write_pooling
from sbert.hub.parts import Parts
from sbert.hub.reference import read_reference, write_reference
from sbert.hub.schema import TABLE, TEXT, choice, read_settings, whole
from sbert.hub.tensors import read_tensor
from sbert.hub.transformer import lacks_pooler, read_transformer, write_transformer
from sbert.hub.vocabulary import read_tokenizer, write_tokenizer
from sbert.nn.heads import output_size
from sbert.nn.transformer import Transformer
from sbert.text import Tokenizer
from sbert.types import Pooling, Similarity

logger = logging.getLogger(__name__)

_SETFIT_HEAD = "model_head.pkl"
_CALIBRATION = "calibration.safetensors"
_REFERENCE = "reference.json"
_SETTINGS = {
    "prompts": TABLE.otherwise({}),
    "default_prompt_name": TEXT.otherwise(None),
    "similarity_fn_name": choice(get_args(Similarity)).otherwise("cosine"),
}


@reads_folder
def read_backbone(folder: Path) -> tuple[Tokenizer, Transformer]:
    """Return tokenizer and transformer alone, of a plain encoder or of any model."""
    place = _read_modules(folder)[0][1]
    transformer = read_transformer(place)
    return read_tokenizer(place, transformer), transformer


def read_parts(folder: Path, *, legacy_weights: bool = False) -> Parts:
    """Return the parts of the bi-encoder in ``folder``.

    A plain encoder, without modules.json, gets mean pooling and no heads.

    Args:
        folder: A model folder; see :func:`sbert.hub.resolve` for names.
        legacy_weights: Whether to accept ``pytorch_model.bin``, which is read without running any code from it.
    """
    kind = kind_of(folder) or BI
    if kind not in (BI, POLY):
        raise wrong_kind(folder, kind, f"a bi-encoder ({BI}) is")
    (_, place), *others = _read_modules(folder)
    _warn_about_classifier(folder)
    transformer = read_transformer(place, legacy_weights)
    tokenizer = read_tokenizer(place, transformer)
    pooling: tuple[Pooling, ...] = ("mean",)
    include_prompt = True
    if others:
        pooling, include_prompt = read_pooling(others[0][1], transformer.facts.hidden_size)
    heads: list[torch.nn.Module] = []
    size = transformer.facts.hidden_size * len(pooling)
    for kind, path in others[1:]:
        heads.append(read_head(kind, path, size, legacy_weights))
        size = output_size(heads[-1:], size)
    calibration = folder / _CALIBRATION
    return Parts(
        tokenizer=tokenizer,
        transformer=transformer,
        pooling=pooling,
        include_prompt=include_prompt,
        heads=tuple(heads),
        **_read_settings(_home(folder) / SETTINGS, size),
        ranges=read_tensor(calibration, "ranges", (2, size)).numpy() if calibration.is_file() else None,
        reference=read_reference(bundled.reference_path(folder) or folder / _REFERENCE),
    )


read = reads_folder(read_parts)


def _read_modules(folder: Path) -> list[tuple[str, Path]]:
    """Return kind and folder of each module: a transformer, its pooling, and heads."""
    path = folder / MODULES
    if not path.is_file():
        base = _home(folder)
        return [("Transformer", folder), *(_read_modules(base)[1:] if base != folder else [])]
    modules = []
    for name, place in listed_modules(path):
        if not name.startswith("sentence_transformers."):
            raise BadModel(f"{path} asks for the module {shown(name)}, whose code is not known here and never run")
        kind = name.rpartition(".")[2]  # the package differs between releases of sentence-transformers
        modules.append((kind, inside(folder, place, path)))
    kinds = [kind for kind, _ in modules]
    if kinds[:2] != ["Transformer", "Pooling"] or not set(kinds[2:]) <= set(HEADS):
        raise BadModel(
            f"{path} lists {listed(kinds) or 'nothing'}, but Transformer, Pooling, and then any of "
            f"{', '.join(HEADS)} are expected"
        )
    return modules


def _warn_about_classifier(folder: Path) -> None:
    """Say that the classifier of SetFit is left out: it is a pickle, which can hide code."""
    if (folder / _SETFIT_HEAD).is_file():
        logger.warning(
            "%s has a classifier of SetFit, %s, a pickle that is left out; the encoder is loaded", folder, _SETFIT_HEAD
        )


def _home(folder: Path) -> Path:
    """Return the folder with the modules and the settings of a model: for a bare adapter, that of its base model."""
    return folder if (folder / MODULES).is_file() else lora.home(folder)


def _read_settings(path: Path, dimensions: int) -> dict[str, Any]:
    """Return the settings of the whole model, under the names that :class:`Parts` has for them."""
    schema = _SETTINGS | {"truncate_dim": whole(1, dimensions).otherwise(None)}
    settings = read_settings(path, schema, optional=True)
    settings["similarity"] = settings.pop("similarity_fn_name")
    settings["prompts"] = {name: prompt for name, prompt in settings["prompts"].items() if prompt is not None}
    default, prompts = settings["default_prompt_name"], settings["prompts"]
    if len(prompts) > MOST_PROMPTS:
        raise refusal(path, f"has {len(prompts):,} prompts, but at most {MOST_PROMPTS:,} are read")
    if default is not None and default not in prompts:
        raise BadModel(
            f"{path} has default_prompt_name {shown(default)}, but its prompts are {listed(prompts) or 'none'}"
        )
    return settings


def write(parts: Parts, folder: Path) -> None:
    """Save a bi-encoder whole or not at all. Replaces a model, but no other folder."""
    with whole_model(folder) as draft:
        write_into(draft, parts, real(folder).name)


def write_into(draft: Path, parts: Parts, name: str) -> None:
    """Write the files of a bi-encoder into an empty folder that will be called ``name``."""
    write_transformer(parts.transformer, draft)
    # Without this, other libraries create and report a random pooler.
    bare = {"model_args": {"add_pooling_layer": False}} if lacks_pooler(parts.transformer) else {}
    write_tokenizer(parts.tokenizer, parts.transformer, draft, bare)
    pooling, *places = write_modules(draft, ["Pooling", *(type(head).__name__ for head in parts.heads)])
    write_pooling(parts.pooling, parts.include_prompt, parts.transformer.facts.hidden_size, pooling)
    for head, place in zip(parts.heads, places, strict=True):
        write_head(head, place)
    settings: dict[str, object] = {
        "model_type": BI,
        "__version__": versions(),
        "prompts": parts.prompts,
        "default_prompt_name": parts.default_prompt_name,
        "similarity_fn_name": parts.similarity,
    }
    shorter = {} if parts.truncate_dim is None else {"truncate_dim": parts.truncate_dim}
    write_json(draft / SETTINGS, settings | shorter)
    if parts.ranges is not None:
        save_file({"ranges": np.ascontiguousarray(parts.ranges)}, draft / _CALIBRATION)
    if parts.reference is not None:
        write_reference(parts.reference, draft / _REFERENCE)
    write_card(parts, draft, name)
