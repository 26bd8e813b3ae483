"""A searcher with a store: it lasts, embeds only what is new, filters, matches words, and refuses another model."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

from sbert import BiEncoder, Searcher
from sbert.errors import BadInput
from sbert.search.filters import read_filter

FAQ = {
    "pay-1": ("결제가 안 돼요. 카드를 다시 등록해야 하나요?", {"lang": "ko", "year": 2023, "tags": ["결제"]}),
    "pay-2": ("환불은 며칠 걸리나요?", {"lang": "ko", "year": 2020, "tags": ["결제", "환불"]}),
    "trip": ("부산까지 가는 KTX를 예약하고 싶어요.", {"lang": "ko", "year": 2022}),
    "meal": ("A man is eating a sandwich.", {"lang": "en", "year": 2021}),
    "cat": ("A cat sleeps on the sofa.", {"lang": "en", "year": 2019}),
}


def fill(searcher, rows=FAQ):
    texts, metadata = zip(*rows.values(), strict=True)
    return searcher.add(list(texts), ids=list(rows), metadata=list(metadata))


@pytest.fixture
def place(tmp_path):
    return tmp_path / "faq.db"


def test_a_store_remembers_its_texts_and_its_model(place, bundled):
    assert fill(Searcher.open(place)).new == 5
    again = Searcher.open(place)
    found = again.search("Somebody has lunch.", k=2)
    assert found.hits[0].id == "meal"
    assert found.hits[0].metadata == {"lang": "en", "year": 2021}
    assert found.exact
    assert found.compared == 5
    memory = Searcher(bundled)
    fill(memory)
    assert memory.search("Somebody has lunch.", k=5).hits == again.search("Somebody has lunch.", k=5).hits


def test_only_what_is_new_is_embedded(place, bundled, monkeypatch):
    searcher = Searcher.open(place)
    fill(searcher)
    read = []
    encode = BiEncoder.encode_document
    monkeypatch.setattr(
        BiEncoder, "encode_document", lambda self, texts, **o: read.extend(texts) or encode(self, texts)
    )
    again = Searcher.open(place)
    changed = {**FAQ, "cat": ("고양이가 잔다.", {}), "trip": (FAQ["trip"][0], {"lang": "ko"}), "copy": FAQ["meal"]}
    added = fill(again, changed)
    assert read == ["고양이가 잔다."]
    assert (added.new, added.changed, added.unchanged, added.embedded, added.repeated) == (1, 2, 3, 1, 0)
    assert again.search("고양이", k=1, mode="lexical").hits[0].text == "고양이가 잔다."
    assert sorted(again.ids) == sorted(changed)


def test_the_last_of_repeated_ids_counts(place):
    searcher = Searcher.open(place)
    added = searcher.add(["하나", "둘", "셋"], ids=["x", "y", "x"])
    assert (added.new, added.repeated) == (2, 1)
    assert {hit.text for hit in searcher.search("하나", k=5).hits} == {"둘", "셋"}


@pytest.mark.parametrize("stored", [True, False])
def test_filters_select_in_memory_and_in_a_store(place, bundled, stored):
    searcher = Searcher.open(place) if stored else Searcher(bundled)
    fill(searcher)
    found = searcher.search("음식", k=5, filter='lang = "ko" and year >= 2021')
    assert {hit.id for hit in found.hits} == {"pay-1", "trip"}
    assert found.compared == 2
    same = searcher.search("음식", k=5, filter={"lang": "ko", "year": {"$gte": 2021}})
    assert same.hits == found.hits
    assert searcher.search("음식", filter=read_filter('tags contains "환불"')).hits[0].id == "pay-2"
    with pytest.raises(BadInput, match="at character 6"):
        searcher.search("음식", filter="lang ~ 1")


def test_words_and_fused_ranks(place):
    searcher = Searcher.open(place)
    fill(searcher)
    lexical = searcher.search("환불", mode="lexical")
    assert [(hit.id, hit.lexical_rank, hit.vector_rank) for hit in lexical.hits] == [("pay-2", 1, None)]
    hybrid = searcher.search("KTX 예약", k=5, mode="hybrid")
    best = hybrid.hits[0]
    assert (best.id, best.lexical_rank) == ("trip", 1)
    assert best.score == pytest.approx(1 / 61 + 1 / (60 + best.vector_rank))
    assert len(hybrid.hits) == 5
    assert searcher.search("KTX 예약", k=2, mode="hybrid").hits == hybrid.hits[:2]
    assert searcher.search("없는말", mode="lexical").hits == []
    assert searcher.search("?!", mode="lexical").hits == []


def test_more_like_this_and_several_queries(place, bundled):
    for searcher in (Searcher.open(place), Searcher(bundled)):
        fill(searcher)
        found = searcher.similar("meal", k=3)
        assert len(found.hits) == 3
        assert "meal" not in {hit.id for hit in found.hits}
        one, two = searcher.search(["lunch", "고양이"], k=2)
        assert one.hits == searcher.search("lunch", k=2).hits
        assert two.hits == searcher.search("고양이", k=2).hits
        with pytest.raises(BadInput, match="there is no text with the id 'none'"):
            searcher.similar("none")


@pytest.mark.parametrize("stored", [True, False])
def test_what_is_removed_is_not_found(place, bundled, stored):
    searcher = Searcher.open(place) if stored else Searcher(bundled)
    fill(searcher)
    assert searcher.remove(["meal", "none", "meal"]) == 1
    assert "meal" not in {hit.id for hit in searcher.search("lunch", k=10).hits}
    assert (len(searcher), "meal" in searcher.ids) == (4, False)
    searcher.add(["다시"], ids=["meal"])
    assert searcher.search("다시", k=1).hits[0].id == "meal"


def test_another_model_is_refused_with_both_fingerprints(place, tiny_folder):
    fill(Searcher.open(place))
    with pytest.raises(BadInput, match=r"fingerprint [0-9a-f]{16}, but the model given has [0-9a-f]{16}"):
        Searcher.open(place, str(tiny_folder("bert")))


def test_vectors_from_elsewhere_are_taken(place, bundled):
    texts = [text for text, _ in FAQ.values()]
    vectors = bundled.encode_document(texts)
    searcher = Searcher.open(place)
    assert searcher.add(iter(texts), ids=list(FAQ), vectors=vectors).embedded == 0
    assert searcher.search("lunch", k=1).hits[0].id == "meal"
    with pytest.raises(BadInput, match="fewer ids, metadata or vectors than texts"):
        searcher.add(["하나", "둘"], ids=["a"])
    with pytest.raises(BadInput, match="more ids, metadata or vectors than texts"):
        searcher.add(["하나"], ids=["a", "b"])
    for wrong in ([[0.5], [0.5, 1.0]], np.zeros(384, np.float32), np.zeros((1, 384), np.int64), "벡터"):
        with pytest.raises(BadInput, match="pass a 2-D array"):
            searcher.add(["하나"], vectors=wrong)
    assert searcher.add(["하나"], ids=["새"], vectors=vectors[:1].tolist()).new == 1
    with pytest.raises(BadInput, match=r"shape \(1, 8\)"):
        searcher.add(["하나"], vectors=np.zeros((1, 8), np.float32))


def test_a_reranker_reads_the_stored_texts(place, tiny_classifier):
    from sbert import CrossEncoder

    cross = CrossEncoder.from_pretrained(tiny_classifier("bert", 1))
    searcher = Searcher.open(place, reranker=cross)
    fill(searcher)
    found = searcher.search("lunch", k=2, candidates=4)
    assert found.candidates == 4
    assert found.hits[0].score >= found.hits[1].score
    assert found.hits[0].score == pytest.approx(float(cross.predict([("lunch", found.hits[0].text)])[0]))


def test_ids_come_back_as_plain_numbers_from_a_store(place):
    searcher = Searcher.open(place)
    searcher.add(["비가 온다.", "눈이 온다."], ids=np.array([7, 8]))
    assert [type(name) for name in searcher.ids] == [int, int]
    assert [type(hit.id) for hit in searcher.search("비", k=2).hits] == [int, int]
    assert searcher.similar(np.int32(7)).hits[0].id == 8
    assert searcher.remove(np.array([7])) == 1


@pytest.mark.parametrize(("text", "message"), [("글\0", "NUL character"), ("\ud800", "lone surrogate")])
def test_texts_that_no_database_keeps_are_refused(place, text, message):
    searcher = Searcher.open(place)
    with pytest.raises(BadInput, match=message):
        searcher.add(["앞", text])
    with pytest.raises(BadInput, match=message):
        searcher.add(["앞"], metadata=[{"값": text}])
    assert len(searcher) == 0
    assert searcher.search(text, mode="lexical").hits == []


def test_a_text_of_ten_megabytes_is_kept_whole_and_found(place):
    searcher = Searcher.open(place)
    text = "결제가 안 돼요. " * 420_000 + "부산역"
    assert len(text.encode()) > 9_000_000
    searcher.add([text, "짧은 글"], ids=["긴 글", "짧은 글"])
    (hit,) = Searcher.open(place).search("부산역", mode="lexical").hits
    assert (hit.id, hit.text == text) == ("긴 글", True)


def test_the_stages_of_a_search_are_timed(place):
    searcher = Searcher.open(place)
    fill(searcher)
    seconds = searcher.search("점심", k=1).seconds
    assert seconds.encode > 0
    assert seconds.retrieve > 0
    assert seconds.rerank == 0
    assert searcher.search("환불", mode="lexical").seconds.encode < seconds.encode
    assert searcher.similar("meal").seconds.encode == 0


def test_threads_and_a_forked_process_share_a_searcher(place):
    searcher = Searcher.open(place)
    fill(searcher)
    expected = searcher.search("Somebody has lunch.", k=3).hits
    wrong = []

    def work(number):
        for _ in range(3):
            found = searcher.search("Somebody has lunch.", k=3, filter="year exists").hits
            if found != expected:
                wrong.append(found)
            searcher.add([f"새 글 {number}"], ids=[f"새 {number}"])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(searcher) == 9
    child = os.fork()
    if child == 0:
        good = searcher.search("Somebody has lunch.", k=3, filter="year exists").hits == expected
        searcher.add(["아이의 글"], ids=["아이"])
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert searcher.search("아이의 글", k=1).hits[0].id == "아이"
