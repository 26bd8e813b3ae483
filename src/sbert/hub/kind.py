"""Finds out what kind of model a folder holds, by the files that sentence-transformers writes. Reads no weights."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import torch

from sbert.disk.files import write_json
from sbert.errors import BadModel, shown
from sbert.hub.files import read_json, reads_folder, refusal
from sbert.hub.limits import MOST_MODULES
from sbert.hub.schema import CLASS_NAME, TEXT, TEXTS, checked, read_settings
from sbert.types import ModelKind

MODULES = "modules.json"
ADAPTER = "adapter_config.json"
SETTINGS = "config_sentence_transformers.json"
POLY_FOLDER = "poly"
BI, CROSS, POLY, WORDS = "SentenceTransformer", "CrossEncoder", "PolyEncoder", "WordEncoder"
STATIC, MODEL2VEC = "StaticEmbedding", "model2vec"
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
    stored: str | None = read_settings(folder / SETTINGS, _SETTINGS, optional=True)["model_type"]
    kind: str | None
    if (folder / ADAPTER).is_file() and not (folder / MODULES).is_file():
        _check_task(folder)
        return None
    if (folder / MODULES).is_file():
        kind = WORDS if is_static(folder) else stored or BI
    else:
        config = read_settings(folder / "config.json", _CONFIG)
        if config["model_type"] in (WORDS, MODEL2VEC):
            return WORDS
        is_classifier = any(name.endswith("ForSequenceClassification") for name in config["architectures"][:1])
        kind = CROSS if is_classifier else stored
    return POLY if kind == BI and (folder / POLY_FOLDER).is_dir() else kind  # other libraries see a bi-encoder


def is_static(folder: Path) -> bool:
    """Return whether a folder holds a model that averages the vectors of word pieces."""
    path = folder / MODULES
    if path.is_file():
        return [name.rpartition(".")[2] for name, _ in listed_modules(path)][:1] == [STATIC]
    return bool(read_settings(folder / "config.json", _CONFIG)["model_type"] == MODEL2VEC)


def wrong_kind(folder: Path, kind: str, expected: str, besides: str = "") -> BadModel:
    """Return the error for a folder with another kind of model, with what to do; ``expected`` ends with a verb."""
    own = f"load it with {_CLASSES[kind]}.from_pretrained, or " if kind in _CLASSES else ""
    return BadModel(f"{folder} holds a {kind}, but {expected} expected; {own}name another model{besides}")


def _check_task(folder: Path) -> None:
    """Raise BadModel unless the adapter in a folder is for an encoder; a bare one is a plain encoder."""
    task = read_settings(folder / ADAPTER, {"task_type": TEXT.otherwise(None)})["task_type"]
    if task not in (None, "FEATURE_EXTRACTION"):
        raise BadModel(
            f"{folder} holds an adapter for {shown(task)}, but only those of encoders are merged; merge it with PEFT "
            "and save the model"
        )


def listed_modules(path: Path) -> list[tuple[str, str]]:
    """Return type and place of each module in modules.json."""
    modules = read_json(path)
    if not isinstance(modules, list) or not all(isinstance(module, dict) for module in modules):
        raise refusal(path, "must be a list of modules with type and path")
    if len(modules) > MOST_MODULES:
        raise refusal(path, f"lists {len(modules):,} modules, but at most {MOST_MODULES:,} are read")
    fields = [checked(module, {"type": TEXT, "path": TEXT}, path) for module in modules]
    return [(module["type"], module["path"]) for module in fields]


def write_modules(folder: Path, kinds: Iterable[str] = (), first: str = "Transformer") -> list[Path]:
    """Write modules.json: the first module in ``folder`` itself, then ``kinds``, whose new folders are returned."""
    modules = {"": first} | {f"{number}_{kind}": kind for number, kind in enumerate(kinds, 1)}
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
