"""Topics: found, named, merged, counted, saved, and the same in every run."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sbert.errors import BadInput, BadModel
from sbert.explore.clusters import ClusterOptions
from sbert.explore.topics import Topics, find_topics

WORDS = [["날씨", "비가", "기온"], ["축구", "경기", "선수"], ["music", "piano", "concert"]]


@pytest.fixture
def collection():
    random = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [30, 20, 10])
    texts = [
        " ".join([*random.choice(WORDS[label], 2, replace=False), f"글{row}"]) for row, label in enumerate(labels)
    ]
    vectors = np.eye(6)[labels] + 0.15 * random.standard_normal((60, 6))
    return texts, vectors.astype(np.float32), labels


@pytest.fixture
def topics(collection):
    texts, vectors, _ = collection
    return find_topics(texts, vectors, options=ClusterOptions(k=3))


def test_topics_are_found_and_named_by_their_words(collection, topics):
    texts, _, labels = collection
    assert topics.labels.tolist() == labels.tolist()
    assert [topic.size for topic in topics.topics] == [30, 20, 10]
    for topic, words in zip(topics.topics, WORDS, strict=True):
        assert set(topic.name.split(", ")) <= {*words, "비"}
        assert all(texts[row].split()[0] in words for row in topic.examples)
    assert (topics.confidence > 0.9).all()


def test_class_based_tf_idf_by_hand():
    found = find_topics(
        ["apple pear", "apple", "plum"], [[1.0, 0], [1, 0.1], [0, 1]], options=ClusterOptions(k=2), longest=1
    )
    weights = {word.phrase: word.weight for word in found.topics[0].words}
    mean = 4 / 2  # words of all texts, divided by the number of topics
    assert weights["apple"] == pytest.approx(2 / 3 * np.log1p(mean / 2))
    assert weights["pear"] == pytest.approx(1 / 3 * np.log1p(mean / 1))


def test_texts_below_the_confidence_have_no_topic(collection):
    texts, vectors, _ = collection
    vectors[0] = [1, 1, 0, 0, 0, 0]
    found = find_topics(texts, vectors, options=ClusterOptions(k=3), least_confidence=0.9)
    assert found.labels[0] == -1
    assert (found.labels[1:] >= 0).all()
    assert sum(topic.size for topic in found.topics) == 59
    assert (find_topics(texts, vectors, options=ClusterOptions(k=3)).labels >= 0).all()


def test_topics_are_merged_to_a_number(collection):
    texts, vectors, labels = collection
    found = find_topics(texts, vectors, 3, options=ClusterOptions(k=8))
    assert len(found.topics) == 3
    assert found.labels.tolist() == labels.tolist()
    assert len(find_topics(texts, vectors, 50, options=ClusterOptions(k=3)).topics) == 3


def test_the_hierarchy_joins_all_topics(collection):
    texts, vectors, _ = collection
    found = find_topics(texts, vectors, options=ClusterOptions(k=6))
    merges = found.hierarchy()
    assert len(merges) == len(found.topics) - 1
    assert sorted(merges[-1].first + merges[-1].second) == list(range(len(found.topics)))
    assert merges[0].similarity > merges[-1].similarity
    parts = [*merges[-1].first], [*merges[-1].second]
    assert max(map(len, parts)) <= 4  # not one topic after another


def test_new_texts_are_assigned_without_changing_the_topics(topics):
    assigned = topics.assign([[0.0, 1, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0]])
    assert assigned.labels.tolist() == [1, 2]
    others = topics.with_texts([[0.0, 1, 0, 0, 0, 0]])
    assert [topic.size for topic in others.topics] == [0, 1, 0]
    assert [topic.examples for topic in others.topics] == [[], [0], []]
    assert len(topics.assign(np.empty((0, 6), np.float32)).labels) == 0
    with pytest.raises(
        BadInput, match="the vectors have 2 dimensions, but the topics have 6; use the model that made"
    ):
        topics.assign([[0.0, 1.0]])


def test_topics_over_time(topics):
    counts = topics.over_time(["2024-02"] * 40 + ["2023-12"] * 20)
    assert counts == {"2023-12": [0, 10, 10], "2024-02": [30, 10, 0]}
    with pytest.raises(BadInput, match="got 1 periods for 60 texts, but each text needs one"):
        topics.over_time(["2024"])


def test_saved_topics_are_the_same(topics):
    again = Topics.from_json(topics.to_json())
    assert again.to_json() == topics.to_json()
    assert (again.centres == topics.centres).all()
    assert again.topics == topics.topics


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"format": 9}', "[" * 100_000, '{"format": 1, "topics": [1]}'])
def test_what_is_no_topics_is_one_sentence(damage):
    with pytest.raises(
        BadModel, match=r"^these are not topics, or they are damaged \(.*\); save them again$"
    ) as caught:
        Topics.from_json(damage)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format", 9),
        ("centres", [[float("nan")] * 6] * 3),
        ("centres", [[1.0]]),
        ("labels", [10**30] * 60),
        ("least_confidence", float("nan")),
        ("topics", [{"number": 99, "size": 1, "words": [], "examples": []}] * 3),
        ("topics", [{"number": 0, "size": float("inf"), "words": [], "examples": []}]),
        ("topics", [{"number": 0, "size": 1, "words": [[1, 2]], "examples": []}]),
        ("topics", [{"number": 0, "size": 1, "words": [["a", "x"]], "examples": []}]),
    ],
)
def test_damaged_topics_are_one_sentence(topics, field, value):
    stored = json.loads(topics.to_json()) | {field: value}
    with pytest.raises(BadModel, match="these are not topics, or they are damaged"):
        Topics.from_json(json.dumps(stored))


def test_topics_are_numbered_by_size_without_the_texts_below_the_confidence(collection):
    texts, vectors, _ = collection
    found = find_topics(texts, vectors, 6, least_confidence=0.5)
    sizes = [topic.size for topic in found.topics]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == (found.labels >= 0).sum()


def test_texts_without_a_period_are_not_counted(topics):
    assert topics.over_time([None] * 59 + ["2024-05"]) == {"2024-05": [0, 0, 1]}


def test_two_runs_give_the_same(collection):
    texts, vectors, _ = collection
    assert find_topics(texts, vectors).to_json() == find_topics(texts, vectors).to_json()


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((["가"], [[1.0], [2.0]]), {}, "got 2 vectors for 1 texts, but each text needs one"),
        (
            (["가"], [[1.0]]),
            {"method": "hdbscan"},
            "no cluster was found, but topics are made of clusters; use another",
        ),
        ((["가"], [[1.0]]), {"least_confidence": 2}, "least_confidence is 2, but must be between 0 and 1"),
        ((["가"], [[1.0]], 0), {}, "count is 0, but must be at least 1"),
    ],
)
def test_wrong_arguments_are_one_sentence(arguments, options, message):
    with pytest.raises(BadInput, match=message):
        find_topics(*arguments, **options)


def test_one_text_is_one_topic():
    found = find_topics(["서울의 날씨"], [[1.0, 0.0]])
    assert [topic.name for topic in found.topics] == ["날씨, 서울"] or found.topics[0].size == 1
    assert find_topics(["", ""], [[1.0], [1.0]]).topics[0].name == "topic 0"


def test_topics_are_a_table_in_a_notebook(topics):
    html = topics._repr_html_()
    assert html.count("<tr>") == 1 + 3
    assert "<caption>texts without a topic: 0</caption>" in html
    assert all(word.phrase in html for topic in topics.topics for word in topic.words)
