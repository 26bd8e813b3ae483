"""A user's own file: its labels select the evaluator, and the figures are the evaluator's."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sbert.errors import BadInput
from sbert.evaluate import BinaryPairs, PairClassification, Similarity, Triplets
from sbert.evaluate.suites import file
from sbert.evaluate.suites.task import Options, evaluator_of

FIRST = ["한 남자가 기타를 친다", "비가 온다", "The museum is closed", "고양이가 잔다", "책을 읽는다", "A train"]
SECOND = ["남자가 연주한다", "I like jazz", "It does not open", "고양이가 존다", "해가 쨍쨍하다", "The train"]
SCORES = [80.5, 3.0, 91.25, 77.0, 12.0, 95.5]
LABELS = [1, 0, 1, 1, 0, 1]
NAMES = ["entailment", "neutral", "contradiction", "entailment", "neutral", "contradiction"]


def write(path, header, *columns):
    rows = ["\t".join(map(str, row)) for row in zip(*columns, strict=True)]
    path.write_text("\n".join(["\t".join(header.split()), *rows]) + "\n", encoding="utf-8")
    return path


def measured(path, model, **options):
    report = file.run(file.read_pairs(path, **options), model)
    assert (report.suite, report.missing) == ("pairs", ())
    assert {score.task for score in report.scores} == {path.name}
    return {score.name: score for score in report.scores}


def test_scores_on_any_scale(tmp_path, encoders, cross_encoders):
    path = write(tmp_path / "우리말.tsv", "sentence1 sentence2 score", FIRST, SECOND, SCORES)
    for model, names in (
        (encoders[0], ["spearman_cosine", "pearson_cosine"]),
        (cross_encoders(1)[0], ["spearman", "pearson"]),
    ):
        found, expected = measured(path, model), Similarity(FIRST, SECOND, SCORES)(model)
        assert list(found) == names
        assert [score.value for score in found.values()] == pytest.approx([expected[name] for name in names])
        assert all(score.interval() for score in found.values())


@pytest.mark.parametrize("scores", [SCORES, [80, 3, 91, 77, 12, 95]])
def test_columns_of_other_names_and_scores_in_a_text_file(tmp_path, encoders, scores):
    path = write(tmp_path / "mine.tsv", "문장1 문장2 점수", FIRST, SECOND, scores)
    found = measured(path, encoders[0], columns=["문장1", "문장2"], label="점수")
    expected = Similarity(FIRST, SECOND, scores)(encoders[0])
    assert {name: score.value for name, score in found.items()} == pytest.approx(
        {name: expected[name] for name in ("spearman_cosine", "pearson_cosine")}
    )


def test_binary_labels(tmp_path, encoders):
    rows = [{"sentence1": a, "sentence2": b, "label": c} for a, b, c in zip(FIRST, SECOND, LABELS, strict=True)]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found, expected = measured(path, encoders[0]), BinaryPairs(FIRST, SECOND, LABELS)(encoders[0])
    assert list(found) == ["cosine_ap", "cosine_accuracy", "cosine_f1"]
    assert all(score.value == expected[name] for name, score in found.items())
    assert found["cosine_f1"].note == f"at the threshold {expected['cosine_f1_threshold']:.4g}"


@pytest.mark.parametrize("labels", [NAMES, [["entailment", "neutral", "contradiction"].index(name) for name in NAMES]])
def test_classes(tmp_path, tiny_classifier, labels):
    from sbert import CrossEncoder

    model = CrossEncoder.from_pretrained(tiny_classifier("bert", 3), labels=["entailment", "neutral", "contradiction"])
    path = write(tmp_path / "nli.tsv", "premise hypothesis label", FIRST, SECOND, labels)
    found = measured(path, model)
    assert {name: score.value for name, score in found.items()} == PairClassification(FIRST, SECOND, NAMES)(model)


def test_a_class_of_thousands_of_digits_is_a_name(tmp_path, scored):
    data = file.read_pairs(
        write(tmp_path / "a.tsv", "premise hypothesis label", FIRST[:2], SECOND[:2], ["9" * 5000, 7])
    )
    with pytest.raises(BadInput, match="a pair has the label"):
        file.run(data, scored({pair: [0.0, 1.0] for pair in zip(FIRST, SECOND, strict=True)}, labels=["a", "b"]))


def test_triplets(tmp_path, encoders):
    negatives = SECOND[1:] + SECOND[:1]
    path = write(tmp_path / "three.tsv", "anchor positive negative", FIRST, SECOND, negatives)
    found, expected = measured(path, encoders[0]), Triplets(FIRST, SECOND, negatives)(encoders[0])
    assert {name: score.value for name, score in found.items()} == {
        name: expected[name] for name in ("euclidean_accuracy", "cosine_accuracy")
    }


def test_a_split(tmp_path, encoders):
    splits = ["train", "train", "test", "test", "test", "test"]
    path = write(tmp_path / "mine.tsv", "split sentence1 sentence2 score", splits, FIRST, SECOND, SCORES)
    assert measured(path, encoders[0])["spearman_cosine"].items == 6
    assert measured(path, encoders[0], split="test")["spearman_cosine"].items == 4


def test_refused(tmp_path, encoders, cross_encoders):
    path = write(tmp_path / "nli.tsv", "premise hypothesis label", FIRST, SECOND, NAMES)
    ((task, reason),) = file.run(file.read_pairs(path), encoders[0]).missing
    assert task == "nli.tsv"
    assert reason.startswith("needs a model of another kind: one that gives several labels a pair")
    with pytest.raises(BadInput, match=r"2 columns of texts and no labels, but needs .* --label"):
        file.read_pairs(write(tmp_path / "pairs.tsv", "anchor positive", FIRST, SECOND))
    data = file.read_pairs(write(tmp_path / "binary.tsv", "sentence1 sentence2 label", FIRST, SECOND, LABELS))
    assert np.array_equal(data.labels, LABELS)
    with pytest.raises(BadInput, match="the model gives 3 scores a pair"):
        evaluator_of(data, Options()).scores(cross_encoders(3)[0])
