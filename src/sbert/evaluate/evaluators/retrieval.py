"""Search: queries, a corpus, and which of its documents are relevant to which query."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np

from sbert.errors import BadInput, check_option
from sbert.evaluate.evaluators.inputs import checksum
from sbert.evaluate.evaluators.protocol import MEASURES, embed
from sbert.evaluate.metrics import ranking
from sbert.evaluate.metrics.prediction import attained
from sbert.evaluate.metrics.ranking import Judged, Relevant
from sbert.search.exact import semantic_search
from sbert.types import Encoder, FloatArray, Similarity

_PLACES = (1, 3, 5, 10)
_DEPTH = 100
"""How many documents a search brings."""


class Retrieval:
    """Does exact search bring the relevant documents, and first? Equal scores: the lower document id first.

    Args:
        queries: text by id; those to which nothing is relevant are left out.
        corpus: text by id.
        relevant: by query id the ids of the relevant documents, or a grade for each: 0 not at all, higher is better.
        similarity: how vectors are compared.

    >>> from sbert import BiEncoder
    >>> corpus = {"d1": "A cat naps.", "d2": "기차가 늦는다."}
    >>> evaluator = Retrieval({"q1": "Which animal sleeps?"}, corpus, {"q1": {"d1"}})
    >>> evaluator(BiEncoder.from_pretrained())["cosine_ndcg@10"]
    100.0
    """

    metric = staticmethod(attained)

    def __init__(
        self,
        queries: Mapping[Hashable, str],
        corpus: Mapping[Hashable, str],
        relevant: Mapping[Hashable, Relevant],
        similarity: Similarity = "cosine",
    ) -> None:
        check_option("similarity", similarity, MEASURES)
        grades = {query: ranking.grades_of(items) for query, items in relevant.items()}
        for query, items in grades.items():
            if query not in queries:
                raise BadInput(f"documents are named for query {query!r}, but there is no such query; leave them out")
            if unknown := [item for item in items if item not in corpus]:
                raise BadInput(f"document {unknown[0]!r} of query {query!r} is not in the corpus; leave it out")
        self.queries = {query: text for query, text in queries.items() if grades.get(query)}
        if not self.queries:
            raise BadInput(f"none of the {len(queries)} queries has a relevant document, but one must; name some")
        self.corpus = {key: corpus[key] for key in sorted(corpus, key=str)}  # the order of equal scores
        self.relevant = [grades[query] for query in self.queries]
        self.similarity: Similarity = similarity
        self.gold = np.full(len(self.queries), 100.0)

    @property
    def primary_metric(self) -> str:
        """The figure that grades and places decide together."""
        return f"{self.similarity}_ndcg@10"

    def __repr__(self) -> str:
        relevant = (f"{item} {grade:g}" for items in self.relevant for item, grade in sorted(items.items(), key=str))
        texts = [f"{key} {text}" for part in (self.queries, self.corpus) for key, text in part.items()]
        size = f"{len(self.queries)} queries, {len(self.corpus)} documents"
        return f"Retrieval({size}, checksum {checksum(self.similarity, *texts, *relevant)})"

    def __call__(self, model: Encoder) -> dict[str, float]:
        """The nDCG and MRR of the first 10, MAP of the first 100; accuracy, precision, recall of the first few."""
        judged = self._search(model)
        figures = {"ndcg@10": ranking.ndcg_at(judged, 10), "mrr@10": ranking.mrr_at(judged, 10)}
        figures["map@100"] = ranking.map_at(judged, _DEPTH)
        for k in _PLACES:
            figures[f"accuracy@{k}"] = ranking.accuracy_at(judged, k)
            figures[f"precision@{k}"] = ranking.precision_at(judged, k)
            figures[f"recall@{k}"] = ranking.recall_at(judged, k)
        return {f"{self.similarity}_{name}": float(scores.mean()) for name, scores in figures.items()}

    def predictions(self, model: Encoder) -> FloatArray:
        """(Q,) nDCG@10 of each query, times 100."""
        return ranking.ndcg_at(self._search(model), 10)

    def _search(self, model: Encoder) -> Judged:
        (queries,) = embed(model, list(self.queries.values()), role="query")
        (documents,) = embed(model, list(self.corpus.values()), role="document")
        ids = list(self.corpus)
        hits = semantic_search(queries, documents, _DEPTH, self.similarity)
        return ranking.judge([[ids[int(hit.id)] for hit in found] for found in hits], self.relevant)
