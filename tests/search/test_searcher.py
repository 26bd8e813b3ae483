"""Retrieve and re-rank: the order of each stage, kept vectors, and what is refused."""

from __future__ import annotations

import json
import re
import threading
import time

import numpy as np
import pytest

from sbert import CrossEncoder, PolyEncoder, Searcher, semantic_search
from sbert.errors import BadInput
from sbert.search.found import ByVectors

QUERY = "고양이는 어디에서 자나요?"


@pytest.fixture(scope="module")
def poly(tiny_folder) -> PolyEncoder:
    return PolyEncoder.from_pretrained(tiny_folder("bert"), num_codes=6)


@pytest.fixture(scope="module")
def cross(tiny_classifier) -> CrossEncoder:
    return CrossEncoder.from_pretrained(tiny_classifier("bert", 1))


@pytest.fixture
def texts(sentences) -> list[str]:
    return [text for text in sentences if 0 < len(text) < 60][:60]


def test_without_a_reranker_the_short_list_is_the_result(bundled, texts):
    searcher = Searcher(bundled)
    searcher.add(texts[:20])
    searcher.add(texts[20:])
    found = searcher.search(QUERY, k=7)
    expected = semantic_search(bundled.encode(QUERY), bundled.encode(texts), 7)[0]
    assert [(hit.id, hit.text) for hit in found.hits] == [(hit.id, texts[hit.id]) for hit in expected]
    np.testing.assert_allclose([hit.score for hit in found.hits], [hit.score for hit in expected])
    assert (found.candidates, found.seconds.rerank) == (0, 0.0)


def test_a_cross_encoder_orders_the_short_list(bundled, cross, texts):
    searcher = Searcher(bundled, cross)
    searcher.add(texts, ids=[f"문서-{row}" for row in range(len(texts))])
    found = searcher.search(QUERY, k=5, candidates=20)
    short = [int(hit.id) for hit in semantic_search(bundled.encode(QUERY), bundled.encode(texts), 20)[0]]
    scores = dict(zip(short, cross.predict([(QUERY, texts[row]) for row in short]).tolist(), strict=True))
    best = sorted(short, key=lambda row: -scores[row])[:5]
    assert [hit.id for hit in found.hits] == [f"문서-{row}" for row in best]
    assert [hit.score for hit in found.hits] == [scores[row] for row in best]
    assert found.candidates == 20
    assert min(found.seconds.encode, found.seconds.retrieve, found.seconds.rerank) > 0


@pytest.mark.parametrize("own", [True, False])
def test_a_poly_encoder_works_by_kept_vectors(bundled, poly, texts, own, monkeypatch):
    searcher = Searcher(poly.documents if own else bundled, poly)
    searcher.add(texts[:30])
    searcher.add(texts[30:])
    assert isinstance(poly, ByVectors)
    searcher.search("다른 질문", k=4, candidates=len(texts))
    monkeypatch.setattr(poly, "encode_document", None)  # from here on, no document is read again
    found = searcher.search(QUERY, k=4, candidates=len(texts))
    monkeypatch.undo()
    assert [(hit.id, hit.score, hit.text) for hit in found.hits] == poly.rank(QUERY, texts, 4)


def test_the_short_list_is_at_least_as_long_as_the_result(bundled, cross, texts):
    searcher = Searcher(bundled, cross)
    searcher.add(texts)
    found = searcher.search(QUERY, k=8, candidates=3)
    assert (len(found.hits), found.candidates) == (8, 8)
    assert len(searcher.search(QUERY, k=1000).hits) == len(searcher) == len(texts)


def test_an_empty_collection(bundled, cross):
    searcher = Searcher(bundled, cross)
    searcher.add([])
    assert searcher.search(QUERY).hits == []


def test_nothing_is_added_by_halves(bundled):
    searcher = Searcher(bundled)
    searcher.add(["비가 온다."], ids=["비"])
    with pytest.raises(BadInput, match="the id '비' stands for two texts"):
        searcher.add(["눈이 온다.", "Rain."], ids=["눈", "비"])
    with pytest.raises(BadInput, match="the id 'x' stands for two texts"):
        searcher.add(["눈이 온다.", "Rain."], ids=["x", "x"])
    with pytest.raises(BadInput, match="got 1 ids for 2 texts"):
        searcher.add(["눈이 온다.", "Rain."], ids=["x"])
    with pytest.raises(BadInput, match="row 1 is NoneType"):
        searcher.add(["눈이 온다.", None], ids=["x", "y"])
    with pytest.raises(BadInput, match="k is 0, but must be at least 1"):
        searcher.search("비", k=0)
    with pytest.raises(BadInput, match=r"k is 1\.5, but must be a whole number"):
        searcher.search("비", k=1.5)
    with pytest.raises(BadInput, match="candidates is 0, but must be at least 1"):
        searcher.search("비", candidates=0)
    for wrong in ([1], None, ("눈", 1), 1.5):
        with pytest.raises(BadInput, match=f"the id of row 1 is {re.escape(repr(wrong))}, but must be a number or"):
            searcher.add(["눈이 온다.", "Rain."], ids=["x", wrong])
    with pytest.raises(BadInput, match="stands for two texts"):
        searcher.add(["눈이 온다.", "Rain."], ids=[7, np.int64(7)])
    assert (len(searcher), searcher.ids) == (1, ["비"])


class Numbers:
    """A retriever whose vectors say which text they belong to, and which lets other threads run while it encodes."""

    similarity_fn_name = "dot"

    def encode_query(self, text):
        time.sleep(0)
        return self.encode_document([text])[0]

    def encode_document(self, texts):
        time.sleep(1e-4)
        angles = np.array([float(text) for text in texts]) / 1000
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def test_threads_search_while_others_add():
    searcher, wrong, done = Searcher(Numbers()), [], threading.Event()
    searcher.add(["0"], ids=["id-0"])

    def look() -> None:
        while not done.is_set():
            for hit in searcher.search("500", k=50).hits:
                if hit.id != f"id-{hit.text}" or abs(hit.score - np.cos((float(hit.text) - 500) / 1000)) > 1e-9:
                    wrong.append(hit)

    def fill(start: int) -> None:
        for number in range(start, 1000, 4):
            searcher.add([str(number)], ids=[f"id-{number}"])

    readers = [threading.Thread(target=look) for _ in range(3)]
    writers = [threading.Thread(target=fill, args=(start,)) for start in (1, 2, 3)]
    for thread in (*readers, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    for thread in readers:
        thread.join()
    assert wrong == []
    assert len(searcher) == len(set(searcher.ids)) == 750 + 1
    assert [hit.text for hit in searcher.search("501", k=1).hits] == ["501"]


def test_ids_come_back_as_plain_numbers(bundled):
    searcher = Searcher(bundled)
    searcher.add(["비가 온다.", "눈이 온다."], ids=np.array([7, 8]))
    assert [type(hit.id) for hit in searcher.search("비", k=2).hits] == [int, int]
    assert (searcher.ids, json.dumps(searcher.ids)) == ([7, 8], "[7, 8]")


def test_vectors_that_exist_are_not_computed_again(bundled, texts, monkeypatch):
    vectors = bundled.encode_document(texts)
    expected = Searcher(bundled)
    expected.add(texts)
    searcher = Searcher(bundled)
    monkeypatch.setattr(bundled, "encode_document", None)
    searcher.add(texts, vectors=vectors)
    monkeypatch.undo()
    assert searcher.search(QUERY).hits == expected.search(QUERY).hits
    with pytest.raises(BadInput, match="got 1 vectors for 2 texts"):
        searcher.add(["비", "눈"], vectors=vectors[:1])
    with pytest.raises(BadInput, match="use one model for all"):
        searcher.add(["비"], vectors=vectors[:1, :8])
    assert len(searcher) == len(texts)


def test_numbers_that_are_taken_are_left_out(bundled):
    searcher = Searcher(bundled)
    searcher.add(["비가 온다."], ids=[1])
    searcher.add(["눈이 온다.", "Rain."])
    assert searcher.ids == [1, 2, 3]


def test_models_of_the_wrong_kind(bundled, cross, poly):
    for wrong in (cross, poly, "all-MiniLM-L6-v2", None):
        with pytest.raises(BadInput, match="a short list is found by vectors; pass a BiEncoder, or the documents of"):
            Searcher(wrong)
    with pytest.raises(BadInput, match="the re-ranker is a str, but must be able to rank"):
        Searcher(bundled, "cross")
    with pytest.raises(BadInput, match=r"the query is \['비', 5\], but must be a text or a list of texts"):
        Searcher(bundled).search(["비", 5])


def test_a_model_of_classes_cannot_order(bundled, tiny_classifier, texts):
    searcher = Searcher(bundled, CrossEncoder.from_pretrained(tiny_classifier("bert", 3)))
    searcher.add(texts)
    with pytest.raises(BadInput, match="rank needs a model of one label, but this has 3"):
        searcher.search(QUERY)


def test_a_name_that_does_not_exist_cannot_be_set(bundled, cross):
    with pytest.raises(AttributeError, match="reranker"):
        Searcher(bundled).reranker = cross
