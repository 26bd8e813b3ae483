"""Communities and duplicates among 100,000 vectors: sbert against sentence-transformers, on the same machine.

The vectors are unit vectors of 384 dimensions around centres, as sentence embeddings are. The peers are
``community_detection`` and ``paraphrase_mining_embeddings`` of sentence-transformers with their defaults. sbert is
measured as users call it (an index above 50,000 vectors) and exactly; on 10,000 vectors, where both compare all pairs,
the communities must be the same. ROWS can be set, such as ROWS=20000.
"""

from __future__ import annotations

import os

import numpy as np
import torch
from sentence_transformers.util import community_detection, paraphrase_mining_embeddings
from sidebyside import finish, forget_peak, peak_megabytes, race

from sbert.explore.communities import find_communities
from sbert.explore.duplicates import find_duplicates
from sbert.explore.neighbours import unit_vectors

ROWS, DIMENSIONS = int(os.environ.get("ROWS", "100000")), 384
THRESHOLD, SIZE, CHECKED, ROUNDS = 0.75, 10, 10_000, 2
OURS, EXACT, THEIRS = "sbert", "sbert, exact", "sentence-transformers"


def clustered(count: int) -> np.ndarray:
    random = np.random.default_rng(0)
    centres = random.standard_normal((max(1, count // 20), DIMENSIONS), dtype=np.float32)
    noise = random.standard_normal((count, DIMENSIONS), dtype=np.float32)
    noise *= random.uniform(0.2, 0.9, (count, 1)).astype(np.float32)
    return unit_vectors(centres[random.integers(0, len(centres), count)] + noise)


def check_same(vectors: np.ndarray) -> None:
    ours = find_communities(vectors, THRESHOLD, SIZE)
    theirs = community_detection(torch.from_numpy(vectors), THRESHOLD, SIZE)
    assert sorted(map(sorted, ours)) == sorted(map(sorted, theirs)), "the communities differ"


def main() -> None:
    check_same(clustered(CHECKED))
    vectors = clustered(ROWS)
    tensor, texts = torch.from_numpy(vectors), [str(row) for row in range(ROWS)]
    forget_peak()
    find_communities(vectors, THRESHOLD, SIZE)
    memory = peak_megabytes()
    grouping = race(
        {
            OURS: lambda: find_communities(vectors, THRESHOLD, SIZE),
            EXACT: lambda: find_communities(vectors, THRESHOLD, SIZE, exact=True),
            THEIRS: lambda: community_detection(tensor, THRESHOLD, SIZE),
        },
        ROUNDS,
    )
    removing = race(
        {
            OURS: lambda: find_duplicates(texts, vectors, 0.9),
            EXACT: lambda: find_duplicates(texts, vectors, 0.9, exact_search=True),
            THEIRS: lambda: paraphrase_mining_embeddings(tensor),
        },
        ROUNDS,
    )
    finish(
        "explore",
        {
            "explore_communities": (grouping[THEIRS] / grouping[OURS], 5.0),
            "explore_communities_exact": (grouping[THEIRS] / grouping[EXACT], 1.0),
            "explore_duplicates": (removing[THEIRS] / removing[OURS], 5.0),
            "explore_duplicates_exact": (removing[THEIRS] / removing[EXACT], 1.0),
        },
        {"rows": ROWS, "communities": grouping, "duplicates": removing, "peak_megabytes": memory},
    )


if __name__ == "__main__":
    main()
