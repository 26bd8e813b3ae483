"""Stores vectors in fewer bits. Works on arrays only."""

from __future__ import annotations

from typing import get_args

import numpy as np

from sbert.errors import NotCalibrated, check_option
from sbert.types import Array, FloatArray, Precision


def ranges_of(vectors: FloatArray) -> FloatArray:
    """Return the smallest and the largest value of each dimension: (N, D) -> (2, D)."""
    return np.stack([vectors.min(axis=0), vectors.max(axis=0)]).astype(np.float32)


def quantize(vectors: FloatArray, precision: Precision, ranges: FloatArray | None = None) -> Array:
    """Convert float32 vectors (..., D) to another precision.

    int8 and uint8 divide the calibrated range of each dimension into 256 steps and clip values outside of it. binary
    and ubinary keep the signs, eight dimensions per byte.

    Args:
        vectors: (..., D).
        precision: Name of the precision.
        ranges: (2, D), the calibrated ranges from :func:`ranges_of`. Needed for int8 and uint8.

    >>> quantize(np.array([[-0.5, 0.2, 0.1, -1, 1, 1, -1, 1]], np.float32), "ubinary")
    array([[109]], dtype=uint8)
    """
    check_option("precision", precision, get_args(Precision))
    if precision in ("float32", "float16"):
        return vectors.astype(precision, copy=False)
    if precision in ("binary", "ubinary"):
        packed = np.packbits(vectors > 0, axis=-1)
        return packed if precision == "ubinary" else (packed.astype(np.int16) - 128).astype(np.int8)
    steps = _steps(vectors, precision, ranges)
    return steps.astype(np.uint8) if precision == "uint8" else (steps - 128).astype(np.int8)


def _steps(vectors: FloatArray, precision: Precision, ranges: FloatArray | None) -> FloatArray:
    if ranges is None:
        raise NotCalibrated(
            f"precision {precision!r} needs the model's value ranges, which have not been calibrated; "
            "call model.calibrate(texts) once on a sample of your corpus, or ask for float16 or binary"
        )
    if ranges.shape[-1] < vectors.shape[-1]:
        raise NotCalibrated(
            f"the model's value ranges were calibrated on {ranges.shape[-1]} dimensions, but the vectors have "
            f"{vectors.shape[-1]}; call model.calibrate(texts) with this truncate_dim, or ask for fewer"
        )
    low, high = ranges[:, : vectors.shape[-1]]
    width = (high - low) / 255
    steps: FloatArray = np.clip(np.floor((vectors - low) / np.where(width == 0, 1, width)), 0, 255)
    return steps
