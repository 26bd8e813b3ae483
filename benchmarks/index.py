"""A million vectors in sbert's store and in others: cost of building, size, changes, and speed at a recall of 0.95.

The vectors are unit vectors in clusters, as sentence embeddings are. Every library gets the same ones and is set to
the least effort that reaches the recall; then they answer the same queries one by one, in turn. Libraries that are
not installed are left out, and so are those that are not named if some are: ``python benchmarks/index.py usearch``
compares with usearch alone, ``none`` with none. ROWS can be set, such as ROWS=200000.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sidebyside import finish, race, seconds
from sidebyside.vectorstores import OTHERS, K, Sbert, VectorStore

from sbert.search.filters import Condition, read_filter

ROWS, DIMENSIONS = int(os.environ.get("ROWS", "1000000")), 384
QUERIES, CHANGED, RECALL, ROUNDS = 200, 1000, 0.95, 5
OURS, NUMPY = "sbert", "numpy, exact"
INDEX_ALONE = ("FAISS HNSW", "usearch")


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


def recall(search: Callable[[np.ndarray], np.ndarray], queries: np.ndarray, truth: Sequence[set[int]]) -> float:
    shares = [len(set(search(query).tolist()) & best) / K for query, best in zip(queries, truth, strict=True)]
    return float(np.mean(shares))


def least_effort(store: VectorStore, queries: np.ndarray, truth: Sequence[set[int]]) -> int:
    """The least effort that reaches the recall, in steps of a quarter."""
    effort = 16
    while recall(partial(store.search, effort=effort), queries, truth) < RECALL and effort < 4096:
        effort += max(4, effort // 4)
    return effort


def resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def measured(store: VectorStore, corpus: np.ndarray, queries: np.ndarray, truth: list[set[int]]) -> dict[str, float]:
    before = resident_megabytes()
    building = seconds(lambda: store.build(corpus))
    effort = 0 if isinstance(store, Sbert) else least_effort(store, queries, truth)
    return {
        "build": getattr(store, "index_seconds", None) or building,
        "build_with_rows": building,
        "effort": effort,
        "recall": recall(lambda query: store.search(query, effort), queries, truth),
        "disk_megabytes": store.bytes_on_disk() / 1e6,
        "memory_megabytes": resident_megabytes() - before,
    }


def changes(store: VectorStore, query: np.ndarray, effort: int) -> dict[str, float]:
    """Seconds to add and to delete rows, each until the next search has answered."""
    rows = np.arange(ROWS, ROWS + CHANGED)
    vectors = clustered(CHANGED, 3)

    def change(work: Callable[[], None]) -> float:
        return seconds(lambda: (work(), store.search(query, effort)))

    result = {"add": change(lambda: store.add(rows, vectors))}
    try:
        result["delete"] = change(lambda: store.delete(rows))
    except NotImplementedError:
        result["delete"] = float("nan")
    return result


def filtered(store: Sbert, corpus: np.ndarray, queries: np.ndarray) -> dict[int, tuple[float, float]]:
    """Recall and seconds of searches among 1 %, 10 % and 50 % of the rows."""
    results = {}
    part = np.arange(len(corpus)) % 100
    for percent in (1, 10, 50):
        condition: Condition = read_filter(f"part < {percent}")
        truth = truth_of(corpus, queries, np.flatnonzero(part < percent))
        search = partial(store.search, condition=condition)
        share = recall(search, queries, truth)
        results[percent] = share, seconds(lambda: list(map(search, queries))) / len(queries)  # noqa: B023
    return results


def main() -> None:
    corpus, queries = clustered(ROWS, 1), clustered(QUERIES, 2)
    truth = truth_of(corpus, queries)
    chosen = sys.argv[1:] or [package for package, _ in OTHERS.values()]
    others = {name: maker for name, (package, maker) in OTHERS.items() if package in chosen and find_spec(package)}
    makers = {OURS: Sbert, **others}
    stores: dict[str, VectorStore] = {}
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as place:
        for name, maker in makers.items():
            folder = Path(place, name)
            folder.mkdir()
            stores[name] = maker(folder)
            figures[name] = measured(stores[name], corpus, queries, truth)
            print(name, {key: round(value, 3) for key, value in figures[name].items()}, flush=True)

        def one_by_one(name: str) -> Callable[[], object]:
            effort = int(figures[name]["effort"])
            return lambda: [stores[name].search(query, effort) for query in queries]

        turns = {name: one_by_one(name) for name in stores}
        turns[NUMPY] = lambda: [np.argpartition(-(corpus @ query), K)[:K] for query in queries[:10]]
        best = race(turns, ROUNDS)
        per_query = {name: value / (10 if name == NUMPY else QUERIES) for name, value in best.items()}
        filters = filtered(stores[OURS], corpus, queries[:50])
        for name, store in stores.items():
            figures[name] |= changes(store, queries[0], int(figures[name]["effort"])) | {"query": per_query[name]}
    report(figures, per_query[NUMPY], filters)


def report(figures: dict[str, dict[str, float]], exact: float, filters: dict[int, tuple[float, float]]) -> None:
    print("| | build, s | disk, MB | memory, MB | ms a query | recall | add 1,000, s | delete 1,000, s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, row in figures.items():
        building = f"{row['build_with_rows']:.0f}" + (f" ({row['build']:.0f} the index)" if name == OURS else "")
        print(
            f"| {name} | {building} | {row['disk_megabytes']:,.0f} | {row['memory_megabytes']:,.0f} | "
            f"{1000 * row['query']:.2f} | {row['recall']:.3f} | {row['add']:.2f} | {row['delete']:.2f} |"
        )
    print(f"| {NUMPY} | | | | {1000 * exact:.1f} | 1.000 | | |\n")
    for percent, (share, time) in filters.items():
        print(f"filter of {percent} %: recall {share:.3f}, {1000 * time:.1f} ms a query")
    own = figures[OURS]
    bars = {"index_speedup_over_exact": (exact / own["query"], 30), "index_recall": (own["recall"], RECALL)}
    bars |= {f"index_filter_{percent}_percent": (share, RECALL) for percent, (share, _) in filters.items()}
    for name, row in figures.items():
        if name != OURS:
            short = name.split()[0].lower()
            building = own["build" if name in INDEX_ALONE else "build_with_rows"]
            bars[f"index_queries_against_{short}"] = (row["query"] / own["query"], 1.0)
            bars[f"index_build_against_{short}"] = (row["build_with_rows"] / building, 1.0)
    finish("index", bars, {"rows": ROWS, "figures": figures, "exact": exact, "filters": filters})


if __name__ == "__main__":
    main()
