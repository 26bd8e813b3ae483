"""The demo shows what it says: real pairs and answers, honest arithmetic, and a page that needs only itself."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commandline import failure, sbert
from webpage import read

from sbert import BiEncoder
from sbert.cli.demo.languages import KOREAN_QUERY, LANGUAGES
from sbert.cli.demo.results import korean_answer
from sbert.cli.demo.topics import topic_means
from sbert.hub import bundled as hub_bundled

ENGLISH, KOREAN = LANGUAGES["en"], LANGUAGES["ko"]
KOREAN_ANSWERS = [
    "밤에 잠이 안 올 때는 어떻게 해야 하나요?",
    "휴대폰 배터리가 너무 빨리 닳아요.",
    "아이가 채소를 먹지 않으려고 해서 걱정이에요.",
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """The real demo on the default model: its figures and its page."""
    path = tmp_path_factory.mktemp("demo") / "한국어 page.html"
    result = sbert("demo", "--json", "-o", path)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    facts = json.loads(result.stdout)
    assert facts["page"] == str(path)
    return facts, path.read_text(encoding="utf-8")


def test_the_pairs_are_the_most_similar_ones(run: tuple[dict[str, Any], str], bundled: BiEncoder):
    facts, _ = run
    texts = [sentence.text for sentence in ENGLISH.sentences()]
    assert facts["sentences"] == len(texts) == 1317
    vectors = bundled.encode(texts, normalize_embeddings=True).astype(np.float64)
    cosines = np.triu(vectors @ vectors.T, 1)
    best = np.sort(cosines.ravel())[: -len(facts["pairs"]) - 1 : -1]
    assert len(best) == 10
    np.testing.assert_allclose([pair["score"] for pair in facts["pairs"]], best, atol=1e-6)
    for pair in facts["pairs"]:
        first, second = pair["sentences"]
        assert cosines[first["row"], second["row"]] == pytest.approx(pair["score"], abs=1e-6)
        assert [texts[first["row"]], texts[second["row"]]] == [first["text"], second["text"]]


def test_the_best_answers_share_no_word_with_their_queries(run: tuple[dict[str, Any], str]):
    facts, _ = run
    answers = {entry["query"]: [hit["text"] for hit in entry["hits"]] for entry in facts["queries"]}
    assert list(answers) == [*ENGLISH.queries, KOREAN_QUERY]
    assert [answers[query][0] for query in ENGLISH.queries] == [
        "How can I fall asleep faster at night?",
        "On Thursday the central bank kept interest rates unchanged.",
        "My dog is afraid of fireworks.",
    ]
    assert "found by meaning" in facts["notes"]["queries"]
    korean = facts["queries"][-1]["hits"]
    sentences = ENGLISH.sentences()
    assert [hit["topic"] for hit in korean] == ["korean"] * 3
    assert [sentences[hit["row"]].text for hit in korean] == [hit["text"] for hit in korean]
    assert facts["korean_model"] == "sbert-ko-base"
    assert korean[0]["text"] in ("내일 서울에 비가 올까요?", "내일 서울에 갈 때 우산을 챙겨야 하나요?")
    assert "answered by sbert-ko-base" in facts["notes"]["korean"]


def test_without_the_korean_model_the_default_model_answers(bundled: BiEncoder, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hub_bundled, "find", lambda package: None)
    sentences = ENGLISH.sentences()
    answer, reader = korean_answer(ENGLISH, None, bundled, sentences)
    assert answer is not None
    assert reader is None
    assert {sentences[int(hit.id)].topic for hit in answer.hits} == {"korean"}
    assert korean_answer(KOREAN, None, bundled, KOREAN.sentences()) == (None, None)


def test_the_costs_follow_from_what_was_measured(run: tuple[dict[str, Any], str]):
    facts, html = run
    seconds, (here, paper) = facts["seconds"], facts["cost"]
    assert list(seconds) == ["load", "embed", "compare", "search", "read", "draw"]
    assert (here["pairs"], paper["pairs"]) == (866_586, 49_995_000)
    assert here["vectors"] == pytest.approx(seconds["embed"] + seconds["compare"])
    for cost in (here, paper):
        assert cost["reading"] == pytest.approx(seconds["read"] / ENGLISH.sample * cost["pairs"])
        assert cost["ratio"] == pytest.approx(cost["reading"] / cost["vectors"])
    more = 10_000 / 1317
    assert paper["vectors"] == pytest.approx(seconds["embed"] * more + seconds["compare"] * more**2, rel=0.01)
    assert here["ratio"] > 100  # 662 passes for each sentence, and twice as long ones
    assert "extrapolated" in facts["notes"]["cost"]
    assert facts["notes"]["cost"] in html


def test_the_page_holds_every_sentence_and_needs_only_itself(run: tuple[dict[str, Any], str]):
    facts, html = run
    page = read(html)
    titles = page.texts["title"]
    assert {f"{topic}: {text}" for topic, text in ENGLISH.sentences()} <= set(titles)
    assert len(titles) == 1 + 1317 + 17 * 17  # of the page, of every dot, of every square
    assert page.texts["h3"] == [*ENGLISH.queries, KOREAN_QUERY]
    cells = " ".join(page.texts["td"])
    for pair in facts["pairs"]:
        assert f"{pair['score']:.3f}" in cells
        assert "\n".join(sentence["text"] for sentence in pair["sentences"]) in cells
    assert len(html.encode()) < 500_000


def test_the_terminal_shows_it_all_and_claims_nothing_of_other_models(
    tmp_path: Path, tiny_folder: Callable[[str], Path]
):
    path = tmp_path / "page.html"
    result = sbert("demo", "-o", path, "--model", tiny_folder("bert"))
    for expected in ("1,317 sentences in", "866,586 pairs", "49,995,000", "tokens/s", *ENGLISH.queries, KOREAN_QUERY):
        assert expected in result.stdout
    assert re.search(r"^time .*: load .*, embed .*, compare .*, search .*, read .*, draw ", result.stdout, re.M)
    assert path.name in result.stdout.splitlines()[-1]
    assert "trained on English" not in result.stdout
    assert "different meanings" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 120
    read(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "code"), [("missing/page.html", 1), ("page.txt", 2), (".", 2), ("-", 2)])
def test_a_page_that_cannot_be_written_is_an_error_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: int
):
    monkeypatch.chdir(tmp_path)
    message = failure("demo", "-o", name, "--model", "no/such/model", code=code)
    assert repr(name) in message
    assert "no/such/model" not in message  # it was not even looked for
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_fails_leaves_the_old_page(tmp_path: Path):
    path = tmp_path / "page.html"
    path.write_text("old", encoding="utf-8")
    sbert("demo", "-o", path, "--model", tmp_path / "nothing", code=1)
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def clusters(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Three bunches of unit vectors in 16 dimensions, and which is whose."""
    generator = np.random.default_rng(0)
    labels = np.arange(count) % 3
    vectors = np.eye(16)[labels] * 3 + generator.normal(size=(count, 16)) * 0.4
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), labels


def test_the_squares_are_means_without_a_sentence_and_itself():
    vectors, labels = clusters(30)
    labels[:4] = 0  # topics of different sizes
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    means = topic_means(cosines, labels)
    for (row, column), mean in np.ndenumerate(means):
        pairs = [
            vectors[i] @ vectors[j]
            for i in np.flatnonzero(labels == row)
            for j in np.flatnonzero(labels == column)
            if i != j
        ]
        assert mean == pytest.approx(np.mean(pairs), abs=1e-5)


@pytest.fixture(scope="module")
def korean_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The Korean demo: what the terminal shows, and its page."""
    path = tmp_path_factory.mktemp("demo") / "데모.html"
    result = sbert("demo", "--language", "ko", "-o", path)
    return result.stdout, path.read_text(encoding="utf-8")


def test_the_korean_demo_finds_by_meaning_and_speaks_korean(korean_run: tuple[str, str]):
    shown, html = korean_run
    for expected in (
        "문장 320개",
        "51,040",
        "가장 비슷한 문장 쌍 10개",
        "크로스 인코더",
        "sbert-ko-base",
        *KOREAN.queries,
    ):
        assert expected in shown
        assert expected in html or expected.startswith("가장")
    assert "뜻으로 찾은 결과" in shown
    for query, answer in zip(KOREAN.queries, KOREAN_ANSWERS, strict=True):
        assert answer in shown.split(f"? {query}")[1].splitlines()[2]
    assert re.search(r"^시간 .*: 불러오기 .*, 임베딩 .*, 그리기 ", shown, re.M)


def test_the_korean_page_holds_no_english_sentence(korean_run: tuple[str, str]):
    _, html = korean_run
    page = read(html)
    assert '<html lang="ko">' in html
    assert page.texts["h3"] == list(KOREAN.queries)
    prose = [text for tag in ("h1", "h2", "p", "dt", "th", "footer") for text in page.texts[tag]]
    assert all(re.search("[가-힣]", text) for text in prose if text != "cosine")
    assert {f"{topic}: {text}" for topic, text in KOREAN.sentences()} <= set(page.texts["title"])


def test_the_corpora_have_a_topic_and_a_text_of_their_own_in_every_line():
    for language, count in ((ENGLISH, 1317), (KOREAN, 320)):
        sentences = language.sentences()
        assert len(sentences) == len({sentence.text for sentence in sentences}) == count
        assert all(topic.strip() and text.strip() for topic, text in sentences)


def test_a_language_without_a_demo_is_wrong_usage(tmp_path: Path):
    assert "'fr'" in failure("demo", "--language", "fr", "-o", tmp_path / "page.html", code=2)
