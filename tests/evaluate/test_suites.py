"""The suites: which files they find, how they score, what they say is missing."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from sbert import CrossEncoder
from sbert.errors import BadInput, BadOption
from sbert.evaluate.evaluators.similarity import aggregate
from sbert.evaluate.metrics import accuracy, spearman
from sbert.evaluate.score import Missing, Report, Score
from sbert.evaluate.suites.catalog import SUITES
from sbert.evaluate.suites.sources import DataFolder

# Pairs and scores, in an order that the words in common do not wholly follow.
PAIRS = [
    ("한 남자가 기타를 친다", "한 남자가 기타를 친다", 5.0),
    ("한 남자가 기타를 친다", "한 여자가 기타를 친다", 3.2),
    ("고양이가 따뜻한 돌담 위에 앉아 있다", "개가 풀밭을 달린다", 0.4),
    ("A train leaves Paris at noon", "A train leaves Paris in the evening", 2.8),
    ("The museum is closed", "The museum does not open", 4.6),
    ("the cat sleeps", "the dog barks", 1.0),
]


class Words:
    """Counts of words as vectors; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, sentences, *, on_truncate="warn"):
        assert on_truncate == "ignore"
        self.asked += sentences
        return np.array([self.vector(text) for text in sentences], np.float32)

    @staticmethod
    def vector(text: str) -> list[float]:
        vector = [0.0] * 97
        for word in text.split():
            vector[zlib.crc32(word.encode()) % 97] += 1
        return vector


class Overlap:
    """A scorer: the share of common words."""

    def predict(self, pairs, *, on_truncate="warn"):
        assert on_truncate == "ignore"
        return np.array([len({*a.split()} & {*b.split()}) / len({*a.split()} | {*b.split()}) for a, b in pairs])


class Oracle:
    """A classifier that knows the answers; its labels have an order and a spelling of their own."""

    labels = ("NEUTRAL", "CONTRADICTION", "ENTAILMENT")

    def __init__(self, answers: dict[tuple[str, str], str]) -> None:
        self.answers = answers

    def predict(self, pairs, *, on_truncate="warn"):
        return np.array([[name.lower() == self.answers[tuple(pair)] for name in self.labels] for pair in pairs], float)


def by_hand(pairs=PAIRS) -> float:
    a, b = (np.array([Words.vector(pair[side]) for pair in pairs]) for side in (0, 1))
    cosines = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    return 100 * spearmanr(cosines, [pair[2] for pair in pairs]).statistic


def tsv(path: Path, header: str, rows) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["\t".join(header.split()), *("\t".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def sts_table(path: Path, split: str = "test", subset: str = "x", pairs=PAIRS) -> Path:
    return tsv(path, "split subset score sentence1 sentence2", [(split, subset, s, a, b) for a, b, s in pairs])


def only(suite: str, task: str, folder: Path, model=None, **options) -> Score:
    (score,) = SUITES[suite].only(task).run(model or Words(), folder, **options).scores
    return score


def test_by_hand(tmp_path):
    path = sts_table(tmp_path / "korsts.tsv")
    with path.open("a", encoding="utf-8") as file:
        file.write("train\tx\t0\t한 남자가\t한 남자가\n")  # of another split
    score = only("korean", "korsts_test", tmp_path)
    assert (score.task, score.name, score.items, score.note) == ("korsts_test", "spearman_cosine", 6, "")
    assert score.value == pytest.approx(by_hand(), abs=1e-4)
    assert 50 < score.value < 99  # neither right nor wrong by construction
    assert score.metric is spearman
    assert spearman(score.predicted, score.gold) == score.value
    assert str(score).startswith("korsts_test spearman_cosine ")


def semeval(folder: Path) -> None:
    folder = folder / "STS" / "STS16-en-test"
    folder.mkdir(parents=True)
    parts = ["answer-answer", "headlines", "plagiarism", "postediting", "question-question"]
    for number, part in enumerate(parts):
        # Two pairs in the first part, one in the others, and everywhere one that nobody judged.
        pairs = PAIRS[:2] if number == 0 else PAIRS[number + 1 : number + 2]
        texts = "".join(f"{a}\t{b}\n" for a, b, _ in pairs) + "not\tjudged\n"
        (folder / f"STS.input.{part}.txt").write_text(texts, encoding="utf-8")
        (folder / f"STS.gs.{part}.txt").write_text("".join(f"{s}\n" for *_, s in pairs) + "\n", encoding="utf-8")


def sick(folder: Path) -> None:
    header = "pair_ID sentence_A sentence_B relatedness_score entailment_judgment"
    for name, pairs in {"train": PAIRS[:2], "trial": PAIRS[2:3], "test_annotated": PAIRS[3:]}.items():
        tsv(folder / "SICK" / f"SICK_{name}.txt", header, [(1, a, b, s, "NEUTRAL") for a, b, s in pairs])


def stsb(folder: Path) -> None:
    rows = [f"main-news\tMSRpar\t2012test\t{n:04}\t{s}\t{a}\t{b}\n" for n, (a, b, s) in enumerate(PAIRS)]
    (folder / "sts-test.csv").write_text("".join(rows), encoding="utf-8")


def korsts(folder: Path) -> None:
    header = "genre filename year id score sentence1 sentence2"
    tsv(folder / "KorSTS" / "sts-test.tsv", header, [("g", "f", "y", 1, s, a, b) for a, b, s in PAIRS])


def klue(folder: Path) -> None:
    rows = [{"sentence1": a, "sentence2": b, "labels": {"label": s, "binary-label": 1}} for a, b, s in PAIRS]
    (folder / "klue-sts-v1.1_dev.json").write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")


def mteb(folder: Path) -> None:
    (folder / "mteb" / "sts14-sts").mkdir(parents=True)
    with gzip.open(folder / "mteb" / "sts14-sts" / "test.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps({"sentence1": a, "sentence2": b, "score": s}) + "\n" for a, b, s in PAIRS)


@pytest.mark.parametrize(
    ("suite", "task", "write"),
    [
        ("sts", "sts16", semeval),
        ("sts", "sick_r", sick),
        ("sts", "stsb", stsb),
        ("sts", "sts14", mteb),
        ("korean", "korsts_test", korsts),
        ("korean", "klue_sts_dev", klue),
    ],
)
def test_as_published(tmp_path, suite, task, write):
    write(tmp_path)
    score = only(suite, task, tmp_path)
    assert (score.items, score.value) == (6, pytest.approx(by_hand(), abs=1e-4))


def test_subsets_and_their_aggregation(tmp_path):
    rows = [("test", part, s, a, b) for part, pairs in {"가": PAIRS[:4], "나": PAIRS[3:]}.items() for a, b, s in pairs]
    rows.append(("test", "SMT", 0, "same", "same"))  # which STS13 leaves out
    tsv(tmp_path / "sts13.tsv", "split subset score sentence1 sentence2", rows)
    first, second = by_hand(PAIRS[:4]), by_hand(PAIRS[3:])
    expected = {"all": by_hand([*PAIRS[:4], *PAIRS[3:]]), "mean": (first + second) / 2}
    expected["wmean"] = (4 * first + 3 * second) / 7
    assert len({round(value) for value in expected.values()}) == 3
    for aggregation, value in expected.items():
        score = only("sts", "sts13", tmp_path, aggregation=aggregation)
        assert (score.items, score.note) == (7, f"aggregation {aggregation} of 2 subsets")
        assert score.value == pytest.approx(value, abs=1e-4)
        assert (score.predicted is None) == (aggregation != "all")  # what an interval could not be computed from


@given(st.lists(st.tuples(st.floats(0, 1, width=16), st.floats(0, 5, width=16)), min_size=8, max_size=20), st.data())
@settings(max_examples=30)
def test_aggregation_does_not_depend_on_the_order_of_rows(values, data):
    predicted, gold = np.array(values).T
    subsets = np.array(["a", "b"] * len(values))[: len(values)]
    if any(np.ptp(gold[subsets == part]) == 0 for part in "ab"):
        return
    order = np.array(data.draw(st.permutations(range(len(values)))))
    for aggregation in ("all", "mean", "wmean"):
        found = aggregate(predicted[order], gold[order], subsets[order].tolist(), aggregation)
        expected = aggregate(predicted, gold, subsets.tolist(), aggregation)
        assert found == pytest.approx(expected, nan_ok=True)


def test_every_text_is_embedded_once(tmp_path):
    for name in ("sts12", "sts14", "stsb"):
        sts_table(tmp_path / f"{name}.tsv")
    model = Words()
    report = SUITES["sts"].run(model, tmp_path, show_progress_bar=True)
    assert [score.task for score in report.scores] == ["sts12", "sts14", "stsb"]
    assert sorted(model.asked) == sorted({text for pair in PAIRS for text in pair[:2]})


def test_what_is_missing_is_named_and_the_rest_runs(tmp_path):
    sts_table(tmp_path / "deep" / "down" / "klue_sts.tsv", split="dev")
    report = SUITES["korean"].run(Words(), tmp_path)
    assert [score.task for score in report.scores] == ["klue_sts_dev"]
    reasons = dict(report.missing)
    assert list(reasons) == [
        *("korsts_dev", "korsts_test", "kornli_dev", "kornli_test", "klue_nli_dev"),
        *("parakqc", "question_pairs_test"),
    ]
    for part in (str(tmp_path), "korsts (", "sts-dev.tsv (KakaoBrain, KorNLUDatasets)"):
        assert part in reasons["korsts_dev"]
    assert reasons["kornli_dev"].startswith("needs a model of another kind: one that gives several labels a pair")
    sts = dict(SUITES["sts"].run(Words(), tmp_path).missing)["sts12"]
    assert "STS12-en-test/STS.input.MSRpar.txt" in sts
    assert "and 6 more (SemEval 2012, as SentEval names them)" in sts
    assert "mteb/sts12-sts/test (the hub's mteb/sts12-sts, which sbert evaluate --download fetches)" in sts


def test_half_of_a_published_set_is_missing(tmp_path):
    sick(tmp_path)
    (tmp_path / "SICK" / "SICK_trial.txt").unlink()
    assert SUITES["sts"].only("sick_r").run(Words(), tmp_path).scores == ()


def test_packed_files(tmp_path):
    path = sts_table(tmp_path / "stsb.tsv")
    (tmp_path / "stsb.tsv.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert only("sts", "stsb", tmp_path).value == pytest.approx(by_hand(), abs=1e-4)


def test_a_scorer_is_measured_by_its_scores(tmp_path):
    sts_table(tmp_path / "stsb.tsv")
    score = only("sts", "stsb", tmp_path, Overlap())
    scores = Overlap().predict([pair[:2] for pair in PAIRS], on_truncate="ignore")
    assert score.name == "spearman"
    assert score.value == pytest.approx(100 * spearmanr(scores, [pair[2] for pair in PAIRS]).statistic)


NLI = [
    ("비가 온다", "날씨가 궂다", "entailment"),
    ("비가 온다", "해가 쨍쨍하다", "contradiction"),
    ("비가 온다", "내일도 온다", "neutral"),
    ("Two dogs run", "Animals move", "entailment"),
]


def test_labels_go_by_name(tmp_path):
    tsv(tmp_path / "xnli_ko.tsv", "split label premise hypothesis", [("test", g, a, b) for a, b, g in NLI])
    tsv(tmp_path / "KorNLI" / "xnli.dev.ko.tsv", "sentence1 sentence2 gold_label", NLI)
    answers = {(a, b): gold for a, b, gold in NLI}
    answers["비가 온다", "내일도 온다"] = "entailment"  # and here it errs
    for score in (
        only("korean", "kornli_dev", tmp_path / "KorNLI", Oracle(answers)),
        only("korean", "kornli_test", tmp_path, Oracle(answers)),
    ):
        assert (score.name, score.value, score.items) == ("accuracy", 75.0, 4)
        assert score.predicted.tolist() == ["entailment", "contradiction", "entailment", "entailment"]


def test_rows_without_a_gold_label_are_left_out(tmp_path):
    rows = [{"sentence1": a, "sentence2": b, "gold_label": g} for a, b, g in [*NLI, ("x", "y", "-")]]
    (tmp_path / "snli_1.0_dev.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    numbers = {"entailment": 0, "neutral": 1, "contradiction": 2}
    coded = [{"premise": a, "hypothesis": b, "label": numbers[g]} for a, b, g in NLI]
    coded.append({"premise": "x", "hypothesis": "y", "label": -1})
    (tmp_path / "stanfordnlp" / "snli" / "plain_text").mkdir(parents=True)
    path = tmp_path / "stanfordnlp" / "snli" / "plain_text" / "test.jsonl"
    path.write_text("\n".join(map(json.dumps, coded)), encoding="utf-8")
    model = Oracle({(a, b): gold for a, b, gold in NLI})
    report = SUITES["nli"].run(model, tmp_path)
    found = [(score.task, score.value, score.items) for score in report.scores]
    assert found == [("snli_dev", 100.0, 4), ("snli_test", 100.0, 4)]
    assert [missing.task for missing in report.missing] == ["multinli_matched", "multinli_mismatched"]


def test_a_real_cross_encoder(tmp_path, tiny_classifier):
    tsv(tmp_path / "klue_nli.tsv", "split label premise hypothesis", [("dev", g, a, b) for a, b, g in NLI])
    folder = tiny_classifier("bert", 3)
    model = CrossEncoder.from_pretrained(folder, labels=["contradiction", "entailment", "neutral"])
    score = only("korean", "klue_nli_dev", tmp_path, model)
    predicted = [model.labels[place] for place in model.predict([pair[:2] for pair in NLI]).argmax(axis=1)]
    right = [name == gold for name, (*_, gold) in zip(predicted, NLI, strict=True)]
    assert score.value == pytest.approx(100 * np.mean(right))
    nameless = CrossEncoder.from_pretrained(folder, labels=["a", "b", "c"])
    (missing,) = SUITES["korean"].only("klue_nli_dev").run(nameless, tmp_path).missing
    assert "a pair has the label 'contradiction', but the model knows 'a', 'b', 'c';" in missing.reason


def test_one_bad_set_does_not_end_the_others(tmp_path):
    sts_table(tmp_path / "korsts.tsv")
    sts_table(tmp_path / "klue_sts.tsv", split="dev", pairs=PAIRS[:1])
    report = SUITES["korean"].run(Words(), tmp_path)
    assert [score.task for score in report.scores] == ["korsts_test"]
    reason = dict(report.missing)["klue_sts_dev"]
    assert reason.startswith(f"{tmp_path / 'klue_sts.tsv'}: got 1 predictions")
    assert report.averaged == "1 of 8 tasks"


def test_points_are_few_and_of_spearman_alone():
    gold = np.arange(1001.0)
    points = Score.measured("spearman", spearman, gold / 2, gold).points()
    assert 300 < len(points) <= 400
    assert all(predicted == gold / 2 for gold, predicted in points)
    assert Score.measured("accuracy", accuracy, np.array(["1"]), np.array(["1"])).points() == ()


def test_refused(tmp_path):
    with pytest.raises(BadInput, match="there is no folder 'nowhere'"):
        SUITES["sts"].run(Words(), "nowhere")
    with pytest.raises(BadOption, match=r"task is 'sts17'.*did you mean 'sts1"):
        SUITES["sts"].only("sts17")
    rows = [("test", f"{n % 2}", s, a, b) for n, (a, b, s) in enumerate(PAIRS)]
    tsv(tmp_path / "sts14.tsv", "split subset score sentence1 sentence2", rows)
    with pytest.raises(BadOption, match="aggregation is 'median', but must be one of 'all', 'mean', 'wmean'"):
        only("sts", "sts14", tmp_path, aggregation="median")
    with pytest.raises(BadInput, match="got a object, but a model has a method encode or predict"):
        only("sts", "stsb", tmp_path, object())


def test_a_damaged_file_is_named_and_the_rest_runs(tmp_path):
    sts_table(tmp_path / "sts12.tsv", pairs=[*PAIRS, ("가", "나", "none")])
    sts_table(tmp_path / "sts14.tsv")
    sts_table(tmp_path / "stsb.tsv", split="train")
    semeval(tmp_path)
    (tmp_path / "STS" / "STS16-en-test" / "STS.gs.headlines.txt").write_text("1\n", encoding="utf-8")
    report = SUITES["sts"].only("sts12", "sts14", "sts16", "stsb").run(Words(), tmp_path)
    assert [score.task for score in report.scores] == ["sts14"]
    reasons = dict(report.missing)
    assert reasons["sts12"].endswith("sts12.tsv, line 8: the score is 'none', but must be a number")
    assert reasons["stsb"].endswith("stsb.tsv has no rows of the split 'test', but of 'train'; name one of them")
    assert reasons["sts16"].endswith("gs.headlines.txt as many lines; got 2, 1")


@pytest.mark.parametrize("content", ["", "[]", '[{"sentence1": "가", "sentence2": "나"}]', "not json"])
def test_no_damage_ends_a_suite(tmp_path, content):
    (tmp_path / "klue-sts-v1.1_dev.json").write_text(content, encoding="utf-8")
    ((_, reason),) = SUITES["korean"].only("klue_sts_dev").run(Words(), tmp_path).missing
    assert "klue-sts-v1.1_dev.json" in reason


@pytest.mark.parametrize(
    ("label", "said"),
    [
        (
            3,
            "row 1: the label is 3, but must be one of 'entailment', 'neutral', 'contradiction' or one of their",
        ),
        (-2, "row 1: the label is -2, but"),
        (True, "row 1: the label is True, but"),
        (1.0, "row 1: the label is 1.0, but"),
        (["neutral"], r"row 1: the label is \['neutral'\], but"),
        ("함의", "row 1: the label is '함의', but"),
    ],
)
def test_a_label_that_is_none_of_nli_is_named(tmp_path, label, said):
    rows = [{"premise": "비", "hypothesis": "눈", "label": value} for value in (0, label)]
    (tmp_path / "klue-nli-v1.1_dev.json").write_text(json.dumps(rows), encoding="utf-8")
    ((_, reason),) = SUITES["korean"].only("klue_nli_dev").run(Oracle({}), tmp_path).missing
    assert re.search(said, reason)


def test_numbers_of_nli_mean_the_same_in_every_format(tmp_path):
    rows = [("dev", ["entailment", "neutral", "contradiction"].index(gold), a, b) for a, b, gold in NLI]
    tsv(tmp_path / "klue_nli.tsv", "split label premise hypothesis", rows)
    assert only("korean", "klue_nli_dev", tmp_path, Oracle({(a, b): gold for a, b, gold in NLI})).value == 100


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"premise": "비", "hypothesis": "눈"}, "there is no field 'label'"),
        ({"premise": "비", "hypothesis": "눈", "label": None}, "has no gold label in any of 1 rows"),
        ({"premise": "비", "label": "neutral"}, "there is no field 'hypothesis'"),
        ({"premise": 7, "hypothesis": "눈", "label": "neutral"}, "field 'premise' is int, but must be text"),
    ],
)
def test_nli_without_what_it_needs(tmp_path, row, said):
    (tmp_path / "klue-nli-v1.1_dev.json").write_text(json.dumps([row]), encoding="utf-8")
    ((_, reason),) = SUITES["korean"].only("klue_nli_dev").run(Oracle({}), tmp_path).missing
    assert said in reason


@pytest.mark.parametrize("score", ["nan", "inf", "NaN"])
def test_a_score_is_a_finite_number(tmp_path, score):
    sts_table(tmp_path / "stsb.tsv", pairs=[*PAIRS, ("가", "나", score)])
    ((_, reason),) = SUITES["sts"].only("stsb").run(Words(), tmp_path).missing
    assert reason.endswith(f"line 8: the score is {score!r}, but must be a number")


def test_report():
    empty = Report("sts", ())
    assert np.isnan(empty.average)
    assert Missing("a", "b") == ("a", "b")


def test_suites_have_their_names():
    assert list(SUITES) == ["sts", "korean", "nli", "senteval", "arguments", "sections", "retrieval"]
    assert all(suite.name == name for name, suite in SUITES.items())
    tasks = [task.name for suite in SUITES.values() for task in suite.tasks]
    assert len(set(tasks)) == len(tasks)


@pytest.mark.parametrize(
    ("suite", "sizes"),
    [
        ("korean", [1500, 1379, 519, 2490, 5010, 3000, 10_000, 688]),
        ("nli", [9842, 9824, 9815, 3906]),
        ("sts", [3108, 1500, 3750, 3000, 1186, 1379, 9927]),
        ("senteval", [10662, 3775, 10000, 10606, 67349 + 872 + 1821, 5452 + 500, 4076 + 1725]),
    ],
)
def test_real_files_have_their_published_sizes(shared_data, suite, sizes):
    folder = DataFolder(shared_data)
    assert [size(task.read(folder)[0]) for task in SUITES[suite].tasks] == sizes


def size(data) -> int:
    if hasattr(data, "train"):
        return sum(len(part.labels) for part in (data.train, data.dev, data.test) if part)
    return len(data.labels) if hasattr(data, "labels") else len(data)


PUBLISHED = {  # by MTEB, of all-MiniLM-L6-v2
    "sts12": 72.37,
    "sts13": 80.60,
    "sts14": 75.59,
    "sts15": 85.39,
    "sts16": 78.99,
    "stsb": 82.03,
    "sick_r": 77.58,
}
QUICK = ("sts16",)


@pytest.mark.parametrize(
    "task", [pytest.param(task, marks=() if task in QUICK else pytest.mark.slow) for task in PUBLISHED]
)
def test_the_default_model_scores_what_is_published(shared_data, bundled, task):
    assert only("sts", task, shared_data, bundled).value == pytest.approx(PUBLISHED[task], abs=0.02)
