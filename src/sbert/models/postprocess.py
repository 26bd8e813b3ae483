"""The last step: raw vectors to the vectors asked for. Knows arrays only."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence

import numpy as np
import torch

from sbert.errors import BadInput, BadModel, check_count
from sbert.nn import heads
from sbert.nn.quantize import quantize
from sbert.nn.threads import on_one_core
from sbert.text import Tokens
from sbert.types import Array, FloatArray, Hit, Precision


def check_numbers(results: FloatArray, items: Sequence[object]) -> None:
    """Refuse a model that gives no numbers, before anything is made of them; ``items`` are what it read."""
    others = tuple(range(1, results.ndim))
    usable = np.isfinite(results.max(axis=others)) & np.isfinite(results.min(axis=others))  # (N,), and no larger array
    if not usable.all():
        row = int(usable.argmin())
        got = "NaN" if np.isnan(results[row]).any() else "infinity"
        raise BadModel(
            f"the model gives {got} for {reprlib.repr(items[row])}; its weights are damaged, fetch or train it again"
        )


def merge_windows(vectors: FloatArray, tokens: Tokens, unit_length: bool) -> FloatArray:
    """(rows, D) -> (texts, D): a text that was read in windows is their mean, weighted by their lengths.

    The mean of unit vectors is shorter than one, so where the model gives unit vectors it is made one again.
    """
    starts = np.flatnonzero(np.diff(tokens.owners, prepend=-1))
    if len(starts) == len(vectors):
        return vectors
    weights = tokens.lengths[:, None].astype(np.float32)
    merged = np.add.reduceat(vectors * weights, starts) / np.add.reduceat(weights, starts)
    return normalize(merged) if unit_length else merged.astype(np.float32)


def check_dimensions(truncate_dim: int, size: int) -> None:
    """Refuse to keep more dimensions than there are."""
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
    """(N, D) float32 -> (N, D') in the precision asked for."""
    if truncate_dim is not None:
        check_dimensions(truncate_dim, vectors.shape[1])
        vectors = vectors[:, :truncate_dim]
    if normalize_embeddings:
        vectors = normalize(vectors)
    return quantize(np.ascontiguousarray(vectors), precision, ranges)


def best(order: FloatArray, scores: FloatArray, texts: Sequence[str], top_k: int | None) -> list[Hit]:
    """The texts by their places, those highest in ``order`` first and of equal ones the earlier, with their scores."""
    if top_k is not None:
        check_count("top_k", top_k)
    places = np.argsort(-order, kind="stable")[:top_k]
    return [Hit(int(place), float(scores[place]), texts[place]) for place in places]


def normalize(vectors: FloatArray) -> FloatArray:
    """Every row to length one, by the same code as the model's own head, so with the same bits."""
    unit: FloatArray = on_one_core(lambda: heads.apply([heads.Normalize()], torch.from_numpy(vectors))).numpy()
    return unit
