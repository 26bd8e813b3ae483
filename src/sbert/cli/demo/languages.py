"""What ``sbert demo`` reads, searches and says in each language. Works on texts only."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Literal, NamedTuple

from sbert.hub.bundled import DEFAULT, KOREAN

LanguageName = Literal["en", "ko"]

KOREAN_QUERY = "서울의 날씨가 어때요?"
"""The query that the English demo answers with the Korean model."""


class Sentence(NamedTuple):
    """One line of a corpus that comes with the package."""

    topic: str
    text: str


@dataclass(frozen=True, slots=True)
class Steps:
    """The name of each step, and the sentence that says what it did."""

    corpus: tuple[str, str]
    loaded: tuple[str, str]
    embedded: tuple[str, str]
    compared: tuple[str, str]
    read: tuple[str, str]
    time: str
    page: str
    durations: tuple[str, str, str, str, str, str]
    """The names of the measured steps: load, embed, compare, search, read, draw."""


@dataclass(frozen=True, slots=True)
class Titles:
    """The titles of the tables, and the headings of their columns."""

    pairs: str
    costs: str
    pair_columns: tuple[str, str]
    """The topic and the text; the first column is named after the similarity."""
    cost_columns: tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Notes:
    """Remarks below the tables."""

    pairs: str
    queries: str
    cost: str
    """Takes the size of the sample, its duration, the number of sentences in the paper, and that of the corpus."""
    speed: str
    """Takes sentences and tokens per second."""


@dataclass(frozen=True, slots=True)
class Language:
    """A corpus with its queries and its packaged model, and the words for what was found."""

    name: LanguageName
    file: str
    model: str
    default: str
    """Stands after the name of the packaged model."""
    queries: tuple[str, ...]
    sample: int
    """Number of pairs that are read together: enough for a stable time, and a few seconds of work on two cores."""
    template: str
    steps: Steps
    titles: Titles
    notes: Notes

    def sentences(self) -> list[Sentence]:
        """Read the corpus."""
        lines = resources.files("sbert.cli.demo").joinpath(self.file).read_text(encoding="utf-8").splitlines()
        return [Sentence(*line.split("\t")) for line in lines[1:]]


LANGUAGES: dict[LanguageName, Language] = {
    "en": Language(
        name="en",
        file="english.tsv",
        model=DEFAULT,
        default="default",
        queries=(
            "What are some remedies for insomnia?",
            "Monetary authorities held their benchmark steady.",
            "What calms a canine that panics at pyrotechnics?",
        ),
        sample=512,
        template="demo.html",
        steps=Steps(
            corpus=("corpus", "{:,} sentences on {} topics"),
            loaded=("loaded", "{} in {}"),
            embedded=("embedded", "{:,} sentences in {}: {}"),
            compared=("compared", "{:,} pairs in {}"),
            read=("read", "{:,} pairs as a cross-encoder would, in {}"),
            time="time",
            page="page",
            durations=("load", "embed", "compare", "search", "read", "draw"),
        ),
        titles=Titles(
            pairs="The {} most similar pairs",
            costs="One vector per sentence, or a cross-encoder for every pair",
            pair_columns=("topic", "text"),
            cost_columns=("sentences", "pairs", "vectors", "cross-encoder", "ratio"),
        ),
        notes=Notes(
            pairs=(
                "Some of these pairs have nearly the same words but different meanings. A single vector per sentence "
                "hardly shows who did what to whom. Where this matters, score a short list like this one again with a "
                "cross-encoder."
            ),
            queries="None of the best answers shares a word with its query: they were found by meaning.",
            cost=(
                "The times for a cross-encoder are extrapolated: {:,} random pairs, each read as one text by the same "
                "transformer on this machine, took {}. The time of the vectors for {:,} sentences is scaled up from "
                "{:,}. The paper (Reimers and Gurevych, 2019) reports 65 hours and 5 seconds, with BERT on a V100 GPU."
            ),
            speed="{:,.0f} sentences/s, {:,.0f} tokens/s",
        ),
    ),
    "ko": Language(
        name="ko",
        file="korean.tsv",
        model=KOREAN,
        default="한국어 기본 모델",
        queries=(
            "숙면을 취하려면?",
            "스마트폰이 금세 방전돼요.",
            "우리 애가 나물을 통 안 먹습니다.",
        ),
        sample=128,
        template="demo_ko.html",
        steps=Steps(
            corpus=("말뭉치", "{1}개 주제의 문장 {0:,}개"),
            loaded=("모델", "{}, {} 만에 불러옴"),
            embedded=("임베딩", "문장 {:,}개를 {} 만에 임베딩: {}"),
            compared=("비교", "문장 쌍 {:,}개를 {} 만에 비교"),
            read=("읽기", "문장 쌍 {:,}개를 크로스 인코더처럼 읽는 데 {}"),
            time="시간",
            page="페이지",
            durations=("불러오기", "임베딩", "비교", "검색", "읽기", "그리기"),
        ),
        titles=Titles(
            pairs="가장 비슷한 문장 쌍 {}개",
            costs="문장마다 벡터 하나를 만들 때와 모든 쌍을 크로스 인코더로 읽을 때",
            pair_columns=("주제", "문장"),
            cost_columns=("문장", "문장 쌍", "벡터", "크로스 인코더", "배율"),
        ),
        notes=Notes(
            pairs=(
                "단어는 거의 같지만 뜻이 다른 쌍도 섞여 있습니다. 문장마다 벡터 하나만 쓰면 누가 무엇을 했는지, "
                "이겼는지 졌는지 같은 차이가 잘 드러나지 않습니다. 이런 차이가 중요하다면 이렇게 추려 낸 목록을 "
                "크로스 인코더로 다시 채점하세요."
            ),
            queries="가장 가까운 문장과 질문 사이에는 같은 단어가 하나도 없습니다. 뜻으로 찾은 결과입니다.",
            cost=(
                "크로스 인코더의 시간은 추정값입니다. 무작위로 고른 문장 쌍 {:,}개를 같은 트랜스포머로 한꺼번에 읽는 "
                "데 이 컴퓨터에서 {} 걸렸습니다. 문장 {:,}개의 벡터를 만드는 시간은 {:,}개에서 잰 시간으로 "
                "추정했습니다. 논문(Reimers and Gurevych, 2019)은 V100 GPU와 BERT로 각각 65시간과 5초가 걸린다고 "
                "했습니다."
            ),
            speed="초당 문장 {:,.0f}개, 토큰 {:,.0f}개",
        ),
    ),
}
