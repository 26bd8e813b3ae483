"""Columns from lists and data sets, checked once and cut exactly."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import torch

from sbert.data.columns import Columns
from sbert.errors import BadInput, BadOption

TWO = {"anchor": ["비가 온다", "A cat", "셋"], "positive": ["비가 내린다", "A dog", "Three"]}
ONE = {"text": ["하나", "둘", "셋"]}


class Dataset:
    """As much of datasets.Dataset as is asked for; a column is no list but gives its values one by one."""

    def __init__(self, columns):
        self.columns = columns

    @property
    def column_names(self):
        return list(self.columns)

    def __getitem__(self, name):
        return iter(self.columns[name])


@pytest.mark.parametrize(
    ("texts", "labels", "kind", "values", "names"),
    [
        (TWO, None, "none", None, ()),
        (TWO, [0.5, 1.0, 7.0], "score", [0.5, 1.0, 7.0], ()),
        (TWO, [1, 0.5, 0], "score", [1.0, 0.5, 0.0], ()),
        (TWO, np.array([1, 0, 1]), "binary", [1, 0, 1], ()),
        (TWO, [True, False, True], "binary", [1, 0, 1], ()),
        (ONE, torch.tensor([1, 0, 1]), "class", [1, 0, 1], ("0", "1")),
        (TWO, [2, 0, 1], "class", [2, 0, 1], ("0", "1", "2")),
        (TWO, ["entailment", "neutral", "neutral"], "class", [1, 2, 2], ("contradiction", "entailment", "neutral")),
        (ONE, ["참", "거짓", "참"], "class", [1, 0, 1], ("거짓", "참")),
    ],
)
def test_kind_is_told_by_the_values(texts, labels, kind, values, names):
    columns = Columns.of(texts, labels)
    assert (columns.label_kind, columns.label_names, len(columns)) == (kind, names, 3)
    assert (None if columns.labels is None else columns.labels.tolist()) == values


def test_dataset_and_mapping_give_the_same():
    source = {**TWO, "label": ["neutral", "entailment", "neutral"]}
    columns = Columns.of(Dataset(source))
    assert columns.texts == TWO
    assert columns.labels.tolist() == [2, 1, 2]
    assert columns.fingerprint == Columns.of(source).fingerprint == Columns.of(TWO, source["label"]).fingerprint
    assert Columns.of(source, label_kind="none").labels is None


class ClassLabel:
    """A feature of datasets.Dataset whose values are ids of named classes."""

    def __init__(self, names):
        self.names = names


class LabelledDataset(Dataset):
    """A datasets.Dataset whose features say what its columns are."""

    def __init__(self, columns, names):
        super().__init__(columns)
        self.features = {name: object() for name in columns} | {"label": ClassLabel(names)}


def check_class_labels(make):
    """Ids and names are kept, whichever of them occur and however many texts stand beside them."""
    names = ["World", "Sports", "Business"]
    for texts in (ONE, TWO):
        for ids in ([1, 2, 1], [0, 1, 0]):
            columns = Columns.of(make({**texts, "label": ids}, names))
            assert (columns.labels.tolist(), columns.label_names, columns.label_kind) == (ids, tuple(names), "class")
    assert Columns.of(make({**TWO, "label": [0, 1, 0]}, names), label_kind="binary").label_kind == "binary"
    assert Columns.of(make({**TWO, "label": [0, 1, 0]}, names), label_names=["가", "나"]).label_names == ("가", "나")
    with pytest.raises(BadInput, match="row 1: the class is -1"):
        Columns.of(make({**ONE, "label": [0, -1, 1]}, names))


def test_class_labels_of_a_dataset_keep_their_ids_and_names():
    check_class_labels(LabelledDataset)


def test_class_labels_of_the_real_library():
    datasets = pytest.importorskip("datasets")

    def make(columns, names):
        features = {name: datasets.Value("string") for name in columns} | {"label": datasets.ClassLabel(names=names)}
        return datasets.Dataset.from_dict(columns, features=datasets.Features(features))

    check_class_labels(make)


class Frame:
    """As much of a data frame as is asked for."""

    def __init__(self, columns):
        self.data = {name: np.array(values) for name, values in columns.items()}
        self.columns = list(columns)

    def __getitem__(self, name):
        return self.data[name]


@pytest.mark.parametrize("make", [Frame, pa.table])
def test_data_frames_and_tables(make):
    columns = Columns.of(make({**TWO, "score": [0.5, 1.0, 0.25]}))
    assert columns.texts == TWO
    assert (columns.labels.tolist(), columns.label_kind) == ([0.5, 1.0, 0.25], "score")


def test_pandas():
    frame = pytest.importorskip("pandas").DataFrame({**TWO, "label": ["a", "b", "a"]})
    columns = Columns.of(frame)
    assert (columns.texts, columns.labels.tolist(), columns.label_names) == (TWO, [0, 1, 0], ("a", "b"))


def test_overlap_counts_rows_with_the_same_texts():
    dev = Columns.of({"a": ["비", "눈", "비", "해"], "b": ["1", "2", "1", "4"]})
    train = [Columns.of({"x": ["비", "해"], "y": ["1", "5"]}), Columns.of({"x": ["눈"], "y": ["2"]})]
    assert dev.overlap(*train) == 3
    assert dev.overlap(train[0]) == 2
    assert dev.overlap() == dev.overlap(Columns.of({"a": ["비", "눈"]})) == 0


def test_names_of_classes():
    names = ["entailment", "neutral", "contradiction"]
    by_id = Columns.of(TWO, [0, 2, 0], label_names=names)
    by_name = Columns.of(TWO, ["entailment", "contradiction", "entailment"], label_names=names)
    assert by_id.label_names == by_name.label_names == tuple(names)
    assert by_id.labels.tolist() == by_name.labels.tolist() == [0, 2, 0]


def test_numbers_of_a_teacher_need_a_kind():
    vectors = np.arange(6, dtype=np.float64).reshape(3, 2)
    columns = Columns.of(ONE, vectors, label_kind="vector")
    assert (columns.labels.dtype, columns.labels.tolist()) == (np.float32, vectors.tolist())
    with pytest.raises(BadInput, match="row 0: the label is a list; say what it is"):
        Columns.of(ONE, vectors)


def test_head_and_take_cut_texts_and_labels_alike():
    columns = Columns.of(TWO, [0.1, 0.2, 0.3], name="셋")
    taken = columns.take(np.array([2, 0, 2]))
    assert taken.texts == {"anchor": ["셋", "비가 온다", "셋"], "positive": ["Three", "비가 내린다", "Three"]}
    assert taken.labels.tolist() == columns.labels[[2, 0, 2]].tolist()
    assert (taken.name, taken.label_kind) == ("셋", "score")
    assert columns.head(2).fingerprint == columns.take(np.array([0, 1])).fingerprint
    assert columns.head(99).fingerprint == columns.fingerprint


def test_fingerprint_is_stable_and_sees_everything():
    columns = Columns.of({"text": ["하나", "둘"]}, ["a", "b"])
    assert columns.fingerprint == "7f1790e7c78bbb5d2fd4e46f8ad5ba1b59dc26d988e2f0eca54885e24e160d34"
    others = [
        Columns.of({"text": ["하나둘", ""]}, ["a", "b"]),
        Columns.of({"text": ["둘", "하나"]}, ["a", "b"]),
        Columns.of({"글": ["하나", "둘"]}, ["a", "b"]),
        Columns.of({"text": ["하나", "둘"]}, ["b", "a"]),
        Columns.of({"text": ["하나", "둘"]}, ["a", "c"]),
        Columns.of({"text": ["하나", "둘"]}),
    ]
    assert len({columns.fingerprint, *(other.fingerprint for other in others)}) == 7
    assert Columns.of({"text": ["\ud800"]}).fingerprint  # half a letter, which JSON can hold


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ({}, {}, "no column of texts"),
        (
            {"a": ["하나"], "나": []},
            {},
            "^the data has 1 row in the column 'a', but 0 in the column '나'; give every row",
        ),
        (ONE, {"labels": [0.5]}, "3 rows in the column 'text', but 1 in the column of labels"),
        (ONE, {"labels": []}, "has no labels"),
        (["하나"], {}, "got a list, but columns of texts are needed: a dictionary of lists"),
        ({"train": Dataset(ONE)}, {}, "got a dict, but .*choose one of a DatasetDict"),
        (Columns(ONE), {}, "got a Columns, but columns of texts are needed"),
        ({"id": [1]}, {}, "column 'id', row 0: int, but must be text"),
        (ONE, {"labels": [0, -1, 1]}, "row 1: the class is -1, but ids start at 0"),
        (
            ONE,
            {"labels": [0, 3, 1], "label_names": ["a", "b"]},
            "row 1: the label is '3', but must be one of '0', '1'",
        ),
        (
            ONE,
            {"labels": ["a", "c", "b"], "label_names": ["a", "b"]},
            "row 1: the label is 'c', but must be one of 'a'",
        ),
        (ONE, {"labels": [0, 1, 2], "label_kind": "binary"}, "row 2: the label is '2', but must be one of '0', '1'"),
        (ONE, {"labels": [[1, 2], [3], [4, 5]], "label_kind": "scores"}, "row 1: the label is no list of 2"),
    ],
)
def test_what_cannot_be_used_is_named(texts, options, message):
    with pytest.raises(BadInput, match=message):
        Columns.of(texts, **options)


@pytest.mark.parametrize(
    ("labels", "kind", "names", "message"),
    [
        (np.zeros(3), "none", (), "has labels, but label_kind is 'none'"),
        (None, "score", (), "has no labels, but label_kind is 'score'"),
        (np.zeros((3, 2)), "score", (), r"shape \(3, 2\), but 'score' needs \(rows,\)"),
        (np.zeros(3), "vector", (), r"needs \(rows, numbers\)"),
        (np.array([0, 1, 2]), "class", ("a", "b"), "class ids beyond its label_names"),
    ],
)
def test_labels_and_their_kind_agree(labels, kind, names, message):
    with pytest.raises(BadInput, match=message):
        Columns(ONE, labels, kind, names)


def test_unknown_kind():
    with pytest.raises(BadOption, match="did you mean 'score'"):
        Columns(ONE, np.zeros(3), "scor")
