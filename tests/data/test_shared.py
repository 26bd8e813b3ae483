"""The data sets that people train on have the sizes their publishers say."""

from __future__ import annotations

import pytest

from sbert.data.readers import read

THREE = ("contradiction", "entailment", "neutral")


@pytest.mark.parametrize(
    ("name", "split", "rows"),
    [
        ("stsb", "train", 5749),
        ("stsb", "dev", 1500),
        ("stsb", "test", 1379),
        ("korsts", "train", 5749),
        ("korsts", "dev", 1500),
        ("korsts", "test", 1379),
        ("klue_sts", "train", 11668),
        ("klue_sts", "dev", 519),
        ("sick_r", None, 9927),
        ("sts12", "test", 3108),
    ],
)
def test_sts(shared_data, name, split, rows):
    columns = read(shared_data / f"{name}.tsv.gz", split=split)
    assert (len(columns), columns.label_kind, list(columns.texts)) == (rows, "score", ["sentence1", "sentence2"])
    assert 0 <= columns.labels.min() < columns.labels.max() <= 1


@pytest.mark.parametrize(
    ("name", "split", "rows"),
    [
        ("snli", "train", 94093),
        ("snli", "dev", 9842),
        ("multinli", "train", 54977),
        ("multinli", "dev", 9815),
        ("klue_nli", "train", 24998),
        ("xnli_ko", "dev", 2490),
        ("xnli_ko", "test", 5010),
        ("sick_e", "train", 4500),
        ("sick_e", "dev", 500),
        ("sick_e", "test", 4927),
    ],
)
def test_nli(shared_data, name, split, rows):
    columns = read(shared_data / f"{name}.tsv.gz", split=split)
    assert (len(columns), columns.label_names, list(columns.texts)) == (rows, THREE, ["premise", "hypothesis"])
    assert set(columns.labels.tolist()) == {0, 1, 2}
    assert columns.skipped == 0


def test_triplets(shared_data):
    for name, split, rows in [("nli_triplets", None, 24423), ("wikisection_triplets_selfbuilt", "dev", 3819)]:
        columns = read(shared_data / f"{name}.tsv.gz", split=split)
        assert (len(columns), columns.label_kind) == (rows, "none")
        assert list(columns.texts) == ["anchor", "positive", "negative"]


@pytest.mark.parametrize(
    ("name", "split", "rows", "kind", "classes"),
    [
        ("mr", "all", 10662, "class", 2),
        ("trec", "train", 5452, "class", 6),
        ("mrpc", "train", 4076, "binary", 0),
        ("kor_question_pair", None, 7576, "binary", 0),
        ("clu_banking77", None, 13083, "class", 77),
    ],
)
def test_texts_and_pairs_with_labels(shared_data, name, split, rows, kind, classes):
    columns = read(shared_data / f"{name}.tsv.gz", split=split)
    assert (len(columns), columns.label_kind, len(columns.label_names)) == (rows, kind, classes)
