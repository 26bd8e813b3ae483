"""The most similar pairs among 10,000 sentences: sbert against sentence-transformers, on the same model and machine.

Measured: sentences in, the 1,000 most similar pairs out (``pairs_overall``), and the part after the embedding
alone (``pairs_mining``). Both sides start from the same loaded all-MiniLM-L6-v2 and the same 10,000 different
sentences of the STS data sets, take turns, and count with their best run: of 3 overall, of 5 for the mining. The
peer is ``sentence_transformers.util.paraphrase_mining`` with ``max_pairs=1000`` and otherwise its defaults. First
both must find the same pairs: equal scores to 1e-5, and no pair that the other side lacks unless it ties with the
last one.

    python benchmarks/pairs.py

The data folder holds sts12 to sts16 and stsb as ``NAME.tsv.gz`` with columns ``sentence1`` and ``sentence2``; it is
taken from ``SBERT_DATA``, else from ``../shared/data``.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import paraphrase_mining, paraphrase_mining_embeddings

from sbert import BiEncoder, most_similar_pairs
from sbert.hub import bundled

SENTENCES, PAIRS = 10_000, 1_000
ROOT = Path(__file__).parents[1]


def sts_sentences() -> list[str]:
    folder = Path(os.environ.get("SBERT_DATA", ROOT.parent / "shared" / "data"))
    found: dict[str, None] = {}
    for name in ("sts12", "sts13", "sts14", "sts15", "sts16", "stsb"):
        with gzip.open(folder / f"{name}.tsv.gz", "rt", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                found.update(dict.fromkeys((row["sentence1"], row["sentence2"])))
    if len(found) < SENTENCES:
        raise SystemExit(f"{folder} holds {len(found)} different sentences, but {SENTENCES} are needed")
    return list(found)[:SENTENCES]


def best_of(rounds: int, ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    """Seconds of the best run of each, taking turns so that a busy moment of the machine hits both."""
    seconds = np.array([[timed(ours), timed(theirs)] for _ in range(rounds)])
    return float(seconds[:, 0].min()), float(seconds[:, 1].min())


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def check_same(ours: list[tuple[int, int, float]], theirs: list[list[float]]) -> None:
    our_scores = {(first, second): score for first, second, score in ours}
    their_scores = {(int(first), int(second)): score for score, first, second in theirs}
    assert len(our_scores) == len(their_scores) == PAIRS
    np.testing.assert_allclose([score for *_, score in ours], [score for score, *_ in theirs], atol=1e-5)
    last = ours[-1][2]
    for pair in our_scores.keys() ^ their_scores.keys():
        score = our_scores.get(pair, their_scores.get(pair, 0.0))
        assert abs(score - last) < 1e-5, f"only one side has the pair {pair} of score {score}"


def main() -> None:
    sentences = sts_sentences()
    sbert = BiEncoder.from_pretrained()
    peer = SentenceTransformer(str(bundled.find(bundled.PACKAGES[bundled.DEFAULT])), device="cpu")

    def ours() -> list[tuple[int, int, float]]:
        return list(most_similar_pairs(sbert.encode(sentences), PAIRS))

    def theirs() -> list[list[float]]:
        return paraphrase_mining(peer, sentences, max_pairs=PAIRS)

    check_same(ours(), theirs())  # also warms both up
    vectors = sbert.encode(sentences)
    tensor = torch.from_numpy(np.asarray(vectors))
    overall = best_of(3, ours, theirs)
    mining = best_of(
        5,
        lambda: most_similar_pairs(vectors, PAIRS),
        lambda: paraphrase_mining_embeddings(tensor, max_pairs=PAIRS),
    )
    report("overall", overall)
    report("mining", mining)
    result = {
        "sentences": SENTENCES,
        "pairs": PAIRS,
        "threads": torch.get_num_threads(),
        "overall_seconds": {"sbert": overall[0], "sentence-transformers": overall[1]},
        "mining_seconds": {"sbert": mining[0], "sentence-transformers": mining[1]},
    }
    path = ROOT / "benchmarks" / "results" / "pairs.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(f"bar pairs_overall {overall[1] / overall[0]:.2f} 1.5")
    print(f"bar pairs_mining {mining[1] / mining[0]:.2f} 3.0")


def report(name: str, seconds: tuple[float, float]) -> None:
    print(f"{name}: sbert {seconds[0]:.3f} s, sentence-transformers {seconds[1]:.3f} s")


if __name__ == "__main__":
    main()
