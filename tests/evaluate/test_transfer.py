"""SentEval's protocol against a plain scikit-learn computation, and SentEval's own files."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from sbert.errors import BadInput
from sbert.evaluate.evaluators.transfer import (
    LabelledTexts,
    classify,
    classify_by_folds,
    classify_with_dev,
    features,
    stratified,
)
from sbert.evaluate.suites.catalog import SUITES
from sbert.evaluate.suites.sources import DataFolder

POSITIVE = ["정말", "훌륭한", "최고의", "멋진", "감동적인", "wonderful", "great", "lovely"]
NEGATIVE = ["지루한", "최악의", "끔찍한", "엉망인", "아쉬운", "awful", "dull", "boring"]
NEUTRAL = ["영화", "배우", "연기", "음악", "장면", "이야기", "film", "story", "actor", "scene"]


class Words:
    """Counts of words as vectors."""

    def encode(self, sentences, *, on_truncate="warn"):
        assert on_truncate == "ignore"
        return np.array([self.vector(text) for text in sentences], np.float32)

    @staticmethod
    def vector(text: str) -> list[float]:
        vector = [0.0] * 61
        for word in text.split():
            vector[zlib.crc32(word.encode()) % 61] += 1
        return vector


def reviews(count: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Texts in two languages; every fourth has words of both opinions, so that nobody can be right on all."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, count)
    texts = []
    for label in labels:
        opinions = [POSITIVE if label else NEGATIVE, NEGATIVE if label else POSITIVE]
        words = [random.choice(opinions[int(random.random() < 0.3)]) for _ in range(2)]
        texts.append(" ".join([*words, *random.choice(NEUTRAL, 4)]))
    return texts, labels.astype(str).tolist()


def clouds(rows: int, classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(rows, 12) points around overlapping centres, and their classes."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, classes, rows)
    centres = random.normal(size=(classes, 12))
    return (centres[labels] + random.normal(0, 1.5, (rows, 12))).astype(np.float32), labels


def search(strengths, splits) -> GridSearchCV:
    exact = LogisticRegression(solver="newton-cholesky", tol=1e-10)
    return GridSearchCV(exact, {"C": strengths}, cv=splits, scoring="accuracy")


def nested(vectors, labels, folds: int) -> np.ndarray:
    """The protocol written down once more, with scikit-learn's own parts and another solver."""
    splits = StratifiedKFold(folds, shuffle=True, random_state=1111)
    predicted = np.empty_like(labels)
    for train, test in splits.split(vectors, labels):
        chosen = search([0.25, 0.5, 1, 2, 4, 8], splits).fit(vectors[train].astype(float), labels[train])
        predicted[test] = chosen.predict(vectors[test].astype(float))
    return predicted


@pytest.mark.parametrize("classes", [2, 4])
def test_folds_as_scikit_learn(classes):
    vectors, labels = clouds(300, classes)
    found = classify_by_folds(vectors, labels, folds=4)
    assert (found == nested(vectors, labels, 4)).all()
    assert 1.2 / classes < (found == labels).mean() < 0.95  # neither lost nor trivial


@pytest.mark.parametrize("classes", [2, 6])
def test_a_test_set_as_scikit_learn(classes):
    vectors, labels = clouds(500, classes)
    splits = StratifiedKFold(5, shuffle=True, random_state=1111)
    strengths = [2.0**exponent for exponent in range(-1, 6)]
    expected = search(strengths, splits).fit(vectors[:300].astype(float), labels[:300]).predict(vectors[300:])
    assert (classify(vectors[:300], labels[:300], vectors[300:], 5, strengths) == expected).all()


def test_a_development_set_as_scikit_learn():
    vectors, labels = clouds(600, 2)
    train, dev, test = (slice(0, 200), slice(200, 400), slice(400, 600))
    expected = search([0.25, 0.5, 1, 2, 4, 8], [(np.arange(200), np.arange(200, 400))])
    expected.refit = False
    expected.fit(vectors[:400].astype(float), labels[:400])
    exact = LogisticRegression(C=expected.best_params_["C"], solver="newton-cholesky", tol=1e-10)
    exact.fit(vectors[train].astype(float), labels[train])  # not on the development rows
    found = classify_with_dev(vectors[train], labels[train], vectors[dev], labels[dev], vectors[test])
    assert (found == exact.predict(vectors[test])).all()


def test_no_row_is_seen_before_it_is_tested():
    random = np.random.default_rng(0)
    vectors, labels = np.eye(200, dtype=np.float32), random.integers(0, 2, 200)
    assert (classify_by_folds(vectors, labels, 4) == labels).mean() < 0.6  # each row could only be known by heart


def test_every_fold_has_every_label():
    labels = np.array([0] * 90 + [1] * 10)
    folds = list(stratified(labels, 10))
    assert [labels[test].sum() for _, test in folds] == [1] * 10
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(100))
    with pytest.raises(BadInput, match="folds is 11, but must lie between 2 and 10, the size of the smallest class"):
        list(stratified(labels, 11))


def test_features_of_pairs():
    rows = LabelledTexts((["비 비", "cat"], ["비", "cat"]), ["0", "1"])
    u, v = (np.array([Words.vector(text) for text in texts]) for texts in rows.texts)
    assert (features(Words(), rows) == np.concatenate([abs(u - v), u * v], axis=1)).all()
    assert features(Words(), LabelledTexts((["비"],), ["0"])).tolist() == [Words.vector("비")]


def write(path: Path, header: str, rows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["\t".join(row) for row in ([header.split(), *rows] if header else rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_cross_validated_set(tmp_path):
    texts, labels = reviews(240)
    write(tmp_path / "mr.tsv", "split label text", [("all", y, x) for x, y in zip(texts, labels, strict=True)])
    (score,) = SUITES["senteval"].only("mr").run(Words(), tmp_path, folds=3).scores
    vectors, gold = Words().encode(texts, on_truncate="ignore"), np.array(labels)
    assert (score.name, score.items, score.note) == ("accuracy", 240, "3 folds instead of 10")
    assert (score.predicted == nested(vectors, gold, 3)).all()
    assert (score.gold == gold).all()
    assert score.value == pytest.approx(100 * (score.predicted == gold).mean())
    assert 60 < score.value < 99


@pytest.mark.parametrize(
    ("task", "rows", "said"),
    [
        ("mr", [{"text": "비", "label": None}], "line 1: the label is None, but must be a name or a number"),
        ("mr", [{"text": "비", "label": ""}], "line 1: the label is '', but"),
        ("mr", [{"text": "비", "label": [1]}], "line 1: the label is [1], but"),
        ("mr", [{"text": "비", "label": 1}] * 9, "all training texts have the label '1', but a classifier needs"),
        ("trec", [{"text": "비", "label": 1}], "the split 'train' was requested, but there is no field 'split'"),
    ],
)
def test_labels_that_no_classifier_can_learn(tmp_path, task, rows, said):
    (tmp_path / f"{task}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    ((_, reason),) = SUITES["senteval"].only(task).run(Words(), tmp_path).missing
    assert said in reason


def test_a_smaller_budget_is_noted(tmp_path):
    texts, labels = reviews(200)
    write(tmp_path / "cr.tsv", "split label text", [("all", y, x) for x, y in zip(texts, labels, strict=True)])
    suite = SUITES["senteval"].only("cr")
    (score,) = suite.run(Words(), tmp_path, folds=3, rows=90).scores
    assert (score.items, score.note) == (90, "3 folds instead of 10, 90 of 200 training rows")
    (again,) = suite.run(Words(), tmp_path, folds=3, rows=90).scores
    assert (again.predicted == score.predicted).all()
    assert suite.run(Words(), tmp_path, folds=3, rows=500).scores[0].note == "3 folds instead of 10"


def test_development_and_test_rows(tmp_path):
    parts = {"train": reviews(200, 1), "dev": reviews(80, 2), "test": reviews(90, 3)}
    rows = [(split, y, x) for split, (xs, ys) in parts.items() for x, y in zip(xs, ys, strict=True)]
    write(tmp_path / "ours" / "sst2_phrases.tsv", "split label text", rows)
    for split, (xs, ys) in parts.items():
        theirs = tmp_path / "theirs" / "SST" / "binary" / f"sentiment-{split}"
        write(theirs, "", list(zip(xs, ys, strict=True)))
    scores = [SUITES["senteval"].only("sst2").run(Words(), tmp_path / f).scores[0] for f in ("ours", "theirs")]
    vectors = [Words().encode(texts, on_truncate="ignore") for texts, _ in parts.values()]
    labels = [np.array(ys) for _, ys in parts.values()]
    expected = classify_with_dev(vectors[0], labels[0], vectors[1], labels[1], vectors[2])
    for score in scores:
        assert (score.items, score.note) == (90, "")
        assert (score.predicted == expected).all()


def test_questions_by_class(tmp_path):
    random = np.random.default_rng(0)
    asks = {"HUM": "누가 whose", "LOC": "어디 where", "NUM": "몇 many"}
    names = random.choice(list(asks), 120)
    texts = [f"{random.choice(asks[name].split())} {' '.join(random.choice(NEUTRAL, 3))} ?" for name in names]
    splits = ["train"] * 90 + ["test"] * 30
    rows = zip(splits, names, texts, [f"{name}:x" for name in names], strict=True)
    write(tmp_path / "ours" / "trec.tsv", "split label text fine_label", rows)
    (tmp_path / "theirs").mkdir()
    lines = [f"{name}:fine {text}\n" for name, text in zip(names, texts, strict=True)]
    (tmp_path / "theirs" / "train_5500.label").write_text("".join(lines[:90]), encoding="utf-8")
    (tmp_path / "theirs" / "TREC_10.label").write_text("".join(lines[90:]), encoding="utf-8")
    ours, theirs = (
        SUITES["senteval"].only("trec").run(Words(), tmp_path / f, folds=3).scores[0] for f in ("ours", "theirs")
    )
    assert ours.items == 30
    assert ours.value > 80
    assert (theirs.predicted == ours.predicted).all()


def test_paraphrases(tmp_path):
    random = np.random.default_rng(0)
    rows = []
    for number in range(160):
        text = random.choice(NEUTRAL + POSITIVE, 5)
        other = text.copy() if number % 3 else random.choice(NEGATIVE + NEUTRAL, 5)
        other[random.integers(0, 5, 2)] = random.choice(NEGATIVE)
        rows.append(("train" if number < 100 else "test", str(int(number % 3 > 0)), " ".join(text), " ".join(other)))
    write(tmp_path / "ours" / "mrpc.tsv", "split label text text2", rows)
    for split in ("train", "test"):
        chosen = [(y, "1", "2", a, b) for part, y, a, b in rows if part == split]
        path = tmp_path / "theirs" / f"msr_paraphrase_{split}.txt"
        write(path, "", [("\ufeffQuality", "#1 ID", "#2 ID", "#1 String", "#2 String"), *chosen])
    for folder in ("ours", "theirs"):
        accuracy, f1 = SUITES["senteval"].only("mrpc").run(Words(), tmp_path / folder, folds=5).scores
        assert (accuracy.name, f1.name, accuracy.items) == ("accuracy", "f1", 60)
        assert f1.value == pytest.approx(100 * f1_score(accuracy.gold == "1", accuracy.predicted == "1"))
        assert 60 < accuracy.value < 100


def test_two_files_of_senteval(tmp_path):
    texts, labels = reviews(100)
    for name, label in (("neg", "0"), ("pos", "1")):
        chosen = [text for text, own in zip(texts, labels, strict=True) if own == label]
        (tmp_path / f"custrev.{name}").write_text("\n".join(chosen) + "\n", encoding="utf-8")
    (score,) = SUITES["senteval"].only("cr").run(Words(), tmp_path, folds=3).scores
    assert score.items == 100
    assert sorted(score.gold) == sorted(labels)


def test_old_files_may_be_latin_1(tmp_path):
    for name, text in (("neg", "caf\u00e9 awful"), ("pos", "na\u00efve lovely")):
        (tmp_path / f"mpqa.{name}").write_bytes(f"{text}\r\n".encode("latin-1") * 4)
    (score,) = SUITES["senteval"].only("mpqa").run(Words(), tmp_path, folds=2).scores
    assert (score.items, score.value) == (8, 100.0)


def test_utf_16_is_not_read_as_latin_1(tmp_path):
    for name in ("neg", "pos"):
        (tmp_path / f"mpqa.{name}").write_text("나쁘다\n좋다\n", encoding="utf-16")
    report = SUITES["senteval"].only("mpqa").run(Words(), tmp_path, folds=2)
    assert not report.scores
    assert "it looks like UTF-16: convert the file with: iconv -f UTF-16 -t UTF-8" in report.missing[0].reason


def test_six_hundred_real_reviews(shared_data, bundled):
    suite = SUITES["senteval"].only("cr")
    (score,) = suite.run(bundled, shared_data, folds=3, rows=600).scores
    data = suite.tasks[0].read(DataFolder(shared_data))[0].train
    assert len(data.labels) == 3775
    places = np.sort(np.random.default_rng(1111).permutation(3775)[:600])
    vectors, gold = features(bundled, data.take(places)), np.array(data.labels)[places]
    assert (score.gold == gold).all()
    assert (score.predicted != nested(vectors, gold, 3)).sum() <= 1
    assert 80 < score.value < 95
