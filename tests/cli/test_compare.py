"""``sbert compare`` as a real process: differences with their significance, drift, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from commandline import process

from sbert import BiEncoder
from sbert.evaluate import Similarity, compare
from sbert.evaluate.drift import drift
from sbert.evaluate.metrics import spearman
from sbert.evaluate.suites.sts import ScoredPairs

KOREAN = ["한 남자가 기타를 친다", "한 여자가 노래한다", "고양이가 잔다", "비가 온다", "<b>책</b>을 읽는다"]
ENGLISH = ["A man plays a guitar", "A woman sings", "The cat sleeps", "It rains", "She reads a book"]
TEXTS = [*KOREAN, *ENGLISH, *(f"{korean}: {english}" for korean, english in zip(KOREAN, ENGLISH, strict=True))]


@pytest.fixture(scope="module")
def pairs() -> ScoredPairs:
    texts = [*KOREAN, *ENGLISH]
    both = [(a, b) for a in texts for b in texts if a < b]
    gold = np.array([5.0 * (len({*a} & {*b}) / len({*a} | {*b})) for a, b in both])
    return ScoredPairs([a for a, _ in both], [b for _, b in both], gold, [""] * len(both))


@pytest.fixture(scope="module")
def data(pairs, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("자료")
    rows = zip(pairs.gold.tolist(), pairs.first, pairs.second, strict=True)
    lines = ["split\tscore\tsentence1\tsentence2", *(f"test\t{c}\t{a}\t{b}" for c, a, b in rows)]
    (folder / "stsb.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "문장.txt").write_text("\n".join([KOREAN[0], *TEXTS]) + "\n", "utf-8")
    return folder


def test_scores_and_drift(tiny_folder, bundled, pairs, data, tmp_path):
    model, page = str(tiny_folder("bert")), tmp_path / "비교.html"
    done = process(
        "compare",
        *("all-MiniLM-L6-v2", model, "--suite", "sts", "--data", str(data)),
        *("--texts", str(data / "문장.txt"), "--report", str(page), "--json"),
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    (score,) = said["scores"]
    tiny = BiEncoder.from_pretrained(model)
    evaluator = Similarity(pairs.first, pairs.second, pairs.gold)
    first, second = (evaluator.predictions(encoder) for encoder in (bundled, tiny))
    expected = compare(spearman, first, second, pairs.gold)
    assert score["difference"] == pytest.approx(expected.difference)
    assert (score["low"], score["high"]) == pytest.approx((expected.low, expected.high))
    assert score["p_value"] == pytest.approx(expected.p_value)
    assert [task["task"] for task in said["missing"]] == ["sts12", "sts13", "sts14", "sts15", "sts16", "sick_r"]

    moved = drift(bundled.encode(TEXTS), tiny.encode(TEXTS))
    assert said["drift"]["texts"] == len(TEXTS)  # the text that was there twice counts once
    assert said["drift"]["cosine"] is None  # 384 and 32 numbers
    assert said["drift"]["nearest_changed"] == pytest.approx(moved.nearest_changed)
    lines = [KOREAN[0], *TEXTS]
    worst = said["drift"]["worst"]
    assert worst[0]["text"] == TEXTS[moved.worst(1)[0]]
    assert [found["row"] for found in worst] == [lines.index(found["text"]) for found in worst]
    html = page.read_text("utf-8")
    assert "&lt;b&gt;책&lt;/b&gt;을 읽는다" in html
    assert "<b>책" not in html
    assert f"{expected.p_value:.3f}" in html
    assert f"<p>Data: {data}, {data / '문장.txt'}.</p>" in html


def test_a_model_with_itself(tiny_folder, data, tmp_path):
    model, page = str(tiny_folder("bert")), tmp_path / "same.html"
    done = process("compare", model, model, "--texts", str(data / "문장.txt"), "--report", str(page))
    assert done.returncode == 0, done.stderr
    assert "cosine of 1.0000 on average" in done.stdout
    assert "The nearest text differs for 0.0% of 15 texts; on average 0.0% of the 10 nearest differ.\n" in done.stdout
    assert "moved furthest" not in done.stdout + page.read_text("utf-8")
    assert page.read_text("utf-8").count("<rect") == 20

    done = process("compare", model, model, "--data", str(data))
    assert done.returncode == 0, done.stderr
    row = next(line for line in done.stdout.splitlines() if line.lstrip().startswith("stsb"))
    assert "+0.00" in row
    assert " spearman " in row
    assert row.endswith(" no difference")


def test_neighbours_of_few_texts_are_all_the_others(tiny_folder, tmp_path):
    (tmp_path / "넷.txt").write_text("\n".join(KOREAN[:4]), "utf-8")
    done = process("compare", tiny_folder("bert"), tiny_folder("electra"), "--texts", tmp_path / "넷.txt")
    assert "% of 4 texts.\n" in done.stdout
    assert "on average" not in done.stdout.replace("on average.", "")


def test_own_pairs(tiny_folder, pairs, data):
    models = [str(tiny_folder(name)) for name in ("bert", "electra")]
    done = process("compare", *models, "--pairs", str(data / "stsb.tsv"), "--split", "test", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert [(score["task"], score["metric"]) for score in said["scores"]] == [
        ("stsb.tsv", "spearman"),
        ("stsb.tsv", "pearson"),
    ]
    evaluator = Similarity(pairs.first, pairs.second, pairs.gold)
    first, second = (evaluator.scores(BiEncoder.from_pretrained(model))[0] for model in models)
    assert said["scores"][0]["p_value"] == pytest.approx(first.compare(second).p_value)
    assert (said["missing"], "drift" in said) == ([], False)


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["--suite", "st", "--texts", "없음.txt"], "did you mean 'sts'?", 2),
        (["--texts", "없음.txt"], "없음.txt", 1),
        (["--report", "out.md"], "must end in .html", 2),
    ],
)
def test_what_is_wrong_is_one_line(tiny_folder, data, arguments, said, code):
    model = str(tiny_folder("bert"))
    done = process("compare", model, model, "--data", str(data), *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr


def test_a_reader_of_pairs_has_no_vectors(tiny_folder, tiny_classifier, data):
    cross = str(tiny_classifier("bert", 1))
    done = process("compare", str(tiny_folder("bert")), cross, "--texts", str(data / "문장.txt"))
    assert done.returncode == 1
    assert "CrossEncoder, but --texts needs models that give a vector a text" in done.stderr


def test_a_model_that_is_not_there_is_said_before_any_work(tiny_folder, data):
    done = process(
        "compare", str(tiny_folder("bert")), "./없는 모형", "--texts", str(data / "문장.txt"), "--data", str(data)
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1  # no progress of the first
    assert "없는 모형" in done.stderr


def test_texts_of_a_table(tiny_folder, data):
    models = [str(tiny_folder(name)) for name in ("bert", "electra")]
    done = process("compare", *models, "--texts", str(data / "stsb.tsv"))
    assert done.returncode == 1
    assert "--column" in done.stderr
    done = process("compare", *models, "--texts", str(data / "stsb.tsv"), "--column", "sentence2")
    assert done.returncode == 0, done.stderr
    assert "texts that moved furthest" in done.stdout


def test_nothing_measured_is_an_error(tiny_folder, tmp_path):
    model = str(tiny_folder("bert"))
    done = process("compare", model, model, "--data", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: nothing was measured")
