"""Re-ranking: queries with candidates of which some are relevant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from sbert.errors import BadInput
from sbert.evaluate.evaluators.evaluator import ScoreEvaluator
from sbert.evaluate.evaluators.inputs import checksum
from sbert.evaluate.evaluators.protocol import pair_scores
from sbert.evaluate.metrics.prediction import attained, average_precision
from sbert.evaluate.metrics.ranking import Judged, ndcg_at, shared_grades
from sbert.evaluate.score import Score
from sbert.types import Array, Encoder, FloatArray, Scorer

_K = 10


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
        self.candidates = [_candidates(sample) for sample in self.samples]
        self.gold = np.full(len(self.samples), 100.0)

    def __repr__(self) -> str:
        texts = (text for query, *parts in self.samples for part in ([query], *parts) for text in [*part, "|"])
        return f"Rerank({len(self.samples)} queries, checksum {checksum(*texts)})"

    def scores(self, model: Encoder | Scorer) -> list[Score]:
        """nDCG@10, MAP and MRR@10; if the samples have documents, also those of the first search, as ``base_``."""
        counts = [len(texts) for texts in self.candidates]
        queries = [sample.query for sample, count in zip(self.samples, counts, strict=True) for _ in range(count)]
        texts = [text for candidates in self.candidates for text in candidates]
        predicted = next(iter(pair_scores(model, queries, texts, search=True).values()))
        values = [
            _judge(np.arange(len(part)) < len(sample.positive), part)
            for sample, part in zip(self.samples, np.split(predicted, np.cumsum(counts)[:-1]), strict=True)
        ]
        scores = _means(np.array(values))
        if self.samples[0].documents:
            scores += _means(np.array([_of_first_search(sample) for sample in self.samples]), "base_")
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


def _candidates(sample: Sample) -> list[str]:
    """The positives first, then the others; each text once."""
    return list(dict.fromkeys([*sample.positive, *sample.negative, *sample.documents]))


def _judge(relevant: Array, scores: Array) -> tuple[float, float, float]:
    """nDCG@10, MAP and MRR@10 of one query."""
    judged = Judged(shared_grades(scores, relevant)[None], np.sort(relevant)[None, ::-1].astype(np.float64))
    first = 1 + int((scores[~relevant] >= scores[relevant].max()).sum())
    return float(ndcg_at(judged, _K)[0]), average_precision(scores, relevant), 100 / first if first <= _K else 0.0


def _of_first_search(sample: Sample) -> tuple[float, float, float]:
    """Judge the order of the documents; the positives that are not among them are ranked behind the last one."""
    relevant = [text in sample.positive for text in sample.documents]
    if not any(relevant):
        return 0.0, 0.0, 0.0
    relevant += [True] * (len(sample.positive) - sum(relevant))
    return _judge(np.array(relevant), -np.arange(len(relevant)))


def _means(values: FloatArray, prefix: str = "") -> list[Score]:
    names = (f"ndcg@{_K}", "map", f"mrr@{_K}")
    return [Score.mean_of(f"{prefix}{name}", column) for name, column in zip(names, values.T, strict=True)]
