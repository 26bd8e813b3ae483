"""One query over 300,000 vectors of 384 dimensions: ``semantic_search`` against a plain numpy scan.

The scan multiplies, selects the k best with ``argpartition`` and sorts them; its rows have length 1, so it needs
no norms. ``semantic_search`` computes the norms, checks every row and scores the best exactly. The bar is a ratio of
times, of which less is better: at most 1.5.
"""

from __future__ import annotations

import numpy as np
from sidebyside import finish, race

from sbert import semantic_search

ROWS, DIMENSIONS, K, ROUNDS = 300_000, 384, 10, 15
OURS, SCAN = "sbert", "numpy scan"


def main() -> None:
    random = np.random.default_rng(0)
    corpus = random.standard_normal((ROWS, DIMENSIONS), dtype=np.float32)
    corpus /= np.linalg.norm(corpus, axis=1, keepdims=True)
    query = random.standard_normal(DIMENSIONS, dtype=np.float32)

    def scan() -> np.ndarray:
        scores = corpus @ query
        best = np.argpartition(-scores, K)[:K]
        return best[np.argsort(-scores[best])]

    assert [hit.id for hit in semantic_search(query, corpus, K)[0]] == scan().tolist()
    best = race({OURS: lambda: semantic_search(query, corpus, K), SCAN: scan}, ROUNDS)
    for name, seconds in best.items():
        print(f"{name:12} {seconds * 1000:8.1f} ms")
    finish(
        "search",
        {"search_one_query": (best[OURS] / best[SCAN], 1.5)},
        {
            "rows": ROWS,
            "dimensions": DIMENSIONS,
            "k": K,
            "milliseconds": {name: each * 1000 for name, each in best.items()},
        },
    )


if __name__ == "__main__":
    main()
