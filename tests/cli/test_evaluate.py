"""``sbert evaluate`` as a real process: scores, confidence intervals, what is missing, and the page."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from commandline import process
from scipy.stats import spearmanr

from sbert import BiEncoder, CrossEncoder, PolyEncoder, WordEncoder

PAIRS = [
    ("한 남자가 기타를 친다", "한 남자가 기타를 친다", 5.0),
    ("한 남자가 기타를 친다", "한 여자가 기타를 친다", 3.2),
    ("고양이가 돌담 위에 앉아 있다", "개가 풀밭을 달린다", 0.4),
    ("A train leaves Paris at noon", "A train leaves Paris in the evening", 2.8),
    ("The museum is closed", "The museum does not open", 4.6),
    ("the cat sleeps", "the dog barks", 1.0),
    ("비가 온다", "I like jazz", 0.0),
    ("책을 읽는다", "책을 본다", 3.9),
]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("자료")
    lines = ["split\tsubset\tscore\tsentence1\tsentence2", *(f"test\ta\t{c}\t{a}\t{b}" for a, b, c in PAIRS)]
    for name in ("stsb", "korsts"):
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


def gold_against(predicted) -> float:
    return 100 * spearmanr(predicted, [score for _, _, score in PAIRS]).statistic


class Page(HTMLParser):
    """Every tag that opens must close, and nothing may come from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        assert not {"src", "href"} & {name for name, _ in attrs}
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_scores_intervals_and_what_is_missing(tiny_folder, data, tmp_path):
    model, page = str(tiny_folder("bert")), tmp_path / "보고서.html"
    done = process("evaluate", model, "--suite", "korean", "--data", str(data), "--json", "--report", str(page))
    assert done.returncode == 0, done.stderr
    (suite,) = json.loads(done.stdout)["suites"]
    (score,) = suite["scores"]
    first, second, _ = zip(*PAIRS, strict=True)
    first, second = (BiEncoder.from_pretrained(model).encode(side) for side in (first, second))
    cosines = np.vecdot(first, second) / np.linalg.norm(first, axis=1) / np.linalg.norm(second, axis=1)
    assert score["value"] == pytest.approx(gold_against(cosines))
    assert (score["task"], score["metric"], score["items"]) == ("korsts_test", "spearman_cosine", len(PAIRS))
    low, high = score["interval"]
    assert low < score["value"] < high
    reasons = {missing["task"]: missing["reason"] for missing in suite["missing"]}
    assert "korsts has no rows of the split" in reasons["korsts_dev"].replace(".tsv", "")
    assert "klue_sts" in reasons["klue_sts_dev"]
    assert "another kind" in reasons["klue_nli_dev"]

    drawn = Page()
    drawn.feed(text := page.read_text("utf-8"))
    assert drawn.open == []
    assert drawn.seen.count("svg") == 2
    assert text.count("h0") == len(PAIRS)
    assert f"{score['value']:.2f}" in text
    assert "klue_sts_dev" in text
    assert not re.search(r"https?://[^ ]+\.(js|css|png)", text)


def test_the_table_is_for_people_and_the_rest_for_standard_error(tiny_folder, data):
    done = process("evaluate", str(tiny_folder("bert")), SBERT_DATA=str(data))
    assert done.returncode == 0
    heading, row = done.stdout.splitlines()
    assert heading.split() == ["sts", "score", "95", "%", "items", "measure"]
    assert re.fullmatch(r" *stsb +-?\d+\.\d\d +-?\d+\.\d\d to -?\d+\.\d\d +8 +spearman_cosine *", row)
    missing = [line for line in done.stderr.splitlines() if line.startswith("missing")]
    assert len(missing) == 6
    assert "sts12" in missing[0]
    assert "SemEval 2012" in missing[0]


def test_every_kind_of_model(tiny_folder, tiny_classifier, data, tmp_path):
    cross = tiny_classifier("bert", 1)
    poly = tmp_path / "poly"
    PolyEncoder.from_pretrained(tiny_folder("bert")).save_pretrained(poly)
    pairs = [(first, second) for first, second, _ in PAIRS]
    for folder, kind in ((cross, CrossEncoder), (poly, PolyEncoder)):
        done = process("evaluate", str(folder), "--data", str(data), "--json")
        assert done.returncode == 0, done.stderr
        (score,) = json.loads(done.stdout)["suites"][0]["scores"]
        assert score["metric"] == "spearman"
        assert score["value"] == pytest.approx(gold_against(kind.from_pretrained(folder).predict(pairs)))


def test_a_word_encoder(data, tmp_path):
    (tmp_path / "vectors.txt").write_text("비가 1 0\n온다 0 1\n남자가 1 1\n", encoding="utf-8")
    WordEncoder.from_vectors(tmp_path / "vectors.txt").save_pretrained(tmp_path / "낱말")
    done = process("evaluate", str(tmp_path / "낱말"), "--suite", "korean", "--data", str(data), "--json")
    assert done.returncode == 0, done.stderr
    (suite,) = json.loads(done.stdout)["suites"]
    assert {score["metric"] for score in suite["scores"]} == {"spearman_cosine"}


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["--suite", "stss"], "did you mean 'sts'?", 2),
        (["--aggregation", "max"], "--aggregation is 'max'", 2),
        (["--data", "없는 폴더"], "no folder '없는 폴더'", 1),
        (["--report", "out.pdf"], "must end in .html", 2),
        (["--pairs", "없는 파일.tsv"], "없는 파일.tsv", 1),
        (["--suite", "sections", "--download"], "the hub did not give the data set", 1),  # these tests are offline
        ([], "give --data DIR, or set SBERT_DATA", 2),
    ],
)
def test_what_is_wrong_is_one_line(tiny_folder, data, arguments, said, code):
    named = [] if not arguments or "--data" in arguments else ["--data", str(data)]
    done = process("evaluate", str(tiny_folder("bert")), *named, *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr


def test_own_pairs(tiny_folder, tmp_path):
    model, page = str(tiny_folder("bert")), tmp_path / "내 보고서.html"
    path = tmp_path / "우리말.tsv"
    path.write_text("\n".join(["글1\t글2\t점수", *(f"{a}\t{b}\t{20 * c}" for a, b, c in PAIRS)]), "utf-8")
    named = ["--pairs", str(path), "--columns", "글1,글2", "--label", "점수"]
    done = process("evaluate", model, *named, "--device", "cpu", "--json", "--report", str(page))
    assert done.returncode == 0, done.stderr
    (suite,) = json.loads(done.stdout)["suites"]
    first, second, _ = zip(*PAIRS, strict=True)
    first, second = (BiEncoder.from_pretrained(model).encode(side) for side in (first, second))
    cosines = np.vecdot(first, second) / np.linalg.norm(first, axis=1) / np.linalg.norm(second, axis=1)
    spearman, pearson = suite["scores"]
    assert (spearman["task"], spearman["metric"], pearson["metric"]) == (
        path.name,
        "spearman_cosine",
        "pearson_cosine",
    )
    assert spearman["value"] == pytest.approx(gold_against(cosines))
    assert spearman["interval"][0] < spearman["value"] < spearman["interval"][1]
    assert path.name in page.read_text("utf-8")

    classes = tmp_path / "nli.tsv"
    classes.write_text("premise\thypothesis\tlabel\n비가 온다\t날씨가 궂다\tentailment\n", "utf-8")
    done = process("evaluate", model, "--pairs", str(classes))
    assert (done.returncode, done.stdout) == (1, "")
    missing, error = done.stderr.splitlines()
    assert missing.startswith("missing  nli.tsv: needs a model of another kind")
    assert error == "error: nothing was measured with --pairs"


def test_nothing_measured_is_an_error_and_an_average_says_of_how_many(tiny_folder, data, tmp_path):
    (tmp_path / "비었다").mkdir()
    done = process("evaluate", str(tiny_folder("bert")), "--data", str(tmp_path / "비었다"))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: nothing was measured")
    assert "--download fetches" in done.stderr

    (tmp_path / "stsb.tsv").write_bytes((data / "stsb.tsv").read_bytes())
    (tmp_path / "sts12.tsv").write_bytes((data / "stsb.tsv").read_bytes())
    done = process("evaluate", str(tiny_folder("bert")), "--data", str(tmp_path))
    assert done.returncode == 0
    assert "of 2 of 7 tasks" in done.stdout
