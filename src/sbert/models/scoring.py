"""Scores the codes of a poly-encoder's queries with the vectors of documents. Works on arrays only."""

from __future__ import annotations

import numpy as np
import torch

from sbert.errors import BadInput
from sbert.nn import poly
from sbert.types import FloatArray

# Dot products of values up to this one do not exceed the range of float32.
_LARGEST = 1e17


def score_codes(codes: FloatArray, vectors: FloatArray, size: int, device: torch.device) -> FloatArray:
    """Score every query with every document: (N, M, H), (K, H) -> (N, K). H must be ``size``.

    A score depends only on its query and its document, to the bit.
    """
    if vectors.ndim != 2 or codes.ndim != 3 or {codes.shape[-1], vectors.shape[-1]} != {size}:
        raise BadInput(
            f"got codes of shape {codes.shape} and vectors of shape {vectors.shape}, but needs (N, M, {size}) and "
            f"(K, {size}); take them from encode_query and encode_document"
        )
    _check_finite("codes", codes)
    _check_codes(codes)
    _check_finite("vectors", vectors)
    queries, documents = (torch.from_numpy(np.asarray(rows, np.float32)).to(device) for rows in (codes, vectors))
    scores: FloatArray = poly.stable_scores(queries, documents).cpu().numpy()
    return scores


def _check_finite(name: str, rows: FloatArray) -> None:
    usable = (np.abs(rows) <= _LARGEST).all(axis=tuple(range(1, rows.ndim)))  # (N,)
    if not usable.all():
        raise BadInput(
            f"row {usable.argmin()} of {name} holds NaN, infinity or values beyond 1e17; repair it or leave it out"
        )


def _check_codes(codes: FloatArray) -> None:
    """Check that every query has a code; a zero vector marks a missing code.

    Codes are missing if a query has fewer tokens than there are codes.
    """
    found = codes.any(axis=(1, 2))  # (N,)
    if not found.all():
        raise BadInput(
            f"row {found.argmin()} of codes has no code other than zeros, but a query needs at least one; take them "
            "from encode_query"
        )
