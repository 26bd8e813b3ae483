"""nDCG@10 of a store by vectors, by words and by both, on Cranfield and CISI (English) and ParaKQC (Korean).

ParaKQC has 1,000 intents of ten questions: the first question of an intent is a query, and the other nine are what it
should find. For the English sets, an approximate index is compared with the exact search as well.
"""

from __future__ import annotations

import csv
import gzip
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from sidebyside import data_folder, finish

from sbert import Searcher
from sbert.evaluate.metrics.ranking import judge, ndcg_at
from sbert.search.index import faiss
from sbert.search.searcher import Mode
from sbert.search.store import cache

MODES: tuple[Mode, ...] = ("vector", "lexical", "hybrid")


class Task(NamedTuple):
    """Documents, queries, and the documents that each query should find."""

    corpus: dict[str, str]
    queries: dict[str, str]
    relevant: dict[str, set[str]]


def rows(name: str) -> list[dict[str, str]]:
    with gzip.open(data_folder() / f"{name}.tsv.gz", "rt", encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def published(name: str) -> Task:
    relevant = defaultdict(set)
    for row in rows(f"ir_{name}_qrels"):
        if float(row["relevance"]) > 0:
            relevant[row["query_id"]].add(row["doc_id"])
    corpus = {row["id"]: f"{row['title']} {row['text']}".strip() for row in rows(f"ir_{name}_corpus")}
    queries = {row["id"]: row["text"] for row in rows(f"ir_{name}_queries") if row["id"] in relevant}
    return Task(corpus, queries, relevant)


def korean_questions() -> Task:
    intents = defaultdict(list)
    for number, row in enumerate(rows("parakqc_ko")):
        intents[row["intent"]].append((str(number), row["text"]))
    queries = {intent: questions[0][1] for intent, questions in intents.items()}
    corpus = {number: text for questions in intents.values() for number, text in questions[1:]}
    relevant = {intent: {number for number, _ in questions[1:]} for intent, questions in intents.items()}
    return Task(corpus, queries, relevant)


def measure(searcher: Searcher, task: Task, mode: Mode) -> float:
    found = searcher.search(list(task.queries.values()), k=10, mode=mode)
    ranked = [[hit.id for hit in each.hits] for each in found]
    judged = judge(ranked, [task.relevant[name] for name in task.queries])
    return float(ndcg_at(judged, 10).mean())


def main() -> None:
    tasks = {"cranfield": published("cranfield"), "cisi": published("cisi"), "parakqc": korean_questions()}
    scores: dict[str, dict[str, float]] = {}
    losses = {}
    for name, task in tasks.items():
        with tempfile.TemporaryDirectory() as place:
            path = Path(place, "store.db")
            searcher = Searcher.open(path)
            searcher.add(list(task.corpus.values()), ids=list(task.corpus))
            scores[name] = {mode: measure(searcher, task, mode) for mode in MODES}
            if name != "parakqc":
                cache.EXACT_ROWS, faiss.EXACT_ROWS = 100, 20
                approximate = Searcher.open(path)
                losses[name] = scores[name]["vector"] - measure(approximate, task, "vector")
                cache.EXACT_ROWS, faiss.EXACT_ROWS = 50_000, 20_000
        print(name, {mode: round(score, 1) for mode, score in scores[name].items()}, flush=True)
    finish(
        "prove-hybrid",
        {
            **{f"approximate_loss_{name}": (loss, 0.5) for name, loss in losses.items()},
            "hybrid_gain_korean": (scores["parakqc"]["hybrid"] - scores["parakqc"]["vector"], 0.0),
        },
        {"ndcg_at_10": scores},
    )


if __name__ == "__main__":
    main()
