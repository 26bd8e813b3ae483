"""``sentence_transformers.util`` over the functions of sbert: the same names, arguments and results."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from sbert.adapters.sentence_transformers.same import same
from sbert.errors import BadInput, check_count, shown
from sbert.explore import find_communities
from sbert.nn import quantize
from sbert.nn.similarity import all_pairs, pairwise
from sbert.porting import unknown_name
from sbert.search import exact
from sbert.types import Array, FloatArray, Precision, Similarity

if TYPE_CHECKING:
    from sbert.adapters.sentence_transformers.bi import SentenceTransformer

ScoreFunction = Callable[[Tensor, Tensor], Tensor]


class SimilarityFunction(Enum):
    """The similarity measures under their names in sentence-transformers."""

    COSINE = "cosine"
    DOT_PRODUCT = "dot"
    DOT = "dot"
    EUCLIDEAN = "euclidean"
    MANHATTAN = "manhattan"


def to_tensor(vectors: Any) -> Tensor:
    """Return vectors as a float tensor, from a tensor, an array or a list of either."""
    if isinstance(vectors, list | tuple) and len(vectors) and isinstance(vectors[0], Tensor):
        vectors = torch.stack(list(vectors))
    try:
        tensor = torch.as_tensor(np.asarray(vectors) if isinstance(vectors, list | tuple) else vectors)
    except (TypeError, ValueError, RuntimeError):
        raise BadInput(f"got {shown(vectors)}, but vectors are compared; encode texts first") from None
    return tensor if tensor.is_floating_point() else tensor.float()


@same("util.cos_sim")
def cos_sim(a: Any, b: Any) -> Tensor:
    """Compare all rows of ``a`` with all rows of ``b`` by cosine."""
    return all_pairs(to_tensor(a), to_tensor(b), "cosine")


@same("util.pytorch_cos_sim")
def pytorch_cos_sim(a: Any, b: Any) -> Tensor:
    """Compare all rows of ``a`` with all rows of ``b`` by cosine."""
    return cos_sim(a, b)


@same("util.dot_score")
def dot_score(a: Any, b: Any) -> Tensor:
    """Compare all rows of ``a`` with all rows of ``b`` by dot product."""
    return all_pairs(to_tensor(a), to_tensor(b), "dot")


@same("util.euclidean_sim")
def euclidean_sim(a: Any, b: Any) -> Tensor:
    """Compare all rows of ``a`` with all rows of ``b`` by negative Euclidean distance."""
    return all_pairs(to_tensor(a), to_tensor(b), "euclidean")


@same("util.manhattan_sim")
def manhattan_sim(a: Any, b: Any) -> Tensor:
    """Compare all rows of ``a`` with all rows of ``b`` by negative Manhattan distance."""
    return all_pairs(to_tensor(a), to_tensor(b), "manhattan")


@same("util.pairwise_cos_sim")
def pairwise_cos_sim(a: Any, b: Any) -> Tensor:
    """Compare row i of ``a`` with row i of ``b`` by cosine."""
    return pairwise(to_tensor(a), to_tensor(b), "cosine")


@same("util.pairwise_dot_score")
def pairwise_dot_score(a: Any, b: Any) -> Tensor:
    """Compare row i of ``a`` with row i of ``b`` by dot product."""
    return pairwise(to_tensor(a), to_tensor(b), "dot")


@same("util.pairwise_euclidean_sim")
def pairwise_euclidean_sim(a: Any, b: Any) -> Tensor:
    """Compare row i of ``a`` with row i of ``b`` by negative Euclidean distance."""
    return pairwise(to_tensor(a), to_tensor(b), "euclidean")


@same("util.pairwise_manhattan_sim")
def pairwise_manhattan_sim(a: Any, b: Any) -> Tensor:
    """Compare row i of ``a`` with row i of ``b`` by negative Manhattan distance."""
    return pairwise(to_tensor(a), to_tensor(b), "manhattan")


@same("util.normalize_embeddings")
def normalize_embeddings(embeddings: Tensor) -> Tensor:
    """Scale every row to unit length."""
    return torch.nn.functional.normalize(embeddings, p=2, dim=1)


@same("util.truncate_embeddings")
def truncate_embeddings(embeddings: Any, truncate_dim: int | None) -> Any:
    """Keep the first dimensions of every row."""
    return embeddings[..., :truncate_dim]


_SIMILARITIES: dict[Any, Similarity] = {
    cos_sim: "cosine",
    pytorch_cos_sim: "cosine",
    dot_score: "dot",
    euclidean_sim: "euclidean",
    manhattan_sim: "manhattan",
}


def named_similarity(function: Any) -> Similarity:
    """Return the name of a score function of this module."""
    name = _SIMILARITIES.get(function)
    if name is None:
        known = "cos_sim, dot_score, euclidean_sim or manhattan_sim of this module"
        raise BadInput(f"the score function is {shown(function)}, but must be {known}")
    return name


def _rows(vectors: Any) -> FloatArray:
    array: FloatArray = to_tensor(vectors).detach().cpu().numpy()
    return np.atleast_2d(array) if array.size else array.reshape(0, 0)


@same("util.semantic_search")
def semantic_search(
    query_embeddings: Any,
    corpus_embeddings: Any,
    query_chunk_size: int = 100,
    corpus_chunk_size: int = 500000,
    top_k: int = 10,
    score_function: ScoreFunction = cos_sim,
) -> list[list[dict[str, int | float]]]:
    """Find the nearest rows of the corpus for each query, as lists of dictionaries."""
    found = exact.semantic_search(
        _rows(query_embeddings), _rows(corpus_embeddings), top_k, named_similarity(score_function)
    )
    return [[{"corpus_id": int(hit.id), "score": hit.score} for hit in hits] for hits in found]


information_retrieval = semantic_search


@same("util.paraphrase_mining")
def paraphrase_mining(
    model: SentenceTransformer,
    sentences: list[str],
    show_progress_bar: bool = False,
    batch_size: int = 32,
    query_chunk_size: int = 5000,
    corpus_chunk_size: int = 100000,
    max_pairs: int = 500000,
    top_k: int = 100,
    score_function: ScoreFunction = cos_sim,
    truncate_dim: int | None = None,
    prompt_name: str | None = None,
    prompt: str | None = None,
) -> list[list[float | int]]:
    """Embed texts and find the nearest pairs of them."""
    vectors = model.encode(sentences, prompt_name, prompt, batch_size, show_progress_bar, truncate_dim=truncate_dim)
    return paraphrase_mining_embeddings(vectors, query_chunk_size, corpus_chunk_size, max_pairs, top_k, score_function)


@same("util.paraphrase_mining_embeddings")
def paraphrase_mining_embeddings(
    embeddings: Any,
    query_chunk_size: int = 5000,
    corpus_chunk_size: int = 100000,
    max_pairs: int = 500000,
    top_k: int = 100,
    score_function: ScoreFunction = cos_sim,
) -> list[list[float | int]]:
    """Find the nearest pairs of rows, ``[score, first, second]``, among the ``top_k`` nearest rows of each row."""
    check_count("max_pairs", max_pairs)
    rows = _rows(embeddings)
    near = exact.semantic_search(rows, rows, top_k + 1, named_similarity(score_function))
    scores: dict[tuple[int, int], float] = {}
    for row, hits in enumerate(near):
        others = [(int(hit.id), hit.score) for hit in hits if hit.id != row]
        scores |= {(min(row, other), max(row, other)): score for other, score in others[:top_k]}
    best = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:max_pairs]
    return [[score, first, second] for (first, second), score in best]


@same("util.community_detection")
def community_detection(
    embeddings: Any,
    threshold: float = 0.75,
    min_community_size: int = 10,
    batch_size: int = 1024,
    show_progress_bar: bool = False,
) -> list[list[int]]:
    """Find groups of rows around one of them: first the centre, then the others from the nearest to the farthest."""
    rows = _rows(embeddings)
    if len(rows) < min_community_size:
        return []
    return find_communities(np.asarray(normalize_embeddings(torch.from_numpy(rows))), threshold, min_community_size)


@same("util.quantize_embeddings")
def quantize_embeddings(
    embeddings: Any,
    precision: Precision,
    ranges: FloatArray | None = None,
    calibration_embeddings: FloatArray | None = None,
) -> Array:
    """Store vectors in fewer bits. The ranges default to those of the vectors."""
    vectors = to_tensor(embeddings).detach().cpu().numpy().astype(np.float32, copy=False)
    sample = vectors if calibration_embeddings is None else np.asarray(calibration_embeddings)
    if precision in ("int8", "uint8") and ranges is None and len(vectors):
        if len(sample) < 2 or sample.ndim < 2:
            raise BadInput(
                f"{precision} needs the ranges of a sample, but got one vector; give calibration_embeddings"
            )
        ranges = quantize.ranges_of(sample)
    return quantize.quantize(
        vectors, precision, np.zeros((2, vectors.shape[-1]), np.float32) if ranges is None else ranges
    )


def __getattr__(name: str) -> Any:
    raise unknown_name("sbert.adapters.sentence_transformers.util", name, "util")
