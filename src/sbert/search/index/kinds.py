"""The kinds of approximate indexes: how FAISS divides vectors into cells and compresses them."""

from __future__ import annotations

import math
from typing import Literal

Kind = Literal["ivf-sq8", "ivf-pq", "ivf-rabitq"]
"""How FAISS compresses a vector in its cell: a byte per dimension, half a byte per pair of dimensions, or half a byte
per dimension after a rotation."""
_SPECIFICATIONS: dict[Kind, str] = {
    "ivf-sq8": "IVF{cells},SQ8",
    "ivf-pq": "IVF{cells},PQ{pairs}x4fsr",
    "ivf-rabitq": "RR{dimension},IVF{cells},RaBitQfs4",
}


def default_kind(dimension: int) -> Kind:
    """Return the kind that scans vectors of this size fastest at the same recall.

    >>> default_kind(384), default_kind(3)
    ('ivf-pq', 'ivf-sq8')
    """
    return "ivf-sq8" if dimension % 2 else "ivf-pq"


def specification(kind: Kind, dimension: int, cells: int) -> str:
    """Return what the index factory of FAISS calls an index.

    >>> specification("ivf-pq", dimension=384, cells=4096)
    'IVF4096,PQ192x4fsr'
    """
    return _SPECIFICATIONS[kind].format(dimension=dimension, pairs=dimension // 2, cells=cells)


def cell_count(rows: int) -> int:
    """Return the number of cells: the power of two nearest to four times the square root of the number of rows.

    >>> cell_count(1_000_000), cell_count(50_000), cell_count(1)
    (4096, 1024, 1)
    """
    return int(2 ** round(math.log2(min(rows, 4 * math.sqrt(rows)))))
