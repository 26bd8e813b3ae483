"""Packs vectors into bytes of a chosen precision, and unpacks them. Works on arrays only.

int8 and binary rows carry a factor of their own, so no sample of the corpus is needed and the length of a vector is
kept. Every row of a packing has the same number of bytes, which lets a file of rows be mapped into memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from sbert.errors import BadInput, check_count, check_option
from sbert.types import FloatArray, IntArray

Packed = npt.NDArray[np.uint8]
Checksums = npt.NDArray[np.uint64]
StoredPrecision = Literal["float32", "float16", "int8", "binary"]
"""The precision in which vectors are kept."""
PRECISIONS: tuple[str, ...] = get_args(StoredPrecision)
_FACTOR_BYTES = 4
_WORD = 8  # bytes
_SPREAD = 0x9E3779B97F4A7C15  # its multiples are spread over all numbers of 64 bits


@dataclass(frozen=True, slots=True)
class Packing:
    """Converts vectors of one size between float32 and bytes.

    Args:
        dimension: D, the size of a vector.
        precision: "float32", "float16", "int8" (255 steps up to the largest value of a row), or "binary" (signs).

    >>> packing = Packing(3, "int8")
    >>> rows = packing.pack(np.array([[0.5, -1.0, 0.25]], np.float32))
    >>> rows.shape, packing.unpack(rows).round(2).tolist()
    ((1, 7), [[0.5, -1.0, 0.25]])
    """

    dimension: int
    precision: StoredPrecision = "float32"

    def __post_init__(self) -> None:
        check_count("dimension", self.dimension)
        check_option("precision", self.precision, get_args(StoredPrecision))

    @property
    def row_bytes(self) -> int:
        """Number of bytes of a packed vector."""
        return {
            "float32": 4 * self.dimension,
            "float16": 2 * self.dimension,
            "int8": _FACTOR_BYTES + self.dimension,
            "binary": _FACTOR_BYTES + math.ceil(self.dimension / 8),
        }[self.precision]

    def pack(self, vectors: FloatArray) -> Packed:
        """Pack vectors: (N, D) -> (N, row_bytes)."""
        if vectors.ndim != 2 or vectors.shape[1] != self.dimension:
            raise BadInput(
                f"the vectors have shape {vectors.shape}, but (rows, {self.dimension}) is expected; use one model and "
                "one truncate_dim for all"
            )
        with np.errstate(all="ignore"):  # what does not fit becomes infinity or NaN, and is refused
            packed = self._packed(np.ascontiguousarray(vectors, np.float32))
        self.check(packed)
        return packed

    def check(self, rows: Packed) -> None:
        """Raise BadInput unless the dot product of any two packed vectors fits in float32."""
        with np.errstate(all="ignore"):
            vectors = self.unpack(rows)
            usable = np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64) < np.finfo(np.float32).max
        if not usable.all():
            largest = "65,504" if self.precision == "float16" else "1e19"
            raise BadInput(
                f"vector {int(np.argmin(usable))} holds NaN, infinity or values beyond {largest}; repair it or leave "
                "it out"
            )

    def _packed(self, rows: FloatArray) -> Packed:
        if self.precision in ("float32", "float16"):
            return _bytes(rows.astype(self.precision))
        if self.precision == "int8":
            factors = np.abs(rows).max(axis=1, keepdims=True) / np.float32(127)
            steps = np.rint(rows / np.where(factors > 0, factors, 1)).astype(np.int8)
            return np.concatenate([_bytes(factors), _bytes(steps)], axis=1)
        factors = np.linalg.norm(rows, axis=1, keepdims=True) / np.float32(math.sqrt(self.dimension))
        return np.concatenate([_bytes(factors.astype(np.float32)), np.packbits(rows > 0, axis=1)], axis=1)

    def unpack(self, rows: Packed) -> FloatArray:
        """Unpack rows: (N, row_bytes) -> (N, D) float32."""
        rows = np.ascontiguousarray(rows)
        if self.precision in ("float32", "float16"):
            return rows.view(self.precision).reshape(len(rows), self.dimension).astype(np.float32, copy=False)
        factors = rows[:, :_FACTOR_BYTES].copy().view(np.float32)
        values = rows[:, _FACTOR_BYTES:]
        if self.precision == "int8":
            return factors * values.view(np.int8)
        signs: FloatArray = np.unpackbits(values, axis=1, count=self.dimension).astype(np.float32)
        return factors * (2 * signs - 1)


def checksums(rows: Packed) -> Checksums:
    """Return a number for each row, which another byte in the row changes: (N, row_bytes) -> (N,).

    >>> checksums(np.array([[1, 2], [1, 3]], np.uint8)) == checksums(np.array([[1, 2], [1, 2]], np.uint8))
    array([ True, False])
    """
    padded = np.pad(np.ascontiguousarray(rows), ((0, 0), (0, -rows.shape[1] % _WORD))).view(np.uint64)
    factors = np.arange(1, padded.shape[1] + 1, dtype=np.uint64) * np.uint64(_SPREAD) | np.uint64(1)
    sums: Checksums = padded @ factors  # modulo 2 ** 64, where a product with an odd number can be undone
    return sums


def content(keys: IntArray, sums: Checksums) -> int:
    """Return a number of 64 bits for keys and the checksums of their rows; that of more rows is added to it.

    >>> both = content(np.array([1, 2]), np.array([7, 9], np.uint64))
    >>> both == (content(np.array([1]), np.array([7], np.uint64)) + content(np.array([2]), np.array([9], np.uint64)))
    True
    """
    factors = np.asarray(keys, np.int64).view(np.uint64) * np.uint64(2) + np.uint64(1)
    return int(((sums + np.uint64(_SPREAD)) * factors).sum(dtype=np.uint64)) if len(sums) else 0


def _bytes(rows: npt.NDArray[np.generic]) -> Packed:
    return np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), rows.shape[1] * rows.itemsize)
