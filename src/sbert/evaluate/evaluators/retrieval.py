"""Retrieval: queries, a corpus, and the documents of it that are relevant to each query."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from sbert.errors import BadInput, check_option, shown
from sbert.evaluate.evaluators.evaluator import ScoreEvaluator
from sbert.evaluate.evaluators.inputs import checksum
from sbert.evaluate.evaluators.protocol import SIMILARITIES, embed, predict_one
from sbert.evaluate.metrics.prediction import attained
from sbert.evaluate.metrics.ranking import Figure, Relevant, grades_of, judge
from sbert.evaluate.score import Score
from sbert.search.exact import semantic_search
from sbert.types import Encoder, Scorer, Similarity

FIGURES = (
    *("ndcg@10", "mrr@10", "map@100"),
    *(f"{metric}@{k}" for k in (1, 3, 5, 10) for metric in ("accuracy", "precision", "recall")),
)
DEPTH = 100
"""Number of documents that a search returns, unless a figure looks at more."""
Ranking = list[list[Hashable]]
"""For each query the ids of documents, best first."""


class Retrieval(ScoreEvaluator[Encoder]):
    """Whether exact search finds the relevant documents, and ranks them first.

    Documents with equal scores are ranked by their ids, in ascending order.

    Args:
        queries: Texts by id; queries without a relevant document are left out.
        corpus: Texts by id.
        relevant: By query id, the ids of the relevant documents, or a grade for each: 0 not at all, higher is better.
        similarity: Similarity function of vectors.
        figures: Figures to compute, such as ``("ndcg@10", "recall@100")``; the first one decides which model is best.
            Their names start with the similarity function. Defaults to those of sentence-transformers.
        reranker: Scorer that re-ranks the documents found. Its figures have names that start with ``reranked_``.

    >>> from sbert import BiEncoder
    >>> corpus = {"d1": "A cat naps.", "d2": "기차가 늦는다."}
    >>> evaluator = Retrieval({"q1": "Which animal sleeps?"}, corpus, {"q1": {"d1"}})
    >>> evaluator(BiEncoder.from_pretrained())["cosine_ndcg@10"]
    100.0
    """

    metric = staticmethod(attained)

    def __init__(
        self,
        queries: Mapping[Any, str],
        corpus: Mapping[Any, str],
        relevant: Mapping[Any, Relevant],
        similarity: Similarity = "cosine",
        *,
        figures: Sequence[str] = FIGURES,
        reranker: Scorer | None = None,
    ) -> None:
        check_option("similarity", similarity, SIMILARITIES)
        self.figures = {name: Figure.parse(name) for name in figures}
        if not self.figures:
            raise BadInput("got no figures, but at least one must be computed")
        grades = {query: grades_of(items) for query, items in relevant.items()}
        for query, items in grades.items():
            if query not in queries:
                raise BadInput(
                    f"documents are named for query {shown(query)}, but there is no such query; leave them out"
                )
            if unknown := [item for item in items if item not in corpus]:
                raise BadInput(
                    f"document {shown(unknown[0])} of query {shown(query)} is not in the corpus; leave it out"
                )
        self.queries = {query: text for query, text in queries.items() if grades.get(query)}
        if not self.queries:
            raise BadInput(f"none of the {len(queries)} queries has a relevant document, but one must; name some")
        self.corpus = {key: corpus[key] for key in sorted(corpus, key=str)}  # the order of equal scores
        self.relevant = [grades[query] for query in self.queries]
        self.similarity: Similarity = similarity
        self.reranker = reranker
        self.gold = np.full(len(self.queries), 100.0)

    @property
    def primary_metric(self) -> str:
        """The first figure, nDCG@10 by default."""
        return f"{self.similarity}_{next(iter(self.figures))}"

    def __repr__(self) -> str:
        relevant = (f"{item} {grade:g}" for items in self.relevant for item, grade in sorted(items.items(), key=str))
        texts = [f"{key} {text}" for part in (self.queries, self.corpus) for key, text in part.items()]
        size = f"{len(self.queries)} queries, {len(self.corpus)} documents"
        figures = "" if tuple(self.figures) == FIGURES else f", {', '.join(self.figures)}"
        return f"Retrieval({size}{figures}, checksum {checksum(self.similarity, *texts, *relevant)})"

    def scores(self, model: Encoder) -> list[Score]:
        """The figures of the search and, with a re-ranker, of the re-ranked documents: means over the queries."""
        ranking = self.search(model)
        scores = self._scores(ranking, f"{self.similarity}_", "")
        if self.reranker is None:
            return scores
        again = self.rerank(ranking, self.reranker)
        return scores + self._scores(again, "reranked_", f"top {self.depth} re-ranked")

    @property
    def depth(self) -> int:
        """Number of documents that the search returns for a query."""
        return max(DEPTH, *(figure.k for figure in self.figures.values()))

    def search(self, model: Encoder) -> Ranking:
        """Find the nearest documents of each query, with the model's prompts for queries and documents."""
        (queries,) = embed(model, list(self.queries.values()), role="query")
        (documents,) = embed(model, list(self.corpus.values()), role="document")
        ids = list(self.corpus)
        hits = semantic_search(queries, documents, self.depth, self.similarity)
        return [[ids[int(hit.id)] for hit in found] for found in hits]

    def rerank(self, ranking: Ranking, reranker: Scorer) -> Ranking:
        """Order the documents of a search by a scorer; documents with equal scores keep their order."""
        counts = [len(documents) for documents in ranking]
        queries = np.repeat(np.array(list(self.queries.values()), object), counts).tolist()
        texts = [self.corpus[document] for documents in ranking for document in documents]
        parts = np.split(predict_one(reranker, queries, texts), np.cumsum(counts)[:-1])
        return [
            [documents[place] for place in np.argsort(-scores, kind="stable")]
            for documents, scores in zip(ranking, parts, strict=True)
        ]

    def _scores(self, ranking: Ranking, prefix: str, note: str) -> list[Score]:
        judged = judge(ranking, self.relevant)
        return [
            Score.mean_of(f"{prefix}{name}", figure.values(judged), note=note) for name, figure in self.figures.items()
        ]
