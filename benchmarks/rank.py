"""Scores of 5,000 STS pairs: our CrossEncoder against sentence-transformers', the same folder, in turn."""

from __future__ import annotations

import tempfile

import numpy as np
from sentence_transformers import CrossEncoder as Theirs
from sidebyside import data_folder, finish, race

from sbert import Backbone, CrossEncoder
from sbert.data import read

PAIRS, ROUNDS = 5000, 3


def sts_pairs() -> list[tuple[str, str]]:
    """The first pairs of the STS benchmark's training split."""
    return list(zip(*read(data_folder() / "stsb.tsv.gz", limit=PAIRS).texts.values(), strict=True))


def check_same(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference, relative to the largest score where that is above one."""
    difference = float(np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max()))
    if not difference <= 1e-5:  # which NaN is not either
        raise SystemExit(f"the two give other scores: {difference:.2g}")
    return difference


def main() -> None:
    pairs = sts_pairs()
    with tempfile.TemporaryDirectory() as folder:
        CrossEncoder(Backbone.from_pretrained("all-MiniLM-L6-v2")).save_pretrained(folder)
        ours, theirs = CrossEncoder.from_pretrained(folder), Theirs(folder, device="cpu")
    difference = check_same(ours.predict(pairs[:200]), theirs.predict(pairs[:200]))
    best = race(
        {
            "sbert": lambda: ours.predict(pairs),
            "sentence-transformers": lambda: theirs.predict(pairs, show_progress_bar=False),
        },
        ROUNDS,
    )
    for name, seconds in best.items():
        print(f"{name:24} {len(pairs) / seconds:8.0f} pairs/s")
    finish(
        "rank",
        {"cross_predict": (best["sentence-transformers"] / best["sbert"], 1.5)},
        {
            "pairs": len(pairs),
            "pairs_per_second": {name: len(pairs) / each for name, each in best.items()},
            "largest_difference": difference,
        },
    )


if __name__ == "__main__":
    main()
