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
from sbert.cli.demo.results import KOREAN_QUERY, QUERIES, SAMPLE, read_sentences
from sbert.cli.demo.topics import topic_means


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
    texts = [sentence.text for sentence in read_sentences()]
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
    assert list(answers) == [*QUERIES, KOREAN_QUERY]
    assert [answers[query][0] for query in QUERIES] == [
        "How can I fall asleep faster at night?",
        "On Thursday the central bank kept interest rates unchanged.",
        "My dog is afraid of fireworks.",
    ]
    assert "found by meaning" in facts["notes"]["queries"]
    korean = facts["queries"][-1]["hits"]
    sentences = read_sentences()
    assert [hit["topic"] for hit in korean] == ["korean"] * 3
    assert [sentences[hit["row"]].text for hit in korean] == [hit["text"] for hit in korean]
    assert "trained on English" in facts["notes"]["korean"]


def test_the_costs_follow_from_what_was_measured(run: tuple[dict[str, Any], str]):
    facts, html = run
    seconds, (here, paper) = facts["seconds"], facts["cost"]
    assert list(seconds) == ["load", "embed", "compare", "search", "read", "draw"]
    assert (here["pairs"], paper["pairs"]) == (866_586, 49_995_000)
    assert here["vectors"] == pytest.approx(seconds["embed"] + seconds["compare"])
    for cost in (here, paper):
        assert cost["reading"] == pytest.approx(seconds["read"] / SAMPLE * cost["pairs"])
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
    assert {f"{topic}: {text}" for topic, text in read_sentences()} <= set(titles)
    assert len(titles) == 1 + 1317 + 17 * 17  # of the page, of every dot, of every square
    assert page.texts["h3"] == [*QUERIES, KOREAN_QUERY]
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
    for expected in ("1,317 sentences in", "866,586 pairs", "49,995,000", "tokens/s", *QUERIES, KOREAN_QUERY):
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
