"""Retrieval: queries, a corpus and its relevant documents; and re-ranking of the candidates of each query."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sbert.errors import BadInput, check_option, shown
from sbert.evaluate.evaluators.evaluator import ScoreEvaluator, checksum
from sbert.evaluate.evaluators.protocol import SIMILARITIES, embed, pair_scores, predict_one
from sbert.evaluate.metrics.prediction import attained, average_precision
from sbert.evaluate.metrics.ranking import Figure, Judged, Relevant, grades_of, judge, ndcg_at, shared_grades
from sbert.evaluate.score import Score
from sbert.search.exact import semantic_search
from sbert.types import Array, Encoder, FloatArray, Scorer, Similarity

FIGURES = (
    *("ndcg@10", "mrr@10", "map@100"),
    *(f"{metric}@{k}" for k in (1, 3, 5, 10) for metric in ("accuracy", "precision", "recall")),
)
DEPTH = 100
"""Number of documents that a search returns, unless a figure looks at more."""
Ranking = list[list[Hashable]]
"""For each query the ids of documents, best first."""
_K = 10
"""Number of candidates that the figures of re-ranking look at."""


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
        skip_own_id: Whether a query does not find the document with its own id, because the queries are documents.

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
        skip_own_id: bool = False,
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
        self.skip_own_id = skip_own_id
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
        figures += ", without the own id" if self.skip_own_id else ""
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
        hits = semantic_search(queries, documents, self.depth + self.skip_own_id, self.similarity)
        found = [[ids[int(hit.id)] for hit in best] for best in hits]
        if self.skip_own_id:
            found = [[name for name in best if name != own] for own, best in zip(self.queries, found, strict=True)]
        return [best[: self.depth] for best in found]

    def rerank(self, ranking: Ranking, reranker: Scorer) -> Ranking:
        """Order the documents of a search by a scorer; documents with equal scores keep their order."""
        texts = [[self.corpus[document] for document in documents] for documents in ranking]
        found = _by_query(predict_one(reranker, *_pairs(self.queries.values(), texts)), texts)
        return [
            [documents[place] for place in np.argsort(-scores, kind="stable")]
            for documents, scores in zip(ranking, found, strict=True)
        ]

    def _scores(self, ranking: Ranking, prefix: str, note: str) -> list[Score]:
        judged = judge(ranking, self.relevant)
        return [
            Score.mean_of(f"{prefix}{name}", figure.values(judged), note=note) for name, figure in self.figures.items()
        ]


class Sample(NamedTuple):
    """A query with its candidates: ``negative`` texts, or ``documents`` in the order of a first search."""

    query: str
    positive: str | Sequence[str]
    negative: str | Sequence[str] = ()
    documents: Sequence[str] = ()
    """Best first, with the positives that the search found; the others are candidates, too."""


class Rerank(ScoreEvaluator[Encoder | Scorer]):
    """Whether the relevant candidates are ranked first, by an encoder's cosine or a scorer's own score.

    nDCG and MAP treat candidates with equal scores as one group that shares its places; MRR ranks a relevant candidate
    behind the others with the same score.

    >>> from sbert import BiEncoder
    >>> samples = [Sample("Which animal sleeps?", positive=["A cat naps."], negative=["기차가 늦는다."])]
    >>> Rerank(samples)(BiEncoder.from_pretrained())
    {'ndcg@10': 100.0, 'map': 100.0, 'mrr@10': 100.0}
    """

    primary_metric = "ndcg@10"
    metric = staticmethod(attained)

    def __init__(self, samples: Iterable[Sample]) -> None:
        self.samples = [_checked(number, sample) for number, sample in enumerate(samples)]
        if not self.samples:
            raise BadInput("got no samples, but at least one must be ranked")
        if len({bool(sample.documents) for sample in self.samples}) > 1:
            raise BadInput("some samples have documents and some have not, but their scores do not mix; split them")
        # The positives first, then the others; each text once.
        self.candidates = [
            list(dict.fromkeys([*sample.positive, *sample.negative, *sample.documents])) for sample in self.samples
        ]
        self.gold = np.full(len(self.samples), 100.0)

    def __repr__(self) -> str:
        texts = (text for query, *parts in self.samples for part in ([query], *parts) for text in [*part, "|"])
        return f"Rerank({len(self.samples)} queries, checksum {checksum(*texts)})"

    def scores(self, model: Encoder | Scorer) -> list[Score]:
        """nDCG@10, MAP and MRR@10; if the samples have documents, also those of the first search, as ``base_``."""
        pairs = _pairs((sample.query for sample in self.samples), self.candidates)
        predicted = next(iter(pair_scores(model, *pairs, search=True).values()))
        found = _by_query(predicted, self.candidates)
        scores = _means(
            _judge(np.arange(len(part)) < len(sample.positive), part)
            for sample, part in zip(self.samples, found, strict=True)
        )
        if self.samples[0].documents:
            scores += _means(map(_judge_first_search, self.samples), "base_")
        return scores


def _checked(number: int, sample: Sample) -> Sample:
    query, positive, negative, documents = sample
    positive, negative = ((part,) if isinstance(part, str) else tuple(part) for part in (positive, negative))
    others = set(negative or documents) - set(positive)
    if not positive or not others or (negative and documents):
        raise BadInput(
            f"sample {number} has {len(positive)} positive, {len(negative)} negative texts and {len(documents)} "
            "documents, but needs a positive and another one, and either negative texts or documents; repair it or "
            "leave it out"
        )
    return Sample(query, positive, negative, tuple(documents))


def _judge(relevant: Array, scores: Array) -> tuple[float, float, float]:
    """nDCG@10, MAP and MRR@10 of one query."""
    judged = Judged(shared_grades(scores, relevant)[None], np.sort(relevant)[None, ::-1].astype(np.float64))
    first = 1 + int((scores[~relevant] >= scores[relevant].max()).sum())
    return float(ndcg_at(judged, _K)[0]), average_precision(scores, relevant), 100 / first if first <= _K else 0.0


def _judge_first_search(sample: Sample) -> tuple[float, float, float]:
    """Judge the order of the documents; the positives that are not among them are ranked behind the last one."""
    relevant = [text in sample.positive for text in sample.documents]
    if not any(relevant):
        return 0.0, 0.0, 0.0
    relevant += [True] * (len(sample.positive) - sum(relevant))
    return _judge(np.array(relevant), -np.arange(len(relevant)))


def _means(values: Iterable[tuple[float, float, float]], prefix: str = "") -> list[Score]:
    names = (f"ndcg@{_K}", "map", f"mrr@{_K}")
    columns = np.array(list(values)).T
    return [Score.mean_of(f"{prefix}{name}", column) for name, column in zip(names, columns, strict=True)]


def _pairs(queries: Iterable[str], candidates: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
    """Return the first and the second texts of all pairs of a query and one of its candidates."""
    pairs = [(query, text) for query, texts in zip(queries, candidates, strict=True) for text in texts]
    return [query for query, _ in pairs], [text for _, text in pairs]


def _by_query(scores: FloatArray, candidates: Sequence[Sequence[str]]) -> list[FloatArray]:
    """Divide the scores of all pairs into those of each query."""
    return np.split(scores, np.cumsum([len(texts) for texts in candidates])[:-1])
