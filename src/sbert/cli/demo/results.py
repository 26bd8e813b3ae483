"""What ``sbert demo`` measures and finds. Prints nothing: the terminal and the page both read it from here.

Times are measured where the demo runs. Everything else is the same in every run: sentences, queries and the sample
of pairs are fixed, and a vector depends on its text alone.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from sbert.text.display import duration

if TYPE_CHECKING:
    from sbert.models.bi import BiEncoder
    from sbert.types import Array, FloatArray, Hit, Pair

QUERIES = (
    "What are some remedies for insomnia?",
    "Monetary authorities held their benchmark steady.",
    "What calms a canine that panics at pyrotechnics?",
)
KOREAN_QUERY = "서울의 날씨가 어때요?"
TOP_PAIRS, TOP_HITS = 10, 3
SAMPLE = 512
"""Pairs that are really read together: enough for a steady time, and a few seconds on two cores."""
PAPER_SENTENCES = 10_000


class Sentence(NamedTuple):
    """One line of the corpus that comes with the package."""

    topic: str
    text: str


class Answer(NamedTuple):
    """A query and its nearest sentences; the ``id`` of a hit is its row in the corpus."""

    query: str
    hits: list[Hit]


class Cost(NamedTuple):
    """Seconds to find the most similar pairs of so many sentences, both ways."""

    sentences: int
    vectors: float
    """One vector for each sentence, then all vectors with all."""
    reading: float
    """One pass for each pair, as a cross-encoder does."""

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return self.sentences * (self.sentences - 1) // 2

    @property
    def ratio(self) -> float:
        """How many times longer reading every pair takes."""
        return self.reading / self.vectors


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """One run of the demo."""

    model: str
    embedded: bool
    """Whether it is the embedded model, of which we know what it learned from."""
    similarity: str
    sentences: list[Sentence]
    tokens: int
    vectors: FloatArray
    """(N, D)."""
    pairs: list[Pair]
    answers: list[Answer]
    korean: Answer
    seconds: dict[str, float]
    """By step, in order: load, embed, compare, search, read; what is added later is not used here."""

    def cost(self, sentences: int) -> Cost:
        """Embedding grows with the sentences, comparing vectors and reading with the pairs."""
        here = Cost(len(self.sentences), 0, 0)
        pairs = Cost(sentences, 0, 0).pairs
        vectors = self.seconds["embed"] * sentences / here.sentences + self.seconds["compare"] * pairs / here.pairs
        return Cost(sentences, vectors, self.seconds["read"] * pairs / SAMPLE)

    @property
    def costs(self) -> tuple[Cost, Cost]:
        """Of this corpus, and of the paper's example."""
        return self.cost(len(self.sentences)), self.cost(PAPER_SENTENCES)

    @property
    def speed(self) -> str:
        """Of embedding."""
        seconds = self.seconds["embed"]
        return f"{len(self.sentences) / seconds:,.0f} sentences/s, {self.tokens / seconds:,.0f} tokens/s"

    @property
    def notes(self) -> dict[str, str]:
        """What has to be said beside the figures: on pairs, queries, korean and cost; empty where it is not so."""
        by_meaning = all(_share_no_word(query, self.text(hits[0])) for query, hits in self.answers)
        return {
            "pairs": _PAIRS if self.embedded else "",
            "queries": _QUERIES if by_meaning else "",
            "korean": _KOREAN if self.embedded else "",
            "cost": _COST.format(SAMPLE, duration(self.seconds["read"]), PAPER_SENTENCES, len(self.sentences)),
        }

    def pair_rows(self) -> Iterator[list[str]]:
        """Score, topics and both sentences of every pair, as they are shown."""
        for first, second, score in self.pairs:
            a, b = self.sentences[first], self.sentences[second]
            topics = a.topic if a.topic == b.topic else f"{a.topic}, {b.topic}"
            yield [f"{score:.3f}", topics, f"{a.text}\n{b.text}"]

    def hit_rows(self, answer: Answer) -> Iterator[list[str]]:
        """Score, topic and sentence of every hit."""
        for hit in answer.hits:
            yield [f"{hit.score:.3f}", self.sentences[int(hit.id)].topic, self.text(hit)]

    def cost_rows(self) -> Iterator[list[str]]:
        """How many sentences and pairs, both times, and their ratio."""
        for cost in self.costs:
            times = [duration(cost.vectors), duration(cost.reading), f"{cost.ratio:,.0f} ×"]
            yield [f"{cost.sentences:,}", f"{cost.pairs:,}", *times]

    def text(self, hit: Hit) -> str:
        """The sentence that was hit."""
        return self.sentences[int(hit.id)].text


_PAIRS = (
    "Some pairs have nearly the same words and another meaning: one vector for a sentence hardly shows who did what "
    "to whom. Where that matters, read a short list like this one again with a cross-encoder."
)
_QUERIES = "No best answer has a single word of its query: they were found by meaning."
_KOREAN = (
    "The embedded model learned from English; in Korean it sees shared letters more than meaning. For Korean, name a "
    "model trained on it: sbert demo --model NAME."
)
_COST = (
    "Reading times are extrapolated from a sample: {:,} random pairs, each read as one text by the same transformer "
    "on this machine, took {}. The vector time for {:,} sentences is scaled up from {:,}. The paper (Reimers and "
    "Gurevych, 2019) has 65 hours against 5 seconds, with BERT on a V100 GPU."
)


def find(name: str | None, say: Callable[[str, str], None]) -> Findings:
    """Run every step with the model ``name``; ``say`` hears what is done, as soon as it is."""
    from sbert.search.exact import most_similar_pairs

    seconds: dict[str, float] = {}
    sentences = read_sentences()
    texts = [sentence.text for sentence in sentences]
    say("corpus", f"{len(texts):,} sentences on {len({sentence.topic for sentence in sentences})} topics")
    with timed(seconds, "load"):
        from sbert.models.bi import BiEncoder

        model = BiEncoder.from_pretrained(name)
    known_as = name or _embedded_name()
    say("loaded", f"{known_as} in {duration(seconds['load'])}")
    with timed(seconds, "embed"):
        vectors = model.encode_document(texts)
    with timed(seconds, "compare"):
        pairs = most_similar_pairs(vectors, TOP_PAIRS, similarity=model.similarity_fn_name)
    with timed(seconds, "search"):
        answers = _search(model, vectors, range(len(texts)), QUERIES)
        korean_rows = [row for row, sentence in enumerate(sentences) if sentence.topic == "korean"]
        korean = _search(model, vectors, korean_rows, [KOREAN_QUERY])[0]
    found = Findings(
        model=known_as,
        embedded=name is None,
        similarity=model.similarity_fn_name,
        sentences=sentences,
        tokens=int(model.tokenize(texts).lengths.sum()),
        vectors=vectors,
        pairs=pairs,
        answers=answers,
        korean=korean,
        seconds=seconds,
    )
    say("embedded", f"{len(texts):,} sentences in {duration(seconds['embed'])}: {found.speed}")
    say("compared", f"{Cost(len(texts), 0, 0).pairs:,} pairs in {duration(seconds['compare'])}")
    with timed(seconds, "read"):
        _read_pairs(model, texts)
    say("read", f"{SAMPLE:,} pairs as a cross-encoder would, in {duration(seconds['read'])}")
    return found


def read_sentences() -> list[Sentence]:
    """The corpus that comes with the package."""
    lines = resources.files("sbert.cli.demo").joinpath("sentences.tsv").read_text(encoding="utf-8").splitlines()
    return [Sentence(*line.split("\t")) for line in lines[1:]]


def _embedded_name() -> str:
    from sbert.hub.bundled import DEFAULT

    return f"{DEFAULT.rpartition('/')[2]} (embedded)"


def _search(model: BiEncoder, vectors: Array, rows: range | list[int], queries: Sequence[str]) -> list[Answer]:
    from sbert.search.exact import semantic_search

    found = semantic_search(model.encode_query(queries), vectors[rows], TOP_HITS, model.similarity_fn_name)
    return [
        Answer(query, [hit._replace(id=rows[int(hit.id)]) for hit in hits])
        for query, hits in zip(queries, found, strict=True)
    ]


def _read_pairs(model: BiEncoder, texts: list[str]) -> None:
    """Both texts of a pair in one pass: the work of a cross-encoder, which reads one separator more."""
    chance = random.Random(0)
    model.encode([" ".join(chance.sample(texts, 2)) for _ in range(SAMPLE)])


def _share_no_word(first: str, second: str) -> bool:
    a, b = (set(re.findall(r"\w+", text.lower())) for text in (first, second))
    return a.isdisjoint(b)


@contextmanager
def timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    """Note under ``step`` how long the block took."""
    start = time.perf_counter()
    yield
    seconds[step] = time.perf_counter() - start
