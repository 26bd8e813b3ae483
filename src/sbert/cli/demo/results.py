"""Runs the steps of ``sbert demo`` and keeps what they found. Prints nothing: the terminal and the page show it.

Times are measured on this machine. Everything else is the same in every run: the sentences, the queries and the sample
of pairs are fixed, and a vector depends on its text alone.
"""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from sbert.pages.records import Table
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
"""Number of pairs that are read together: enough for a stable time, and a few seconds of work on two cores."""
PAPER_SENTENCES = 10_000

_PAIRS_NOTE = (
    "Some of these pairs have nearly the same words but different meanings. A single vector per sentence hardly shows "
    "who did what to whom. Where this matters, score a short list like this one again with a cross-encoder."
)
_QUERIES_NOTE = "None of the best answers shares a word with its query: they were found by meaning."
_KOREAN_NOTE = (
    "The default model was trained on English. In Korean it matches shared characters rather than meaning. "
    "For Korean, name a model that was trained on it: sbert demo --model NAME."
)
_COST_NOTE = (
    "The times for a cross-encoder are extrapolated: {:,} random pairs, each read as one text by the same transformer "
    "on this machine, took {}. The time of the vectors for {:,} sentences is scaled up from {:,}. The paper (Reimers "
    "and Gurevych, 2019) reports 65 hours and 5 seconds, with BERT on a V100 GPU."
)


class Sentence(NamedTuple):
    """One line of the corpus that comes with the package."""

    topic: str
    text: str


class Answer(NamedTuple):
    """A query and its nearest sentences; the ``id`` of a hit is its row in the corpus."""

    query: str
    hits: list[Hit]


class Cost(NamedTuple):
    """Seconds to find the most similar pairs among a number of sentences, in two ways."""

    sentences: int
    pairs: int
    vectors: float
    """With one vector per sentence, and a comparison of all vectors."""
    reading: float
    """With one pass of a cross-encoder per pair."""
    ratio: float
    """How many times longer the cross-encoder takes."""


@dataclass(frozen=True, slots=True, eq=False)
class DemoResults:
    """One run of the demo."""

    model: str
    embedded: bool
    """Whether it is the default model, whose training data is known."""
    similarity: str
    sentences: list[Sentence]
    tokens: int
    vectors: FloatArray
    """(N, D)."""
    pairs: list[Pair]
    answers: list[Answer]
    """The last one is in Korean."""
    seconds: dict[str, float]
    """The duration of each step, in order: load, embed, compare, search, read, draw."""

    @property
    def costs(self) -> tuple[Cost, Cost]:
        """The costs for this corpus and for the example of the paper."""
        return self._cost(len(self.sentences)), self._cost(PAPER_SENTENCES)

    def _cost(self, sentences: int) -> Cost:
        """Extrapolate: embedding takes time per sentence, comparing vectors and reading take time per pair."""
        here = len(self.sentences)
        embed = self.seconds["embed"] * sentences / here
        compare = self.seconds["compare"] * math.comb(sentences, 2) / math.comb(here, 2)
        reading = self.seconds["read"] * math.comb(sentences, 2) / SAMPLE
        return Cost(sentences, math.comb(sentences, 2), embed + compare, reading, reading / (embed + compare))

    @property
    def speed(self) -> str:
        """The speed of embedding."""
        seconds = self.seconds["embed"]
        return f"{len(self.sentences) / seconds:,.0f} sentences/s, {self.tokens / seconds:,.0f} tokens/s"

    @property
    def notes(self) -> dict[str, str]:
        """Remarks on the pairs, the queries, the Korean query and the cost; empty where they do not apply."""
        first_hits = ((query, self.sentences[int(hits[0].id)].text) for query, hits in self.answers[:-1])
        by_meaning = all(_words(query).isdisjoint(_words(text)) for query, text in first_hits)
        return {
            "pairs": _PAIRS_NOTE if self.embedded else "",
            "queries": _QUERIES_NOTE if by_meaning else "",
            "korean": _KOREAN_NOTE if self.embedded else "",
            "cost": _COST_NOTE.format(SAMPLE, duration(self.seconds["read"]), PAPER_SENTENCES, len(self.sentences)),
        }

    def pair_table(self) -> Table:
        """The score, the topics and both sentences of every pair."""
        return self._table((score, [first, second]) for first, second, score in self.pairs)

    def answer_tables(self) -> list[tuple[str, Table]]:
        """Every query, and the score, the topic and the sentence of its hits."""
        return [(query, self._table((hit.score, [int(hit.id)]) for hit in hits)) for query, hits in self.answers]

    def _table(self, found: Iterable[tuple[float, list[int]]]) -> Table:
        rows = []
        for score, places in found:
            topics, texts = zip(*(self.sentences[place] for place in places), strict=True)
            rows.append([f"{score:.3f}", ", ".join(dict.fromkeys(topics)), "\n".join(texts)])
        return Table([self.similarity, "topic", "text"], rows, "rll")

    def cost_table(self) -> Table:
        """Both costs."""
        rows = [
            [f"{sentences:,}", f"{pairs:,}", duration(vectors), duration(reading), f"{ratio:,.0f} ×"]
            for sentences, pairs, vectors, reading, ratio in self.costs
        ]
        return Table(["sentences", "pairs", "vectors", "cross-encoder", "ratio"], rows, "rrrrr")


def run(name: str | None, say: Callable[[str, str], None]) -> DemoResults:
    """Run every step.

    Args:
        name: The model's folder or name; None for the default model.
        say: Called after each step with its name and a sentence.
    """
    from sbert.hub.bundled import DEFAULT
    from sbert.search.exact import most_similar_pairs

    seconds: dict[str, float] = {}
    sentences = read_sentences()
    texts = [sentence.text for sentence in sentences]
    say("corpus", f"{len(texts):,} sentences on {len({sentence.topic for sentence in sentences})} topics")
    with timed(seconds, "load"):
        from sbert.models.bi import BiEncoder

        model = BiEncoder.from_pretrained(name)
    known_as = name or f"{DEFAULT.rpartition('/')[2]} (default)"
    say("loaded", f"{known_as} in {duration(seconds['load'])}")
    with timed(seconds, "embed"):
        vectors = model.encode_document(texts)
    with timed(seconds, "compare"):
        pairs = most_similar_pairs(vectors, TOP_PAIRS, similarity=model.similarity_fn_name)
    with timed(seconds, "search"):
        korean_rows = [row for row, sentence in enumerate(sentences) if sentence.topic == "korean"]
        answers = _search(model, vectors, range(len(texts)), QUERIES)
        answers += _search(model, vectors, korean_rows, [KOREAN_QUERY])
    tokens = int(model.tokenize(texts).lengths.sum())
    similarity = model.similarity_fn_name
    found = DemoResults(known_as, name is None, similarity, sentences, tokens, vectors, pairs, answers, seconds)
    say("embedded", f"{len(texts):,} sentences in {duration(seconds['embed'])}: {found.speed}")
    say("compared", f"{math.comb(len(texts), 2):,} pairs in {duration(seconds['compare'])}")
    with timed(seconds, "read"):  # both texts of a pair in one pass; a cross-encoder reads one more separator
        chance = random.Random(0)
        model.encode([" ".join(chance.sample(texts, 2)) for _ in range(SAMPLE)])
    say("read", f"{SAMPLE:,} pairs as a cross-encoder would, in {duration(seconds['read'])}")
    return found


def read_sentences() -> list[Sentence]:
    """Read the corpus that comes with the package."""
    lines = resources.files("sbert.cli.demo").joinpath("sentences.tsv").read_text(encoding="utf-8").splitlines()
    return [Sentence(*line.split("\t")) for line in lines[1:]]


def _search(model: BiEncoder, vectors: Array, rows: range | list[int], queries: Sequence[str]) -> list[Answer]:
    from sbert.search.exact import semantic_search

    found = semantic_search(model.encode_query(queries), vectors[rows], TOP_HITS, model.similarity_fn_name)
    return [
        Answer(query, [hit._replace(id=rows[int(hit.id)]) for hit in hits])
        for query, hits in zip(queries, found, strict=True)
    ]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


@contextmanager
def timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    """Record the duration of the block under the name of the step."""
    start = time.perf_counter()
    yield
    seconds[step] = time.perf_counter() - start
