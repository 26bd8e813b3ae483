"""An index of a million vectors: build time, size, and queries per second at a recall of at least 0.95.

The vectors are unit vectors in clusters, as sentence embeddings are. sbert's index is compared with exact numpy, with
HNSW of FAISS and of usearch on the same vectors; each is set to the cheapest search that reaches the recall. Filters
that select 1 %, 10 % and 50 % of the rows are measured with sbert alone. ROWS can be set, such as ROWS=200000.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sidebyside import finish, peak_megabytes, race

from sbert.search.index import FaissIndex
from sbert.search.packing import Packing

ROWS, DIMENSIONS = int(os.environ.get("ROWS", "1000000")), 384
QUERIES, K, RECALL, ROUNDS = 200, 10, 0.95, 5
OURS, NUMPY = "sbert", "numpy, exact"

Search = Callable[[np.ndarray, int], list[np.ndarray]]


class Built(NamedTuple):
    """An index that was built: how to search it, and what it cost."""

    search: Callable[[np.ndarray], list[np.ndarray]]
    seconds: float
    megabytes: float


def clustered(count: int, seed: int) -> np.ndarray:
    """Unit vectors around centres of different sizes, so that neighbours lie in several cells of an index."""
    centres = np.random.default_rng(0).standard_normal((20_000, DIMENSIONS), dtype=np.float32)
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((count, DIMENSIONS), dtype=np.float32)
    vectors *= random.uniform(0.6, 1.4, (count, 1)).astype(np.float32)
    vectors += centres[random.integers(0, len(centres), count)]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def truth_of(corpus: np.ndarray, queries: np.ndarray, rows: np.ndarray | None = None) -> list[set[int]]:
    """The nearest rows by a plain scan."""
    some = np.arange(len(corpus)) if rows is None else rows
    scores = np.concatenate([corpus[part] @ queries.T for part in np.array_split(some, 50)])
    return [set(some[np.argpartition(-column, K)[:K]].tolist()) for column in scores.T]


def recall(found: list[np.ndarray], truth: list[set[int]]) -> float:
    return float(np.mean([len(set(rows.tolist()) & best) / K for rows, best in zip(found, truth, strict=True)]))


def ours(corpus: np.ndarray, folder: Path) -> tuple[Built, FaissIndex]:
    packing = Packing(DIMENSIONS)
    blocks = (
        (np.arange(start, min(start + 65_536, len(corpus))) + 1, packing.pack(corpus[start : start + 65_536]))
        for start in range(0, len(corpus), 65_536)
    )
    began = time.perf_counter()
    index = FaissIndex.build(folder, packing, blocks)
    seconds = time.perf_counter() - began
    size = (folder / "index.faiss").stat().st_size / 1e6
    return Built(lambda queries: [keys - 1 for keys in index.search(queries, K).keys], seconds, size), index


def faiss_hnsw(corpus: np.ndarray, queries: np.ndarray, truth: list[set[int]]) -> Built:
    import faiss

    began = time.perf_counter()
    index = faiss.IndexHNSWFlat(DIMENSIONS, 32, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = 80
    index.add(corpus)
    seconds = time.perf_counter() - began

    def search(some: np.ndarray, effort: int) -> list[np.ndarray]:
        return list(index.search(some, K, params=faiss.SearchParametersHNSW(efSearch=effort))[1])

    return Built(_tuned(search, queries, truth), seconds, len(corpus) * (4 * DIMENSIONS + 4 * 64) / 1e6)


def usearch_hnsw(corpus: np.ndarray, queries: np.ndarray, truth: list[set[int]]) -> Built:
    from usearch.index import Index

    began = time.perf_counter()
    index = Index(ndim=DIMENSIONS, metric="ip", dtype="f32", connectivity=16, expansion_add=80)
    index.add(np.arange(len(corpus)), corpus)
    seconds = time.perf_counter() - began

    def search(some: np.ndarray, effort: int) -> list[np.ndarray]:
        index.expansion_search = effort
        return [np.asarray(index.search(query, K).keys, np.int64) for query in some]

    return Built(_tuned(search, queries, truth), seconds, index.memory_usage / 1e6)


def _tuned(search: Search, queries: np.ndarray, truth: list[set[int]]) -> Callable[[np.ndarray], list[np.ndarray]]:
    """The search with the least effort that reaches the recall."""
    effort = 16
    while recall(search(queries, effort), truth) < RECALL and effort < 4096:
        effort *= 2
    return lambda some: search(some, effort)


def filtered(index: FaissIndex, corpus: np.ndarray, queries: np.ndarray) -> dict[str, float]:
    """Recall of searches among 1 %, 10 % and 50 % of the rows."""
    results = {}
    for percent in (1, 10, 50):
        chosen = np.sort(
            np.random.default_rng(percent).choice(len(corpus), len(corpus) * percent // 100, replace=False)
        )
        found = index.search(queries[:50], K, chosen + 1)
        results[f"filter_{percent}_percent"] = recall(
            [keys - 1 for keys in found.keys], truth_of(corpus, queries[:50], chosen)
        )
    return results


def main() -> None:
    corpus, queries = clustered(ROWS, 1), clustered(QUERIES, 2)
    truth = truth_of(corpus, queries)
    with tempfile.TemporaryDirectory() as place:
        own, index = ours(corpus, Path(place, "index"))
        built = {OURS: own, "FAISS HNSW": faiss_hnsw(corpus, queries, truth)}
        if find_spec("usearch"):
            built["usearch HNSW"] = usearch_hnsw(corpus, queries, truth)
        recalls = {name: recall(each.search(queries), truth) for name, each in built.items()}

        def one_by_one(search: Callable[[np.ndarray], object]) -> Callable[[], None]:
            return lambda: [search(query[None]) for query in queries] and None

        turns = {name: one_by_one(each.search) for name, each in built.items()}
        turns[NUMPY] = lambda: [np.argpartition(-(corpus @ query), K)[:K] for query in queries[:10]] and None
        best = race(turns, ROUNDS)
        per_query = {name: seconds / (10 if name == NUMPY else QUERIES) for name, seconds in best.items()}
        shares = filtered(index, corpus, queries)
    for name, seconds in per_query.items():
        line = f"{name:16} {seconds * 1000:8.3f} ms a query"
        if name in built:
            line += (
                f", recall {recalls[name]:.3f}, built in {built[name].seconds:.0f} s, {built[name].megabytes:,.0f} MB"
            )
        print(line)
    others = [name for name in built if name != OURS]
    finish(
        "index",
        {
            "index_speedup_over_exact": (per_query[NUMPY] / per_query[OURS], 30),
            "index_recall": (recalls[OURS], RECALL),
            **{f"index_{name}": (share, RECALL) for name, share in shares.items()},
            **{
                f"index_build_against_{name.split()[0].lower()}": (built[name].seconds / own.seconds, 1.0)
                for name in others
            },
            **{
                f"index_queries_against_{name.split()[0].lower()}": (per_query[name] / per_query[OURS], 1.0)
                for name in others
            },
        },
        {"rows": ROWS, "seconds_per_query": per_query, "recall": recalls, "peak_megabytes": peak_megabytes()},
    )


if __name__ == "__main__":
    main()
