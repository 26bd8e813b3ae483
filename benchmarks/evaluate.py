"""The English STS test sets through sbert's Similarity, against sentence-transformers' EmbeddingSimilarityEvaluator.

Measured: texts in, correlations out, for the test pairs of STS12 to STS16 (STS13 without SMT, as the paper), STSb and
SICK-R, on the same loaded all-MiniLM-L6-v2, in turn. Each side runs as its users run it: theirs with its default batch
size and by cosine only, ours by all four measures. First both must find the same Spearman correlations to 0.01 of 100.

``python benchmarks/evaluate.py 200`` takes only so many pairs of each set: a try, whose figures are not stored.
"""

from __future__ import annotations

import csv
import gzip
import sys

from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.evaluation import EmbeddingSimilarityEvaluator
from sidebyside import data_folder, finish, race

from sbert import BiEncoder, hub
from sbert.evaluate import Similarity

SETS = ("sts12", "sts13", "sts14", "sts15", "sts16", "stsb", "sick_r")
OURS, THEIRS = "sbert", "sentence-transformers"
ROUNDS, BAR = 3, 1.4


def pairs(name: str, limit: int | None) -> tuple[list[str], list[str], list[float]]:
    with gzip.open(data_folder() / f"{name}.tsv.gz", "rt", encoding="utf-8", newline="") as lines:
        table = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        rows = [row for row in table if row["split"] == "test" and row["subset"] != "SMT"][:limit]
    return (
        [row["sentence1"] for row in rows],
        [row["sentence2"] for row in rows],
        [float(row["score"]) for row in rows],
    )


def main() -> None:
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else None
    sets = {name: pairs(name, limit) for name in SETS}
    model = BiEncoder.from_pretrained()
    peer = SentenceTransformer(str(hub.resolve(None)), device="cpu")
    ours = {name: Similarity(*columns) for name, columns in sets.items()}
    theirs = {name: EmbeddingSimilarityEvaluator(*columns) for name, columns in sets.items()}
    scores = {name: evaluator(model)["spearman_cosine"] for name, evaluator in ours.items()}
    for name, evaluator in theirs.items():
        assert abs(100 * evaluator(peer)["spearman_cosine"] - scores[name]) < 0.01, name
    best = race(
        {
            OURS: lambda: [evaluator(model) for evaluator in ours.values()],
            THEIRS: lambda: [evaluator(peer) for evaluator in theirs.values()],
        },
        rounds=ROUNDS,
    )
    ratio = best[THEIRS] / best[OURS]
    if limit is not None:
        print(f"a try with {limit} pairs of each set: {ratio:.3g}")
        return
    count = sum(len(gold) for *_, gold in sets.values())
    per_second = {who: count / seconds for who, seconds in best.items()}
    finish(
        "evaluate",
        {"evaluate_sts": (ratio, BAR)},
        {"pairs": count, "seconds": best, "pairs_per_second": per_second, "spearman": scores},
    )


if __name__ == "__main__":
    main()
