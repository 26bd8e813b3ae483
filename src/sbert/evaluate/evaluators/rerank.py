"""Re-ranking: a query, and candidates of which some are relevant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from sbert.errors import BadInput
from sbert.evaluate.evaluators.inputs import checksum
from sbert.evaluate.evaluators.protocol import pair_scores
from sbert.evaluate.metrics.prediction import attained, average_precision
from sbert.types import Array, Encoder, FloatArray, Scorer

_PLACES = 10


class Sample(NamedTuple):
    """A query and its candidates: ``negative`` ones, or ``documents`` as a first search ranked them."""

    query: str
    positive: str | Sequence[str]
    negative: str | Sequence[str] = ()
    documents: Sequence[str] = ()
    """Best first, the positives it found among them; those it missed are ranked too."""


class _Scores(NamedTuple):
    map: float
    mrr: float
    ndcg: float


class Rerank:
    """Are the relevant candidates ranked first? By cosine of an encoder's vectors, or a scorer's own score.

    MAP and nDCG give equal scores their mean place; for MRR a tie counts against the model.

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

    def __call__(self, model: Encoder | Scorer) -> dict[str, float]:
        """nDCG@10, MAP and MRR@10; of the first search too, under ``base_``, where it is known."""
        figures = _means(self._scores(model))
        if self.samples[0].documents:
            base = _means([_of_first_search(sample) for sample in self.samples])
            figures.update({f"base_{name}": value for name, value in base.items()})
        return figures

    def predictions(self, model: Encoder | Scorer) -> FloatArray:
        """(N,) nDCG@10 of each query, times 100."""
        return np.array([scores.ndcg for scores in self._scores(model)])

    def _scores(self, model: Encoder | Scorer) -> list[_Scores]:
        counts = [len(texts) for texts in self.candidates]
        queries = [sample.query for sample, count in zip(self.samples, counts, strict=True) for _ in range(count)]
        texts = [text for candidates in self.candidates for text in candidates]
        scores = next(iter(pair_scores(model, queries, texts, search=True).values()))
        return [
            _judge(np.arange(len(part)) < len(sample.positive), part)
            for sample, part in zip(self.samples, np.split(scores, np.cumsum(counts)[:-1]), strict=True)
        ]


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


def _judge(relevant: Array, scores: Array) -> _Scores:
    from sklearn.metrics import ndcg_score

    ndcg = 100 * float(ndcg_score([relevant], [scores], k=_PLACES))
    first = 1 + int((scores[~relevant] >= scores[relevant].max()).sum())
    return _Scores(average_precision(scores, relevant), 100 / first if first <= _PLACES else 0.0, ndcg)


def _of_first_search(sample: Sample) -> _Scores:
    """How good the order of the documents was; the positives it missed stand behind its last one."""
    relevant = [text in sample.positive for text in sample.documents]
    if not any(relevant):
        return _Scores(0.0, 0.0, 0.0)
    relevant += [True] * (len(sample.positive) - sum(relevant))
    return _judge(np.array(relevant), -np.arange(len(relevant)))


def _means(scores: list[_Scores]) -> dict[str, float]:
    found = _Scores(*np.mean(scores, axis=0).tolist())
    return {"ndcg@10": found.ndcg, "map": found.map, "mrr@10": found.mrr}
