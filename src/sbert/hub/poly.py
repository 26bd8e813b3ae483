"""A poly-encoder's folder: the plain bi-encoder of its documents, and beside it what reads queries.

sentence-transformers reads the bi-encoder as it is and ignores the folder ``poly``.
"""

from __future__ import annotations

from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from sbert.errors import BadModel
from sbert.hub.card import poly_card
from sbert.hub.files import read_object, real, whole_folder, write_json
from sbert.hub.kind import POLY_FOLDER, versions
from sbert.hub.layout import write_into
from sbert.hub.modules import damaged
from sbert.hub.parts import Parts, PolyParts
from sbert.hub.weights import read_transformer, write_transformer

_CODES = "codes.safetensors"
_QUERIES = "queries"


def read_poly(folder: Path, hidden_size: int) -> PolyParts | None:
    """What a poly-encoder has besides its bi-encoder; None where ``folder`` holds none."""
    place = folder / POLY_FOLDER
    if not place.is_dir():
        return None
    settings = read_object(place / "config.json")
    try:
        count, kind = int(settings["num_codes"]), settings["codes"]
    except (KeyError, TypeError, ValueError) as error:
        raise BadModel(
            f"{place / 'config.json'} lacks a readable num_codes or codes ({error}); save it again"
        ) from None
    if count < 1 or kind not in ("learned", "first"):
        wanted = "at least one code, learned or first"
        raise BadModel(f"{place / 'config.json'} has {count} codes, {kind!r}, but needs {wanted}; save it again")
    codes = _read_codes(place / _CODES, count, hidden_size) if kind == "learned" else None
    queries = read_transformer(place / _QUERIES) if settings.get("towers") == "separate" else None
    return PolyParts(count, codes, queries)


def _read_codes(path: Path, count: int, size: int) -> Tensor:
    try:
        codes: Tensor = load_file(path)["codes"]
    except (OSError, SafetensorError, KeyError) as error:
        raise damaged(path, error) from error
    if codes.shape != (count, size):
        raise BadModel(
            f"{path} holds codes of shape {tuple(codes.shape)}, but the model needs {(count, size)}; "
            "save the model again"
        )
    return codes.float().clone()  # out of the mapped file, where they lie at any address: some products round by it


def write_poly(documents: Parts, parts: PolyParts, folder: Path) -> None:
    """Save both whole or not at all; a model that is already there is replaced, any other folder is not."""
    with whole_folder(folder) as draft:
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
