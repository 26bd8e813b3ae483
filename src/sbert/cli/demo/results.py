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
from typing import TYPE_CHECKING, NamedTuple

from sbert.cli.demo.languages import KOREAN_QUERY, Language, Sentence
from sbert.pages.records import Table
from sbert.text.display import duration

if TYPE_CHECKING:
    from sbert.models.bi import BiEncoder
    from sbert.types import Array, FloatArray, Hit, Pair

TOP_PAIRS, TOP_HITS = 10, 3
PAPER_SENTENCES = 10_000

_ENGLISH_READS_KOREAN = (
    "The default model was trained on English. In Korean it matches shared characters rather than meaning. "
    "For Korean, name a model that was trained on it: sbert demo --model NAME."
)
_KOREAN_READS_KOREAN = (
    "The query in Korean was answered by {}, which was trained on Korean: sbert demo --language ko shows more."
)


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

    language: Language
    model: str
    embedded: bool
    """Whether it is the packaged model of the language, whose training data is known."""
    similarity: str
    sentences: list[Sentence]
    tokens: int
    vectors: FloatArray
    """(N, D)."""
    pairs: list[Pair]
    answers: list[Answer]
    korean: Answer | None
    """The answer to a query in Korean among the Korean sentences of the English corpus."""
    korean_model: str | None
    """The model that answered it, where that is another one."""
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
        reading = self.seconds["read"] * math.comb(sentences, 2) / self.language.sample
        return Cost(sentences, math.comb(sentences, 2), embed + compare, reading, reading / (embed + compare))

    @property
    def speed(self) -> str:
        """The speed of embedding."""
        seconds = self.seconds["embed"]
        return self.language.notes.speed.format(len(self.sentences) / seconds, self.tokens / seconds)

    @property
    def notes(self) -> dict[str, str]:
        """Remarks on the pairs, the queries, the query in Korean and the cost; empty where they do not apply."""
        first_hits = ((query, self.sentences[int(hits[0].id)].text) for query, hits in self.answers)
        by_meaning = all(_words(query).isdisjoint(_words(text)) for query, text in first_hits)
        say, read = self.language.notes, duration(self.seconds["read"])
        korean = _KOREAN_READS_KOREAN.format(self.korean_model) if self.korean_model else _ENGLISH_READS_KOREAN
        return {
            "pairs": say.pairs if self.embedded else "",
            "queries": say.queries if by_meaning else "",
            "korean": korean if self.korean and self.embedded else "",
            "cost": say.cost.format(self.language.sample, read, PAPER_SENTENCES, len(self.sentences)),
        }

    def pair_table(self) -> Table:
        """The score, the topics and both sentences of every pair."""
        return self._table((score, [first, second]) for first, second, score in self.pairs)

    def answer_table(self, answer: Answer) -> Table:
        """The score, the topic and the sentence of every hit."""
        return self._table((hit.score, [int(hit.id)]) for hit in answer.hits)

    def _table(self, found: Iterable[tuple[float, list[int]]]) -> Table:
        rows = []
        for score, places in found:
            topics, texts = zip(*(self.sentences[place] for place in places), strict=True)
            rows.append([f"{score:.3f}", ", ".join(dict.fromkeys(topics)), "\n".join(texts)])
        return Table([self.similarity, *self.language.titles.pair_columns], rows, "rll")

    def cost_table(self) -> Table:
        """Both costs."""
        rows = [
            [f"{sentences:,}", f"{pairs:,}", duration(vectors), duration(reading), f"{ratio:,.0f} ×"]
            for sentences, pairs, vectors, reading, ratio in self.costs
        ]
        return Table(self.language.titles.cost_columns, rows, "rrrrr")


def run(language: Language, name: str | None, say: Callable[[str, str], None]) -> DemoResults:
    """Run every step.

    Args:
        language: The corpus, its queries, and the words for what is found.
        name: The model's folder or name; None for the packaged model of the language.
        say: Called after each step with its name and a sentence.
    """
    from sbert.search.exact import most_similar_pairs

    seconds: dict[str, float] = {}
    steps = language.steps
    sentences = language.sentences()
    texts = [sentence.text for sentence in sentences]
    _say(say, steps.corpus, len(texts), len({sentence.topic for sentence in sentences}))
    with timed(seconds, "load"):
        from sbert.models.bi import BiEncoder

        model = BiEncoder.from_pretrained(name or language.model)
    known_as = name or f"{language.model.rpartition('/')[2]} ({language.default})"
    _say(say, steps.loaded, known_as, duration(seconds["load"]))
    with timed(seconds, "embed"):
        vectors = model.encode_document(texts)
    with timed(seconds, "compare"):
        pairs = most_similar_pairs(vectors, TOP_PAIRS, similarity=model.similarity_fn_name)
    with timed(seconds, "search"):
        answers = _search(model, vectors, language.queries)
        korean, korean_model = korean_answer(language, name, model, sentences)
    found = DemoResults(
        language=language,
        model=known_as,
        embedded=name is None,
        similarity=model.similarity_fn_name,
        sentences=sentences,
        tokens=int(model.tokenize(texts).lengths.sum()),
        vectors=vectors,
        pairs=pairs,
        answers=answers,
        korean=korean,
        korean_model=korean_model,
        seconds=seconds,
    )
    _say(say, steps.embedded, len(texts), duration(seconds["embed"]), found.speed)
    _say(say, steps.compared, math.comb(len(texts), 2), duration(seconds["compare"]))
    with timed(seconds, "read"):  # both texts of a pair in one pass; a cross-encoder reads one more separator
        chance = random.Random(0)
        model.encode([" ".join(chance.sample(texts, 2)) for _ in range(language.sample)])
    _say(say, steps.read, language.sample, duration(seconds["read"]))
    return found


def _say(say: Callable[[str, str], None], step: tuple[str, str], *facts: object) -> None:
    key, sentence = step
    say(key, sentence.format(*facts))


def korean_answer(
    language: Language, name: str | None, model: BiEncoder, sentences: list[Sentence]
) -> tuple[Answer | None, str | None]:
    """Answer the query in Korean, with the Korean model if it is installed and no other model is named."""
    from sbert.hub import bundled
    from sbert.models.bi import BiEncoder

    rows = [row for row, sentence in enumerate(sentences) if sentence.topic == "korean"]
    if not rows:
        return None, None
    is_installed = name is None and bundled.find(bundled.PACKAGES[bundled.KOREAN]) is not None
    reader = BiEncoder.from_pretrained(bundled.KOREAN) if is_installed else model
    vectors = reader.encode_document([sentences[row].text for row in rows])
    (query, hits), *_ = _search(reader, vectors, [KOREAN_QUERY])
    return Answer(
        query, [hit._replace(id=rows[int(hit.id)]) for hit in hits]
    ), bundled.KOREAN if is_installed else None


def _search(model: BiEncoder, vectors: Array, queries: Sequence[str]) -> list[Answer]:
    from sbert.search.exact import semantic_search

    found = semantic_search(model.encode_query(queries), vectors, TOP_HITS, model.similarity_fn_name)
    return [Answer(query, hits) for query, hits in zip(queries, found, strict=True)]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


@contextmanager
def timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    """Record the duration of the block under the name of the step."""
    start = time.perf_counter()
    yield
    seconds[step] = time.perf_counter() - start
