"""nDCG@10 and MAP@100 of a store by vectors, by words and by both: Cranfield and CISI (English), ParaKQC (Korean).

ParaKQC has 1,000 intents of ten questions: the first question of an intent is the query, and the other nine are to be
found among the 9,999 questions beside it. Every set is also searched by vectors in an approximate index, which must
lose at most half a point. The order by a cross-encoder is measured by proofs/cranfield.py, which has to train one.
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
from sbert.evaluate.metrics.ranking import judge, map_at, ndcg_at
from sbert.search.index import faiss
from sbert.search.searcher import Mode
from sbert.search.store import cache

MODES: tuple[Mode, ...] = ("vector", "lexical", "hybrid")
DEPTH = 100


class Task(NamedTuple):
    """Documents, queries, and the documents that each query should find. A query does not find itself."""

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
    corpus = {number: text for questions in intents.values() for number, text in questions}
    queries = dict(questions[0] for questions in intents.values())
    relevant = {questions[0][0]: {number for number, _ in questions[1:]} for questions in intents.values()}
    return Task(corpus, queries, relevant)


def measure(searcher: Searcher, task: Task, mode: Mode, approximate: bool = False) -> dict[str, float]:
    found = searcher.search(list(task.queries.values()), k=DEPTH + 1, mode=mode)
    assert all(each.exact != approximate for each in found)
    ranked = [
        [hit.id for hit in each.hits if not itself(task, name, hit.id)][:DEPTH]
        for name, each in zip(task.queries, found, strict=True)
    ]
    judged = judge(ranked, [task.relevant[name] for name in task.queries])
    return {"ndcg@10": float(ndcg_at(judged, 10).mean()), "map@100": float(map_at(judged, DEPTH).mean())}


def itself(task: Task, query: str, document: int | str) -> bool:
    """Return whether a document is the query, as in ParaKQC; elsewhere queries and documents are numbered apart."""
    return query == document and task.corpus[query] == task.queries[query]


def measure_all(task: Task) -> dict[str, dict[str, float]]:
    """Measure an exact search of every mode, and one by vectors in an approximate index."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "store.db")
        searcher = Searcher.open(path)
        searcher.add(list(task.corpus.values()), ids=list(task.corpus))
        scores: dict[str, dict[str, float]] = {mode: measure(searcher, task, mode) for mode in MODES}
        cache.EXACT_ROWS, faiss.EXACT_ROWS = 100, 20  # so that these few rows are searched like many
        scores["approximate"] = measure(Searcher.open(path), task, "vector", approximate=True)
        cache.EXACT_ROWS, faiss.EXACT_ROWS = 50_000, 20_000
    return scores


def main() -> None:
    tasks = {"cranfield": published("cranfield"), "cisi": published("cisi"), "parakqc": korean_questions()}
    results = {}
    for name, task in tasks.items():
        results[name] = measure_all(task)
        print(f"{name}: {len(task.queries):,} queries, {len(task.corpus):,} documents", flush=True)
        for kind, scores in results[name].items():
            print(f"  {kind:11}", "  ".join(f"{metric} {score:.1f}" for metric, score in scores.items()), flush=True)
    losses = {
        f"approximate_loss_{name}": (scores["vector"]["ndcg@10"] - scores["approximate"]["ndcg@10"], 0.5)
        for name, scores in results.items()
    }
    korean = results["parakqc"]
    gain = korean["hybrid"]["ndcg@10"] - korean["vector"]["ndcg@10"]
    finish("prove-hybrid", {**losses, "hybrid_gain_parakqc": (gain, 0.0)}, {"scores": results})


if __name__ == "__main__":
    main()
