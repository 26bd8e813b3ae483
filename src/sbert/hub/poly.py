"""Reads and writes the folder of a poly-encoder: the bi-encoder of its documents, and a subfolder for its queries.

sentence-transformers reads the bi-encoder and ignores the subfolder ``poly``.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from safetensors.torch import save_file
from torch import Tensor

from sbert.disk.files import real, write_json
from sbert.errors import BadModel, shown
from sbert.hub.card import poly_card
from sbert.hub.files import read_object, reads_folder, whole_model
from sbert.hub.kind import POLY_FOLDER, versions
from sbert.hub.layout import read_parts, write_into
from sbert.hub.parts import Parts, PolyParts
from sbert.hub.schema import checked, choice, whole
from sbert.hub.tensors import Stored
from sbert.hub.weights import read_transformer, write_transformer
from sbert.types import Codes, Towers

_CODES = "codes.safetensors"
_QUERIES = "queries"
_MOST_CODES = 1 << 16
_CONFIG = {
    "num_codes": whole(1, _MOST_CODES),
    "codes": choice(get_args(Codes)),
    "towers": choice(get_args(Towers), default="shared"),
}


@reads_folder
def read_poly(folder: Path) -> tuple[Parts, PolyParts | None]:
    """Return the bi-encoder in ``folder``, and what a poly-encoder has besides, or None for a mere bi-encoder."""
    documents = read_parts(folder)
    place = folder / POLY_FOLDER
    return documents, _read_queries(place, documents.transformer.facts.hidden_size) if place.is_dir() else None


def _read_queries(place: Path, hidden_size: int) -> PolyParts:
    path = place / "config.json"
    config = checked(read_object(path), _CONFIG, path)
    count = config["num_codes"]
    codes = _read_codes(place / _CODES, count, hidden_size) if config["codes"] == "learned" else None
    queries = read_transformer(place / _QUERIES) if config["towers"] == "separate" else None
    if queries is not None and queries.facts.hidden_size != hidden_size:
        raise BadModel(
            f"{place / _QUERIES} has hidden states of {queries.facts.hidden_size} dimensions, but the documents have "
            f"{hidden_size}; save the model again"
        )
    return PolyParts(count, codes, queries)


def _read_codes(path: Path, count: int, size: int) -> Tensor:
    stored = Stored(path)
    if (shape := stored.shapes.get("codes")) != (count, size):
        raise BadModel(
            f"{path} is damaged: it holds codes of shape {shown(shape)}, but {(count, size)} is expected; "
            "save the model again"
        )
    # Copied out of the mapped file, where tensors lie at addresses at which some matrix products round differently.
    return stored.read("codes").float().clone()


def write_poly(documents: Parts, parts: PolyParts, folder: Path) -> None:
    """Save a poly-encoder whole or not at all. Replaces a model, but no other folder."""
    with whole_model(folder) as draft:
        write_into(draft, documents, real(folder).name)
        place = draft / POLY_FOLDER
        place.mkdir()
        settings = {"num_codes": parts.num_codes, "codes": parts.kind, "towers": parts.towers}
        write_json(place / "config.json", {**settings, "__version__": versions()})
        if parts.codes is not None:
            save_file({"codes": parts.codes.cpu().contiguous()}, place / _CODES)
        if parts.queries is not None:
            (place / _QUERIES).mkdir()
            write_transformer(parts.queries, place / _QUERIES)
        (draft / "README.md").write_text(poly_card(documents, parts, real(folder).name), encoding="utf-8")
