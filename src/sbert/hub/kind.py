"""Finds out what kind of model a folder holds, by the files that sentence-transformers writes. Reads no weights."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import torch

from sbert.errors import BadModel
from sbert.hub.files import read_json, read_object, reads_folder
from sbert.hub.schema import checked, class_name, text, texts
from sbert.types import ModelKind

MODULES = "modules.json"
SETTINGS = "config_sentence_transformers.json"
POLY_FOLDER = "poly"
BI, CROSS, POLY, WORDS = "SentenceTransformer", "CrossEncoder", "PolyEncoder", "WordEncoder"
_KINDS: dict[str, ModelKind] = {BI: "bi", CROSS: "cross", POLY: "poly"}
_CLASSES = {BI: "BiEncoder", CROSS: "CrossEncoder", WORDS: "WordEncoder", POLY: "PolyEncoder"}
_SETTINGS = {"model_type": class_name(None)}
_CONFIG = {"model_type": text(None), "architectures": texts(())}


@reads_folder
def holds_words(folder: Path) -> bool:
    """Return whether a folder holds a word-level encoder."""
    return kind_of(folder) == WORDS


@reads_folder
def known_kind(folder: Path) -> ModelKind | None:
    """Return the kind of model in a folder, or None for a plain encoder, which may become any kind.

    Raises:
        BadModel: The folder holds a kind of model that sbert has no class for.
    """
    kind = fullest_kind(folder)
    if kind is not None and kind not in _KINDS:
        raise BadModel(f"{folder} holds a {kind}, but only {', '.join(_KINDS)} are expected; {way_to_load(kind)}")
    return None if kind is None else _KINDS[kind]


def kind_of(folder: Path) -> str | None:
    """Return the kind under sentence-transformers' name for it, or None for a plain encoder."""
    check_no_adapter(folder)
    path = folder / SETTINGS
    stored: str | None = checked(read_object(path, optional=True), _SETTINGS, path)["model_type"]
    if (folder / MODULES).is_file():
        return stored or BI
    path = folder / "config.json"
    config = checked(read_object(path), _CONFIG, path)
    if config["model_type"] == WORDS:
        return WORDS
    is_classifier = any(name.endswith("ForSequenceClassification") for name in config["architectures"][:1])
    return CROSS if is_classifier else stored


def fullest_kind(folder: Path) -> str | None:
    """Return the same as :func:`kind_of`, except for a poly-encoder, whose folder is also that of a bi-encoder."""
    kind = kind_of(folder)
    return POLY if kind == BI and (folder / POLY_FOLDER).is_dir() else kind


def check_no_adapter(folder: Path) -> None:
    """Raise BadModel if a folder holds a PEFT adapter, whose base model is elsewhere."""
    if (folder / "adapter_config.json").is_file():
        raise BadModel(f"{folder} holds an adapter, but a whole model is needed; merge it into its base model first")


def listed_modules(path: Path) -> list[tuple[str, str]]:
    """Return type and place of each module in modules.json."""
    modules = read_json(path)
    if not isinstance(modules, list) or not all(isinstance(module, dict) for module in modules):
        raise BadModel(f"{path} must be a list of modules with type and path; save the model again")
    fields = [checked(module, {"type": text(), "path": text()}, path) for module in modules]
    return [(module["type"], module["path"]) for module in fields]


def way_to_load(kind: str) -> str:
    """Return what to do with a model of this kind, as the end of a sentence."""
    own = f"load it with {_CLASSES[kind]}.from_pretrained, or " if kind in _CLASSES else ""
    return f"{own}name another model"


def versions() -> dict[str, str]:
    """Return the versions of the libraries that write a folder."""
    return {"sbert": _version(), "transformers": metadata.version("transformers"), "pytorch": torch.__version__}


def _version() -> str:
    try:
        return metadata.version("sbert")
    except metadata.PackageNotFoundError:
        return "0"  # the source is used without being installed
