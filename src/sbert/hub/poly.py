"""Reads and writes the folder of a poly-encoder: the bi-encoder of its documents, and a subfolder for its queries.

sentence-transformers reads the bi-encoder and ignores the subfolder ``poly``.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from safetensors.torch import save_file

from sbert.disk.files import real, write_json
from sbert.hub.card import write_poly_card
from sbert.hub.files import reads_folder, refusal, whole_model
from sbert.hub.kind import POLY_FOLDER, versions
from sbert.hub.layout import read_parts, write_into
from sbert.hub.limits import MOST_CODES
from sbert.hub.parts import Parts, PolyParts
from sbert.hub.schema import choice, read_settings, whole
from sbert.hub.tensors import read_tensor
from sbert.hub.transformer import read_transformer, write_transformer
from sbert.types import Codes, Towers

_CODES = "codes.safetensors"
_QUERIES = "queries"
_CONFIG = {
    "num_codes": whole(1, MOST_CODES),
    "codes": choice(get_args(Codes)),
    "towers": choice(get_args(Towers)).otherwise("shared"),
}


@reads_folder
def read_poly(folder: Path) -> tuple[Parts, PolyParts | None]:
    """Return the bi-encoder in ``folder``, and what a poly-encoder has besides, or None for a mere bi-encoder."""
    documents = read_parts(folder)
    place = folder / POLY_FOLDER
    if not place.is_dir():
        return documents, None
    config = read_settings(place / "config.json", _CONFIG)
    count, size = config["num_codes"], documents.transformer.facts.hidden_size
    codes = read_tensor(place / _CODES, "codes", (count, size)) if config["codes"] == "learned" else None
    queries = read_transformer(place / _QUERIES) if config["towers"] == "separate" else None
    if queries is not None and (found := queries.facts.hidden_size) != size:
        raise refusal(place / _QUERIES, f"has hidden states of {found} dimensions, but the documents have {size}")
    return documents, PolyParts(count, codes, queries)


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
        write_poly_card(documents, parts, draft, real(folder).name)
