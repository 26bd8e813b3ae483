"""Embeddings in files of texts: ``sbert encode`` writes them with their model, and other subcommands use them."""

from __future__ import annotations

import numpy as np

from sbert.cli import show
from sbert.data.rows import Row, Rows
from sbert.errors import BadInput, counted, shown
from sbert.models.fingerprint import fingerprint
from sbert.models.vectors import VectorModel
from sbert.types import FloatArray

EMBEDDING = "embedding"
"""The field of a row that holds its embedding."""
MODEL = "embedding_model"
"""The field that holds the name and the fingerprint of the model that made the embedding."""
_DEFAULT_MODEL = "all-MiniLM-L6-v2"


def signature(name: str | None, model: VectorModel) -> str:
    """Return the name of a model, followed by its fingerprint."""
    return f"{name or _DEFAULT_MODEL} {fingerprint(model)}"


def check_free(rows: Rows) -> None:
    """Refuse rows that have a field that would be overwritten."""
    for name in (EMBEDDING, MODEL):
        if name in rows.fields:
            raise BadInput(f"{rows.source.name} has a field {name!r} already; rename it, or write .npy")


def embeddings_of(rows: list[Row], model: VectorModel) -> FloatArray | None:
    """Return the embeddings in a file, (N, D), or None if it has none. Those of another model are refused."""
    if EMBEDDING not in rows[0].fields:
        return None
    vectors = _numbers(rows)
    where, dimensions = rows[0].source.name, model.encode([""]).shape[1]
    known = _check_model(rows, model)
    if vectors.shape[1] != dimensions:
        raise BadInput(
            f"the embeddings of {where} have {vectors.shape[1]} dimensions, but those of the model have {dimensions}; "
            "name the model that made them, or drop the field"
        )
    warning = "" if known else ", which must come from the same model"
    show.note(f"using {counted(len(rows), 'embedding')} of the file{warning}")
    return vectors


def _numbers(rows: list[Row]) -> FloatArray:
    found = [row.field(EMBEDDING) for row in rows]
    try:
        vectors = np.array(found)
    except ValueError:  # rows of different lengths
        vectors = np.array(None)
    if vectors.ndim != 2 or not np.issubdtype(vectors.dtype, np.floating):
        raise BadInput(
            f"the field {EMBEDDING!r} of {rows[0].source.name} does not hold equally many decimal numbers in each "
            "row; write it with sbert encode and --precision float32 or float16, or drop it"
        )
    with np.errstate(over="ignore"):
        vectors = vectors.astype(np.float32)
    if not (usable := np.isfinite(vectors).all(axis=1)).all():
        where = rows[int(np.argmin(usable))].where
        raise BadInput(f"{where}: the embedding holds NaN, infinity or a number beyond float32; repair or drop it")
    return vectors


def _check_model(rows: list[Row], model: VectorModel) -> bool:
    """Refuse embeddings of another model, and return whether the file says of all which model made them."""
    signed = {str(row.fields[MODEL]): row for row in rows if row.fields.get(MODEL) is not None}
    expected = fingerprint(model) if signed else ""
    for name, row in signed.items():
        if name.split()[-1:] != [expected]:
            raise BadInput(
                f"{row.where}: the embedding comes from {shown(name)}, but the model given has the fingerprint "
                f"{expected}; name the model that made it, or drop the field {EMBEDDING!r}"
            )
    return all(row.fields.get(MODEL) is not None for row in rows)
