"""Finds out what kind of model a folder holds, by the files that sentence-transformers writes. Reads no weights."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import torch

from sbert.disk.files import write_json
from sbert.errors import BadModel
from sbert.hub.files import read_json, reads_folder, refusal
from sbert.hub.limits import MOST_MODULES
from sbert.hub.schema import CLASS_NAME, TEXT, TEXTS, checked, read_settings
from sbert.types import ModelKind

MODULES = "modules.json"
SETTINGS = "config_sentence_transformers.json"
POLY_FOLDER = "poly"
BI, CROSS, POLY, WORDS = "SentenceTransformer", "CrossEncoder", "PolyEncoder", "WordEncoder"
_KINDS: dict[str, ModelKind] = {BI: "bi", CROSS: "cross", POLY: "poly"}
_CLASSES = {BI: "BiEncoder", CROSS: "CrossEncoder", WORDS: "WordEncoder", POLY: "PolyEncoder"}
_SETTINGS = {"model_type": CLASS_NAME.otherwise(None)}
_CONFIG = {"model_type": TEXT.otherwise(None), "architectures": TEXTS.otherwise(())}


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
    kind = kind_of(folder)
    if kind is not None and kind not in _KINDS:
        raise wrong_kind(folder, kind, f"only {', '.join(_KINDS)} are")
    return None if kind is None else _KINDS[kind]


def kind_of(folder: Path) -> str | None:
    """Return the kind under sentence-transformers' name for it, or None for a plain encoder."""
    check_no_adapter(folder)
    stored: str | None = read_settings(folder / SETTINGS, _SETTINGS, optional=True)["model_type"]
    kind: str | None
    if (folder / MODULES).is_file():
        kind = stored or BI
    else:
        config = read_settings(folder / "config.json", _CONFIG)
        if config["model_type"] == WORDS:
            return WORDS
        is_classifier = any(name.endswith("ForSequenceClassification") for name in config["architectures"][:1])
        kind = CROSS if is_classifier else stored
    return POLY if kind == BI and (folder / POLY_FOLDER).is_dir() else kind  # other libraries see a bi-encoder


def wrong_kind(folder: Path, kind: str, expected: str, besides: str = "") -> BadModel:
    """Return the error for a folder with another kind of model, with what to do; ``expected`` ends with a verb."""
    own = f"load it with {_CLASSES[kind]}.from_pretrained, or " if kind in _CLASSES else ""
    return BadModel(f"{folder} holds a {kind}, but {expected} expected; {own}name another model{besides}")


def check_no_adapter(folder: Path) -> None:
    """Raise BadModel if a folder holds a PEFT adapter, whose base model is elsewhere."""
    if (folder / "adapter_config.json").is_file():
        raise BadModel(f"{folder} holds an adapter, but a whole model is needed; merge it into its base model first")


def listed_modules(path: Path) -> list[tuple[str, str]]:
    """Return type and place of each module in modules.json."""
    modules = read_json(path)
    if not isinstance(modules, list) or not all(isinstance(module, dict) for module in modules):
        raise refusal(path, "must be a list of modules with type and path")
    if len(modules) > MOST_MODULES:
        raise refusal(path, f"lists {len(modules):,} modules, but at most {MOST_MODULES:,} are read")
    fields = [checked(module, {"type": TEXT, "path": TEXT}, path) for module in modules]
    return [(module["type"], module["path"]) for module in fields]


def write_modules(folder: Path, kinds: Iterable[str] = ()) -> list[Path]:
    """Write modules.json: the transformer in ``folder`` itself, then ``kinds``, whose new folders are returned."""
    modules = {"": "Transformer"} | {f"{number}_{kind}": kind for number, kind in enumerate(kinds, 1)}
    entries = [
        {"idx": number, "name": str(number), "path": place, "type": f"sentence_transformers.models.{kind}"}
        for number, (place, kind) in enumerate(modules.items())
    ]
    write_json(folder / MODULES, entries)
    folders = [folder / place for place in modules if place]
    for new in folders:
        new.mkdir()
    return folders


def versions() -> dict[str, str]:
    """Return the versions of the libraries that write a folder."""
    try:
        own = metadata.version("sbert")
    except metadata.PackageNotFoundError:
        own = "0"  # the source is used without being installed
    return {"sbert": own, "transformers": metadata.version("transformers"), "pytorch": torch.__version__}
