"""Turns the output of a network into the vectors and hits that users get. Works on arrays only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from sbert.errors import BadInput, BadModel, check_count, shown
from sbert.nn import heads
from sbert.nn.quantize import quantize
from sbert.nn.threads import on_one_core
from sbert.text import Tokens
from sbert.text.records import Records
from sbert.types import Array, FloatArray, Hit, Precision

_DIVIDED = 32_768
"""Number of values up to which torch computes in the calling thread alone."""


def check_numbers(results: FloatArray, items: Sequence[object]) -> None:
    """Raise BadModel if a model gives NaN or infinity for one of the ``items`` that it read."""
    others = tuple(range(1, results.ndim))
    usable = np.isfinite(results.max(axis=others)) & np.isfinite(
        results.min(axis=others)
    )  # (N,), without a larger temporary array
    if not usable.all():
        row = int(usable.argmin())
        got = "NaN" if np.isnan(results[row]).any() else "infinity"
        raise BadModel(
            f"the model gives {got} for {shown(items[row])}; its weights are damaged, fetch or train it again"
        )


def merge_windows(vectors: FloatArray, tokens: Tokens, unit_length: bool) -> FloatArray:
    """Average the windows of each text, weighted by their lengths: (rows, D) -> (texts, D).

    The mean of unit vectors has a length below one; ``unit_length`` normalizes it again.
    """
    starts = np.flatnonzero(np.diff(tokens.owners, prepend=-1))
    if len(starts) == len(vectors):
        return vectors
    weights = tokens.lengths[:, None].astype(np.float32)
    merged = np.add.reduceat(vectors * weights, starts) / np.add.reduceat(weights, starts)
    return normalize(merged) if unit_length else merged.astype(np.float32)


def check_dimensions(truncate_dim: int, size: int) -> None:
    """Raise BadInput unless ``truncate_dim`` is between 1 and ``size``."""
    check_count("truncate_dim", truncate_dim)
    if truncate_dim > size:
        raise BadInput(f"truncate_dim is {truncate_dim}, but the model gives 1 to {size} dimensions; ask for fewer")


def finish(
    vectors: FloatArray,
    truncate_dim: int | None,
    normalize_embeddings: bool,
    precision: Precision,
    ranges: FloatArray | None,
) -> Array:
    """Truncate, normalize and quantize vectors: (N, D) float32 -> (N, D') in ``precision``."""
    if truncate_dim is not None:
        check_dimensions(truncate_dim, vectors.shape[1])
        vectors = vectors[:, :truncate_dim]
    if normalize_embeddings:
        vectors = normalize(vectors)
    return quantize(np.ascontiguousarray(vectors), precision, ranges)


def best(keys: FloatArray, scores: FloatArray, texts: Sequence[str], top_k: int | None) -> list[Hit]:
    """Sort texts by ``keys``, highest first; the earlier text wins a tie. The id of a hit is its text's position."""
    if top_k is not None:
        check_count("top_k", top_k)
    places = np.argsort(-keys, kind="stable")[:top_k]
    return Records(Hit(int(place), float(scores[place]), texts[place]) for place in places)


def normalize(vectors: FloatArray) -> FloatArray:
    """Scale every row to length one, with the code of the ``Normalize`` head, so that the bits are the same."""

    def compute() -> torch.Tensor:
        return heads.apply([heads.Normalize()], torch.from_numpy(vectors))

    if vectors.size > _DIVIDED:
        return on_one_core(compute).numpy()
    with torch.inference_mode():
        return compute().numpy()
