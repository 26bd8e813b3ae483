"""What kind of model a folder holds, by the files that sentence-transformers writes. Reads no weights."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import torch

from sbert.errors import BadModel
from sbert.hub.files import read_json, read_object
from sbert.types import ModelKind

MODULES = "modules.json"
SETTINGS = "config_sentence_transformers.json"
POLY_FOLDER = "poly"
BI, CROSS, POLY, WORDS = "SentenceTransformer", "CrossEncoder", "PolyEncoder", "WordEncoder"
_KINDS: dict[str, ModelKind] = {BI: "bi", CROSS: "cross", POLY: "poly"}
_CLASSES = {BI: "BiEncoder", CROSS: "CrossEncoder", WORDS: "WordEncoder", POLY: "PolyEncoder"}


def kind_of(folder: Path) -> str | None:
    """The kind by sentence-transformers' name for it; None for a bare encoder, which may become any."""
    stored: str | None = read_object(folder / SETTINGS, optional=True).get("model_type")
    if (folder / MODULES).is_file():
        return stored or BI
    config = read_object(folder / "config.json")
    if config.get("model_type") == WORDS:
        return WORDS
    architectures = config.get("architectures") or [""]
    return CROSS if architectures[0].endswith("ForSequenceClassification") else stored


def fullest_kind(folder: Path) -> str | None:
    """As :func:`kind_of`, but a bi-encoder beside which lies what reads queries is a poly-encoder."""
    kind = kind_of(folder)
    return POLY if kind == BI and (folder / POLY_FOLDER).is_dir() else kind


def listed_modules(path: Path) -> list[tuple[str, str]]:
    """Type and place of each module in modules.json."""
    try:
        return [(str(module["type"]), str(module["path"])) for module in read_json(path)]
    except (TypeError, KeyError) as error:
        raise BadModel(f"{path} is no list of modules with type and path ({error}); save the model again") from None


def holds_words(folder: Path) -> bool:
    """Whether it is a word-level encoder, which has no kind: nothing is ever made into one."""
    return kind_of(folder) == WORDS


def known_kind(folder: Path) -> ModelKind | None:
    """The kind by our name; None for a bare encoder. What there is no class for is an error."""
    kind = fullest_kind(folder)
    if kind is not None and kind not in _KINDS:
        raise BadModel(f"{folder} holds a {kind}, but only {', '.join(_KINDS)} are expected; {way_to_load(kind)}")
    return None if kind is None else _KINDS[kind]


def way_to_load(kind: str) -> str:
    """What to do with a model of this kind, as the end of a sentence."""
    own = f"load it with {_CLASSES[kind]}.from_pretrained, or " if kind in _CLASSES else ""
    return f"{own}name another model"


def versions() -> dict[str, str]:
    """Who writes a folder."""
    return {"sbert": _version(), "transformers": metadata.version("transformers"), "pytorch": torch.__version__}


def _version() -> str:
    try:
        return metadata.version("sbert")
    except metadata.PackageNotFoundError:
        return "0"  # run from its source, not installed
