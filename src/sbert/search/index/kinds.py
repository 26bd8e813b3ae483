"""The kinds of approximate indexes: how FAISS divides vectors into cells and compresses them."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any, Literal

from sbert.disk.progress import Progress
from sbert.nn.threads import release_before_fork
from sbert.types import FloatArray, Similarity

Kind = Literal["ivf-sq8", "ivf-pq", "ivf-rabitq"]
"""How FAISS compresses a vector in its cell: a byte per dimension, half a byte per pair of dimensions, or half a byte
per dimension after a rotation."""
_ROUNDS = 10  # number of rounds of k-means
_SPECIFICATIONS: dict[Kind, str] = {
    "ivf-sq8": "IVF{cells},SQ8",
    "ivf-pq": "IVF{cells},PQ{pairs}x4fsr",
    "ivf-rabitq": "RR{dimension},IVF{cells},RaBitQfs4",
}


def default_kind(dimension: int) -> Kind:
    """Return the fastest kind for vectors of this size at the same recall.

    >>> default_kind(384), default_kind(3)
    ('ivf-pq', 'ivf-sq8')
    """
    return "ivf-sq8" if dimension % 2 else "ivf-pq"


def untrained(kind: Kind, dimension: int, cells: int, similarity: Similarity) -> Any:
    """Return an index of FAISS that has to be trained."""
    faiss = load_faiss()
    specification = _SPECIFICATIONS[kind].format(dimension=dimension, pairs=dimension // 2, cells=cells)
    metric = faiss.METRIC_L2 if similarity == "euclidean" else faiss.METRIC_INNER_PRODUCT
    index = faiss.index_factory(dimension, specification, metric)
    inside = faiss.downcast_index(faiss.extract_index_ivf(index))
    for clustering in (inside.cp, inside.pq.cp) if kind == "ivf-pq" else (inside.cp,):
        clustering.min_points_per_centroid = 1  # avoids a warning for small indexes
    return index


def train(index: Any, vectors: FloatArray, show_progress: bool) -> None:
    """Choose the centres of the cells by k-means, and train the compression of the vectors."""
    faiss = load_faiss()
    inside = faiss.downcast_index(index)
    if not isinstance(inside, faiss.IndexPreTransform):  # which rotates the vectors first
        inside.cp.niter = 1
        clustering = faiss.Clustering(inside.d, inside.nlist, inside.cp)
        with Progress(_ROUNDS, "rounds of k-means", show_progress) as progress:
            for _ in range(_ROUNDS):
                clustering.train(vectors, inside.quantizer)  # starts with the centres of the previous round
                progress.add(1)
    index.train(vectors)


def cell_count(rows: int) -> int:
    """Return the number of cells: a power of two near four times the square root of the number of rows.

    >>> cell_count(1_000_000), cell_count(50_000), cell_count(3)
    (4096, 1024, 2)
    """
    return int(2 ** min(round(math.log2(4 * math.sqrt(rows))), math.floor(math.log2(rows))))


@cache
def load_faiss() -> Any:
    """Import FAISS when it is needed, and make its threads safe for a fork. Its stubs do not know its parameters."""
    import faiss

    for library in Path(faiss.__file__).parents[1].glob("faiss_cpu.libs/libgomp*"):
        release_before_fork(library)
    return faiss
