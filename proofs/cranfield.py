"""Retrieve and re-rank on Cranfield: nDCG@10 of a bi-encoder alone, and with a cross- or a poly-encoder behind it.

The re-rankers never see aerodynamics: they learn which text belongs to a title, from CISI (library science) and from
subjects of 20newsgroups, at a learning rate that was not tuned. Cranfield's judgements only measure. Those
at hand are grades in name only: of 1,837 one is 3, each query has one 0, and all others are 1.
"""

from __future__ import annotations

import csv
import gzip
import logging
import tempfile
from collections import defaultdict
from dataclasses import astuple
from pathlib import Path

import numpy as np
from sidebyside import data_folder, finish
from sidebyside.tasks import one_core_each

from sbert import Backbone, BiEncoder, Columns, CrossEncoder, PolyEncoder, Searcher, TrainConfig, Trainer, losses

TITLES, SUBJECTS = 1460, 500
"""Training rows of CISI and of 20newsgroups."""
RATE, BATCH, TOKENS = 1e-4, 32, 128
K, CANDIDATES = 10, 50


def table(name: str) -> list[dict[str, str]]:
    with gzip.open(data_folder() / f"{name}.tsv.gz", "rt", encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def training_rows() -> Columns:
    """Titles with their abstracts, subjects with their messages; no subject twice, no short message."""
    titles = {row["title"]: row["text"] for row in table("ir_cisi_corpus")[:TITLES]}
    subjects: dict[str, str] = {}
    mail = table("clu_20newsgroups")
    for place in np.random.default_rng(0).permutation(len(mail)).tolist():
        subject, body = mail[place]["subject"].removeprefix("Re: "), mail[place]["body_2000chars"]
        if len(subjects) < SUBJECTS and len(body) > 400 and subject.count(" ") > 1:
            subjects.setdefault(subject, body)
    rows = titles | subjects
    return Columns.of({"query": list(rows), "document": list(rows.values())})


def with_negatives(rows: Columns) -> Columns:
    """Every row, and its query with the document of another row.

    Not with the nearest one: taught by few of those, a cross-encoder of proofs/selection.py stayed at chance.
    """
    queries, documents = rows.texts["query"], rows.texts["document"]
    others = np.roll(np.array(documents, object), 7).tolist()
    labels = [1] * len(rows) + [0] * len(rows)
    return Columns.of({"query": queries * 2, "document": documents + others}, labels)


def train(kind: str, folder: Path) -> float:
    """One epoch of the default model with a new head or new codes; its seconds."""
    rows = training_rows()
    if kind == "cross":
        model = CrossEncoder(Backbone.from_pretrained("all-MiniLM-L6-v2", max_seq_length=TOKENS))
        rows, loss = with_negatives(rows), losses.bce
    else:
        model, loss = PolyEncoder.from_pretrained("all-MiniLM-L6-v2", max_seq_length=TOKENS), losses.poly_nce
    config = TrainConfig(output_dir=str(folder), batch_size=BATCH, learning_rate=RATE, sampler="no-duplicates")
    return Trainer(model, config, train=rows, loss=loss).train().seconds


def trained() -> tuple[PolyEncoder, CrossEncoder]:
    with tempfile.TemporaryDirectory() as place:
        folders = [Path(place) / kind for kind in ("poly", "cross")]
        one_core_each(train, ("poly", "cross"), folders)
        poly, cross = (folder / "model" for folder in folders)
        return PolyEncoder.from_pretrained(poly), CrossEncoder.from_pretrained(cross)


def ndcg(relevance: dict[str, int], found: list[str]) -> float:
    """Of the first ten, with the grade as gain."""
    discounts = 1 / np.log2(np.arange(K) + 2)
    gains = [relevance.get(document, 0) for document in found[:K]]
    best = sorted(relevance.values(), reverse=True)[:K]
    return float(discounts[: len(gains)] @ gains / (discounts[: len(best)] @ best))


def judgements() -> dict[str, dict[str, int]]:
    """By query and document."""
    judged: dict[str, dict[str, int]] = defaultdict(dict)
    for row in table("ir_cranfield_qrels"):
        judged[row["query_id"]][row["doc_id"]] = int(row["relevance"])
    return judged


def asked(searcher: Searcher) -> tuple[np.ndarray, np.ndarray]:
    """For each query its nDCG@10 in per cent, and the mean seconds of each stage."""
    judged, scores, seconds = judgements(), [], []
    for query in table("ir_cranfield_queries"):
        found = searcher.search(query["text"], K, CANDIDATES)
        scores.append(100 * ndcg(judged[query["id"]], [str(hit.id) for hit in found.hits]))
        seconds.append(astuple(found.seconds))
    return np.array(scores), np.mean(seconds, axis=0)


def main() -> None:
    logging.disable(logging.WARNING)  # that documents are cut is meant
    poly, cross = trained()
    bi = BiEncoder.from_pretrained(max_seq_length=TOKENS)
    corpus = table("ir_cranfield_corpus")
    scores, seconds = {}, {}
    for kind, reranker in {"bi": None, "poly": poly, "cross": cross}.items():
        searcher = Searcher(bi, reranker)
        searcher.add([row["text"] for row in corpus], [row["id"] for row in corpus])  # a text begins with its title
        scores[kind], seconds[kind] = asked(searcher)
        print(f"{kind:6} nDCG@10 {scores[kind].mean():.2f}, seconds a query {seconds[kind].round(4)}", flush=True)
    gains = {kind: scores[kind] - scores["bi"] for kind in ("poly", "cross")}
    finish(
        "prove-cranfield",
        {f"{kind}_over_bi_cranfield": (float(gain.mean()), 0.0) for kind, gain in gains.items()},
        {
            "rows": {"ir_cisi": TITLES, "clu_20newsgroups": SUBJECTS},
            "queries": len(scores["bi"]),
            "candidates": CANDIDATES,
            "tokens": TOKENS,
            "ndcg_at_10": {kind: float(each.mean()) for kind, each in scores.items()},
            "standard_error_of_gain": {
                kind: float(gain.std(ddof=1) / np.sqrt(len(gain))) for kind, gain in gains.items()
            },
            "seconds": {
                kind: dict(zip(("encode", "retrieve", "rerank"), each.tolist(), strict=True))
                for kind, each in seconds.items()
            },
        },
    )


if __name__ == "__main__":
    main()
