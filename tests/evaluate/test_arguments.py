"""Argument facet similarity: folds, training inside them, and the corpus as published."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from sbert.errors import BadInput
from sbert.evaluate.suites.arguments import cross_validate, folds, topic_folds
from sbert.evaluate.suites.catalog import SUITES
from sbert.evaluate.suites.sources import DataFolder
from sbert.evaluate.suites.sts import ScoredPairs


class Letters:
    """Counts of letters as vectors."""

    def encode(self, sentences, *, on_truncate="warn"):
        return np.array([[text.count(letter) for letter in "가나다abc"] for text in sentences], np.float32)


class Known:
    """A scorer made from the pairs it was trained on: it gives the mean of their scores plus a pair's length."""

    def __init__(self, pairs: ScoredPairs) -> None:
        self.seen, self.level = pairs, float(pairs.gold.mean())

    def predict(self, pairs, *, on_truncate="warn"):
        return np.array([self.level + len(a) * len(b) for a, b in pairs])


def corpus(topics: int = 3, pairs: int = 8) -> ScoredPairs:
    random = np.random.default_rng(0)
    texts = ["".join(random.choice(list("가나다abc"), random.integers(2, 9))) for _ in range(2 * topics * pairs)]
    gold = random.uniform(0, 5, topics * pairs)
    names = [f"주제{number}" for number in range(topics) for _ in range(pairs)]
    return ScoredPairs(texts[::2], texts[1::2], gold, names)


@given(st.integers(2, 200), st.integers(2, 10), st.integers(0, 3))
def test_every_pair_is_tested_once(pairs, number, seed):
    if number > pairs:
        with pytest.raises(BadInput, match=f"there are {number} folds of {pairs} pairs"):
            list(folds(pairs, number, seed))
        return
    found = list(folds(pairs, number, seed))
    assert sorted(np.concatenate([fold.test for fold in found])) == list(range(pairs))
    for fold in found:
        assert sorted([*fold.train, *fold.test]) == list(range(pairs))
        assert abs(len(fold.test) - pairs / number) < 1


@given(st.lists(st.sampled_from(["총기", "사형", "결혼", "GMO", "drones"]), min_size=3, max_size=40))
def test_no_topic_is_trained_and_tested(topics):
    if len(set(topics)) < 3:
        with pytest.raises(BadInput, match=r"3 folds of [12] topics"):
            list(topic_folds(topics))
        return
    found = list(topic_folds(topics))
    assert len(found) == 3
    assert sorted(place for fold in found for place in fold.test) == list(range(len(topics)))
    for fold in found:
        assert not {topics[place] for place in fold.train} & {topics[place] for place in fold.test}
        assert set(fold.name.split(", ")) == {topics[place] for place in fold.test}


@pytest.mark.parametrize("parts", ["folds", "topics"])
def test_training_inside_the_folds(parts):
    pairs = corpus()
    made = list(folds(len(pairs), 4) if parts == "folds" else topic_folds(pairs.subsets))
    trained: list[Known] = []

    def train(given: ScoredPairs) -> Known:
        trained.append(Known(given))
        return trained[-1]

    by_name = {score.name: score for score in cross_validate("afs", pairs, iter(made), train)}
    assert [len(model.seen) for model in trained] == [len(fold.train) for fold in made]
    for model, fold in zip(trained, made, strict=True):
        assert model.seen.first == [pairs.first[place] for place in fold.train]
    for name, correlation in (("pearson", pearsonr), ("spearman", spearmanr)):
        each = []
        for fold in made:
            products = [len(pairs.first[place]) * len(pairs.second[place]) for place in fold.test]
            each.append(correlation(products, pairs.gold[fold.test]).statistic)
        assert by_name[name].value == pytest.approx(100 * np.mean(each))
        assert (by_name[name].items, by_name[name].note) == (24, f"mean over {len(made)} folds")


def test_the_corpus_as_published(tmp_path):
    pairs = corpus()
    for number, (code, encoding) in enumerate({"GM": "utf-8", "GC": "utf-8", "DP": "latin-1"}.items()):
        with (tmp_path / f"ArgPairs_{code}.csv").open("w", encoding=encoding, newline="", errors="ignore") as file:
            writer = csv.writer(file)
            writer.writerow(["regression_label", "pair_id", "sentence_1", "sentence_2"])
            for place in range(8 * number, 8 * number + 8):
                first = pairs.first[place] if code != "DP" else f"caf\u00e9, {'abc' * (place % 3)}a"
                writer.writerow([pairs.gold[place], place, first, pairs.second[place] + "\na b"])
    report = SUITES["arguments"].run(Letters(), tmp_path)
    assert [(score.task, score.name, score.items) for score in report.scores] == [
        ("afs", "pearson_cosine", 24),
        ("afs", "spearman_cosine", 24),
    ]
    assert report.scores[0].note == "mean over 3 topics, not trained on them"
    found, _ = SUITES["arguments"].tasks[0].read(DataFolder(tmp_path))
    assert found.first[:8] == pairs.first[:8]
    assert found.first[16].startswith("caf\u00e9, ")
    assert found.second[0] == pairs.second[0] + "\na b"  # a line break within quotation marks
    assert list(dict.fromkeys(found.subsets)) == ["gay marriage", "gun control", "death penalty"]
    each = []
    for topic in range(3):
        rows = found.take(np.arange(8 * topic, 8 * topic + 8))
        a, b = (Letters().encode(texts) for texts in (rows.first, rows.second))
        cosines = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
        each.append(pearsonr(cosines, rows.gold).statistic)
    assert report.scores[0].value == pytest.approx(100 * np.mean(each), abs=1e-3)


def test_a_corpus_that_is_not_csv_is_named(tmp_path):
    for code in ("GM", "GC", "DP"):
        text = "sentence_1,sentence_2,regression_label\n비\r가,나,1\n"
        (tmp_path / f"ArgPairs_{code}.csv").write_bytes(text.encode())
    reason = dict(SUITES["arguments"].run(Letters(), tmp_path).missing)["afs"]
    assert "ArgPairs_GM.csv, after line 1: not csv (new-line character" in reason


def test_stand_ins_say_so(tmp_path):
    pairs = corpus()
    rows = zip(pairs.subsets, pairs.gold, pairs.first, pairs.second, strict=True)
    lines = ["split\tsubset\tscore\tsentence1\tsentence2", *(f"all\t{t}\t{g}\t{a}\t{b}" for t, g, a, b in rows)]
    (tmp_path / "bws_argsim.tsv").write_text("\n".join(lines), encoding="utf-8")
    report = SUITES["arguments"].run(Letters(), tmp_path)
    assert {score.task for score in report.scores} == {"bws_argsim"}
    assert all(score.note.startswith("stands in for AFS") for score in report.scores)
    assert "ArgPairs_GM.csv, ArgPairs_GC.csv, ArgPairs_DP.csv" in dict(report.missing)["afs"]


def test_the_real_stand_ins(shared_data):
    tasks = SUITES["arguments"].only("ukp_aspect", "bws_argsim").tasks
    found = {task.name: task.read(DataFolder(shared_data))[0] for task in tasks}
    assert {name: (len(pairs), len(set(pairs.subsets))) for name, pairs in found.items()} == {
        "ukp_aspect": (3595, 28),
        "bws_argsim": (3400, 8),
    }
