"""Stores: what is put is there, once, with its vector; searches see the present state; wrong input is one sentence."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from sbert.errors import BadInput
from sbert.search.exact import semantic_search
from sbert.search.filters import read_filter
from sbert.search.store import Document
from sbert.search.store.document import content_hash
from sbert.text.terms import query_terms

from .conftest import FACTS, opened


def vectors(count, seed=0):
    return np.random.default_rng(seed).standard_normal((count, 4)).astype(np.float32)


def documents(texts, start=0, seed=0):
    rows = zip(texts, vectors(len(texts), seed), strict=True)
    return [Document(f"문서{start + i}", text, {"길이": len(text)}, vector) for i, (text, vector) in enumerate(rows)]


def same(one, other):
    return (one.id, one.text, one.metadata) == (other.id, other.text, other.metadata) and (
        one.vector == other.vector
    ).all()


def test_what_is_put_is_there_after_opening_again(open_store):
    some = documents(["결제가 안 돼요", "부산 가는 KTX를 예약했다", "A man is eating."])
    store = open_store()
    store.put(some)
    store.close()
    again = open_store()
    assert again.facts == FACTS
    assert len(again) == 3
    assert all(same(one, other) for one, other in zip(again, some, strict=True))
    assert same(again.get(["문서2", "없음"])[0], some[2])
    known = again.known(["문서0", "없음"])
    assert known == {"문서0": (content_hash("결제가 안 돼요"), '{"길이": 8}')}
    assert (
        again.vectors_of([content_hash("A man is eating.")])[content_hash("A man is eating.")] == some[2].vector
    ).all()


def test_an_id_of_thousands_of_digits_is_one_sentence(open_store):
    store = open_store()
    for use in (lambda name: store.put([Document(name, "글", {}, vectors(1)[0])]), lambda name: store.get([name])):
        with pytest.raises(BadInput, match=r"an id is a number of more than 4,300 digits"):
            use(10**5000)


def test_reading_everything_sees_one_state(open_store):
    """Otherwise a document that is replaced meanwhile would be read twice, or not at all."""
    store, other = open_store(), open_store()
    some = documents([f"글 {i}" for i in range(5000)])  # more than are read at a time
    store.put(some)
    reading = iter(store)
    first = next(reading)
    other.put([replace(some[0], text="새 글"), replace(some[-1], text="새 글")])
    other.delete([some[-2].id])
    found = [first, *reading]
    assert [one.id for one in found] == [one.id for one in some]
    assert {one.text for one in store} - {one.text for one in found} == {"새 글"}
    for document in store:  # the thread may write while it reads
        store.delete([document.id])
        break
    assert len(store) == 4998


def test_numbers_and_texts_are_different_ids(open_store):
    store = open_store()
    store.put([Document(1, "하나", {}, vectors(1)[0]), Document("1", "둘", {}, vectors(1)[0])])
    assert [document.text for document in store.get([1, "1"])] == ["하나", "둘"]
    assert [document.id for document in store] == [1, "1"]


def test_a_document_is_replaced_and_its_old_words_are_gone(open_store):
    store = open_store()
    store.put(documents(["결제 오류"]))
    store.put(documents(["배송 지연"], seed=1))
    assert len(store) == 1
    assert store.matching(query_terms("결제"), 5) == []
    (match,) = store.matching(query_terms("배송"), 5)
    assert store.read(np.array([match.key]))[match.key].text == "배송 지연"


def test_only_the_metadata_can_change(open_store):
    store = open_store()
    store.put(documents(["가", "나"]))
    before = store.nearest(vectors(1), 2)
    store.put([Document("문서0", "가", {"새": True})])
    assert store.get(["문서0"])[0].metadata == {"새": True}
    assert store.nearest(vectors(1), 2).keys[0].tolist() == before.keys[0].tolist()
    assert store.count(read_filter("새 = true")) == 1


def test_deleted_documents_never_appear(open_store):
    store = open_store()
    some = documents([f"글 {i}" for i in range(20)])
    store.put(some)
    assert len(store.nearest(vectors(1), 20).keys[0]) == 20
    assert store.delete(["문서3", "문서4", "없음"]) == 2
    found = store.read(store.nearest(vectors(1), 20).keys[0])
    assert {document.id for document in found.values()} == {f"문서{i}" for i in range(20)} - {"문서3", "문서4"}
    assert store.matching(query_terms("글"), 50)[17:] != []
    assert len(store.matching(query_terms("글"), 50)) == 18


def test_the_nearest_are_those_of_an_exact_search(open_store):
    store = open_store()
    some = documents([f"글 {i}" for i in range(50)])
    store.put(some)
    queries = vectors(5, seed=7)
    found = store.nearest(queries, 10)
    truth = semantic_search(queries, np.stack([document.vector for document in some]), 10)
    for keys, scores, hits in zip(found.keys, found.scores, truth, strict=True):
        rows = store.read(keys)
        assert [rows[key].id for key in keys.tolist()] == [f"문서{hit.id}" for hit in hits]
        assert scores == pytest.approx([hit.score for hit in hits], abs=1e-6)


def test_a_filter_may_list_thousands_of_values(open_store):
    store = open_store()
    store.put([Document(i, f"글 {i}", {"번호": i}, vector) for i, vector in enumerate(vectors(3))])
    listed = read_filter({"번호": list(range(1, 5001))})
    assert store.count(listed) == 2
    assert store.count(read_filter(" or ".join(f"번호 = {i}" for i in range(2, 4000)))) == 1
    assert len(store.nearest(vectors(1), 3, listed).keys[0]) == 2


def test_a_filter_selects_before_the_nearest_are_chosen(open_store):
    store = open_store()
    rows = vectors(100)
    store.put(
        [Document(i, f"글 {i}", {"lang": "ko" if i % 10 == 0 else "en", "year": i}, rows[i]) for i in range(100)]
    )
    condition = read_filter('lang = "ko" and year >= 20')
    found = store.nearest(rows[:3], 10, condition)
    assert found.exact
    for keys in found.keys:
        assert {document.id for document in store.read(keys).values()} == set(range(20, 100, 10))
    assert store.count(condition) == 8
    assert len(store.matching(query_terms("글"), 100, condition)) == 8


@pytest.mark.parametrize(
    ("query", "found"),
    [("결제", "a"), ("부산", "b"), ("KTX", "b"), ("ktx", "b"), ("환불", "a"), ("밥", "c"), ("eating", "d")],
)
def test_korean_words_of_two_syllables_and_latin_inside_korean_are_found(open_store, query, found):
    store = open_store()
    texts = {"a": "결제가 안 되고 환불도 안 돼요", "b": "부산까지 KTX를 탔다", "c": "밥 먹자", "d": "A man is eating."}
    store.put([Document(name, text, {}, vectors(1)[0]) for name, text in texts.items()])
    matches = store.matching(query_terms(query), 5)
    assert [document.id for document in store.read(np.array([match.key for match in matches])).values()] == [found]


def test_many_readers_beside_one_writer_see_whole_batches(open_store):
    store = open_store()
    store.put(documents(["처음"] * 10))
    stop, wrong = threading.Event(), []

    def read():
        while not stop.is_set():
            count = len(store)
            keys = store.nearest(vectors(1), 200).keys[0]
            found = store.read(keys)
            if count % 10 or len(set(keys.tolist())) != len(keys):
                wrong.append((count, len(keys), len(found)))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for batch in range(1, 8):
        store.put(documents([f"글 {batch} {i}" for i in range(10)], start=10 * batch, seed=batch))
        store.delete([f"문서{10 * (batch - 1) + i}" for i in range(10)])
    stop.set()
    for reader in readers:
        reader.join()
    assert wrong == []
    assert len(store) == 10


def test_a_store_works_after_a_fork(open_store):
    store = open_store()
    store.put(documents(["가", "나", "다"]))
    expected = store.nearest(vectors(1), 3).keys[0].tolist()
    child = os.fork()
    if child == 0:
        good = store.nearest(vectors(1), 3).keys[0].tolist() == expected
        store.put(documents(["라"], start=3))
        os._exit(0 if good and len(store) == 4 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert len(store) == 4


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (Document("a", "NUL \0", {}, vectors(1)[0]), "holds a NUL character"),
        (Document("a", "\ud800", {}, vectors(1)[0]), "lone surrogate"),
        (Document("a\0", "가", {}, vectors(1)[0]), "holds a NUL character"),
        (Document(1.5, "가", {}, vectors(1)[0]), "but an id is a text or a whole number"),
        (Document(True, "가", {}, vectors(1)[0]), "but an id is a text or a whole number"),
        (Document("a", "가", {"x": float("nan")}, vectors(1)[0]), "cannot be written as JSON"),
        (Document("a", "가", {"x": object()}, vectors(1)[0]), "cannot be written as JSON"),
        (
            Document("a", "가", {"깊이": json.loads("[" * 100 + "]" * 100)}, vectors(1)[0]),
            "nested more than 100 levels deep",
        ),
        (Document("a", "가", {"x": "\0"}, vectors(1)[0]), "hold a NUL character"),
        (Document("a", "가", {"x\0": 1}, vectors(1)[0]), "hold a NUL character"),
        (Document("a", "가", {"x": "\\\0"}, vectors(1)[0]), "hold a NUL character"),
        (Document("a", "가", [1], vectors(1)[0]), "must be a mapping"),
        (Document("a", "가", {}, np.zeros(3, np.float32)), "but (rows, 4) is expected"),
        (Document("a", "가", {}, np.full(4, np.nan, np.float32)), "holds NaN, infinity or values beyond 1e19"),
        (Document("a", "가", {}, np.full(4, 1e30, np.float32)), "holds NaN, infinity or values beyond 1e19"),
        (Document("a", 5, {}, vectors(1)[0]), "but must be text"),
    ],
)
def test_a_wrong_document_is_one_sentence_and_nothing_is_written(open_store, document, message):
    store = open_store()
    with pytest.raises(BadInput) as caught:
        store.put([*documents(["앞"]), document])
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400
    assert len(store) == 0


def test_the_letters_of_an_escaped_nul_are_only_letters(open_store):
    store = open_store()
    written = Document("\\u0000", "\\u0000 은 NUL 이다", {"\\u0000": "\\\\u0000"}, vectors(1)[0])
    store.put([written])
    (found,) = store
    assert (found.id, found.text, found.metadata) == (written.id, written.text, written.metadata)


HOSTILE = ["'; DROP TABLE rows; --", '" OR 1=1', "%s %(x)s", "a" * 10_000, "‮", "\x1b[31m", "{}", "null", ""]


def test_hostile_ids_texts_and_values_are_only_data(open_store):
    store = open_store()
    store.put([Document(text, text, {"값": text}, vectors(1, i)[0]) for i, text in enumerate(HOSTILE)])
    assert [document.id for document in store] == HOSTILE
    for text in HOSTILE:
        assert [document.text for document in store.get([text])] == [text]
        assert store.count(read_filter({"값": text})) == 1
        store.matching(query_terms(text), 5)
    assert store.delete(HOSTILE) == len(HOSTILE)
    assert len(store) == 0


def test_other_facts_do_not_change_a_store(open_store):
    open_store()
    assert open_store(replace(FACTS, model="other")).facts == FACTS


@pytest.mark.parametrize("precision", ["float32", "float16", "int8", "binary"])
def test_vectors_are_kept_in_the_chosen_precision(open_store, precision):
    store = open_store(replace(FACTS, precision=precision))
    some = documents([f"글 {i}" for i in range(5)])
    store.put(some)
    kept = np.stack([document.vector for document in store])
    found = store.nearest(vectors(1), 5)
    truth = semantic_search(vectors(1), kept, 5)[0]
    assert found.scores[0].tolist() == [hit.score for hit in truth]


def test_compacting_changes_nothing_that_can_be_found(open_store):
    store = open_store()
    store.put(documents([f"글 {i}" for i in range(30)]))
    other = open_store()
    other.nearest(vectors(1), 5)
    store.delete([f"문서{i}" for i in range(10)])
    store.compact()
    for each in (store, other, open_store()):
        keys = each.nearest(vectors(1), 30).keys[0]
        assert len(keys) == len(each.read(keys)) == 20


class Model(RuleBasedStateMachine):
    """Puts and deletes at random, beside a dictionary that does the same."""

    def __init__(self, place):
        super().__init__()
        self.store, self.truth, self.seed = opened(place, FACTS), {}, 0
        self.place = place
        self.store.delete([document.id for document in self.store])  # of the example before

    @rule(names=st.lists(st.integers(0, 8), max_size=4), year=st.integers(0, 3))
    def put(self, names, year):
        self.seed += 1
        rows = {
            name: Document(name, f"글 {name} {self.seed}", {"year": year}, vectors(9, self.seed)[name])
            for name in names
        }
        self.store.put(list(rows.values()))
        self.truth.update(rows)

    @rule(names=st.lists(st.integers(0, 8), max_size=3))
    def delete(self, names):
        assert self.store.delete(names) == len({name for name in names if self.truth.pop(name, None)})

    @rule()
    def open_again(self):
        self.store.close()
        self.store = opened(self.place)

    @rule()
    def compact(self):
        self.store.compact()

    @invariant()
    def holds_the_same(self):
        assert {document.id: document.text for document in self.store} == {k: d.text for k, d in self.truth.items()}
        keys = self.store.nearest(vectors(1), 20).keys[0]
        found = self.store.read(keys)
        assert {document.id for document in found.values()} == set(self.truth)
        assert self.store.count(read_filter("year = 1")) == sum(d.metadata["year"] == 1 for d in self.truth.values())
        assert len(self.store.matching(query_terms("글"), 50)) == len(self.truth)

    def teardown(self):
        self.store.close()


def test_any_sequence_of_changes_gives_the_same_documents(place):
    steps = settings(max_examples=15, stateful_step_count=12, deadline=None)
    run_state_machine_as_test(lambda: Model(place), settings=steps)
