"""The routes of TEI and Jina, and our own on a store: results, and errors in each dialect."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest

import sbert
from sbert.models.fingerprint import fingerprint


def floats(body):
    return np.array(body, np.float32)


def test_tei_embeds(server, bi):
    texts = ["비가 온다.", "rain", ""]
    plain = server.ask("/embed", {"inputs": texts, "normalize": False})
    assert (floats(plain.body) == bi.encode(texts)).all()
    assert plain.headers["x-compute-tokens"] == str(bi.tokenize(texts).lengths.sum())
    unit = server.ask("/embed", {"inputs": "비가 온다.", "dimensions": 16}).body
    assert (floats(unit) == bi.encode(["비가 온다."], truncate_dim=16, normalize_embeddings=True)).all()
    states = server.ask("/embed_all", {"inputs": texts}).body
    assert all((floats(a) == b).all() for a, b in zip(states, bi.encode_tokens(texts), strict=True))
    compared = server.ask("/similarity", {"inputs": {"source_sentence": "비", "sentences": texts}}).body
    assert (floats(compared) == bi.similarity(bi.encode(["비"]), bi.encode(texts))[0]).all()


def test_tei_ranks_and_classifies(server, cross, models, text_pairs):
    texts = ["비가 온다.", "해가 뜬다.", "rain"]
    for raw, output in ((False, "probability"), (True, "logit")):
        answer = server.ask("/rerank", {"query": "비", "texts": texts, "raw_scores": raw, "return_text": True}).body
        scores = cross.predict([("비", text) for text in texts], output=output)
        assert [one["index"] for one in answer] == np.argsort(-scores, kind="stable").tolist()
        assert all(scores[one["index"]] == np.float32(one["score"]) for one in answer)
        assert all(texts[one["index"]] == one["text"] for one in answer)
    classes = sbert.CrossEncoder.from_pretrained(models["classes"])
    answer = server.ask("/predict", {"inputs": [list(pair) for pair in text_pairs]}).body
    for row, probabilities in zip(answer, classes.predict_proba(text_pairs), strict=True):
        assert {one["label"]: np.float32(one["score"]) for one in row} == dict(
            zip(classes.labels, probabilities, strict=True)
        )
        assert row == sorted(row, key=lambda one: -one["score"])
    single = server.ask("/predict", {"inputs": ["비", "rain"]}).body
    assert {one["label"] for one in single} == {"모순", "함의", "중립"}


def test_tei_tokens(server, bi):
    text = "비가 온다, 고양이 hello"
    (tokens,) = server.ask("/tokenize", {"inputs": text}).body
    assert [token["id"] for token in tokens] == bi.tokenize([text]).ids.tolist()
    assert [token["special"] for token in tokens] == [True, *[False] * (len(tokens) - 2), True]
    assert all(token["special"] or text[token["start"] : token["stop"]] == token["text"] for token in tokens)
    ids = [token["id"] for token in tokens]
    (decoded,) = server.ask("/decode", {"ids": [ids]}).body
    assert unicodedata.normalize("NFC", decoded) == text  # this tokenizer takes syllables apart
    assert server.ask("/decode", {"ids": ids}).body == [decoded]


def test_tei_errors(server):
    assert server.ask("/embed", {"inputs": []}).body["error_type"] == "Empty"
    assert server.ask("/embed", {"inputs": []}).status == 400
    wrong = server.ask("/embed", {"inputs": 5})
    assert (wrong.status, wrong.body["error_type"]) == (422, "Validation")
    long = server.ask("/embed", {"inputs": "가 나 다 " * 500, "truncate": False})
    assert long.status == 422
    assert "1 of 1 texts truncated at 128 tokens" in long.body["error"]
    assert server.ask("/predict", {"inputs": "one"}).status == 422
    assert server.ask("/embed", {"inputs": ["a"] * 301}).status == 422


def test_jina_ranks_with_texts(server, cross):
    texts = ["비가 온다.", "해가 뜬다."]
    answer = server.ask("/v1/rerank", {"model": "bert-1", "query": "비", "documents": [texts[0], {"text": texts[1]}]})
    hits = cross.rank("비", texts)
    assert [(one["index"], one["relevance_score"]) for one in answer.body["results"]] == [
        (hit.id, hit.score) for hit in hits
    ]
    assert [one["document"]["text"] for one in answer.body["results"]] == [hit.text for hit in hits]
    assert "detail" in server.ask("/v1/rerank", {"model": "none", "query": "비", "documents": texts}).body


@pytest.mark.parametrize("mode", ["vector", "lexical", "hybrid"])
@pytest.mark.parametrize("filter", [None, 'lang = "ko"', {"year": {"$gte": 2023}}])
def test_search_is_that_of_the_library(server, models, store, mode, filter):
    searcher = sbert.Searcher.open(store, models["bert"])
    found = searcher.search("환불 결제", 3, mode=mode, filter=filter)
    answer = server.ask("/search", {"query": "환불 결제", "k": 3, "mode": mode, "filter": filter}).body
    assert [(hit["id"], hit["score"]) for hit in answer["hits"]] == [(hit.id, hit.score) for hit in found.hits]
    assert answer["hits"][0]["metadata"] == found.hits[0].metadata


def test_search_ranks_again_and_finds_similar_ones(server, models, store, cross):
    searcher = sbert.Searcher.open(store, models["bert"], cross)
    answer = server.ask("/search", {"query": "돈", "rerank": True}).body
    assert [(hit["id"], hit["score"]) for hit in answer["hits"]] == [
        (hit.id, hit.score) for hit in searcher.search("돈").hits
    ]
    assert answer["candidates"] == 5
    for name, path in (("refund", "refund"), (7, "7"), ("결제", "%EA%B2%B0%EC%A0%9C")):
        found = server.ask(f"/similar/{path}?k=2").body["hits"]
        assert [hit["id"] for hit in found] == [hit.id for hit in searcher.similar(name, 2).hits]
    assert server.ask("/similar/none").status == 404
    wrong = server.ask("/search", {"query": "돈", "filter": "lang ="})
    assert (wrong.status, wrong.body["error"]["type"]) == (400, "invalid_request_error")


def test_documents_come_and_go(server):
    new = {"documents": [{"id": "새 글", "text": "세금 계산서를 받고 싶어요", "metadata": {"lang": "ko"}}]}
    assert server.ask("/documents", new).body["new"] == 1
    assert server.ask("/documents", new).body["unchanged"] == 1
    path = "/documents/%EC%83%88%20%EA%B8%80"
    assert server.ask(path).body == {"id": "새 글", "text": "세금 계산서를 받고 싶어요", "metadata": {"lang": "ko"}}
    hits = server.ask("/search", {"query": "세금", "mode": "lexical"}).body["hits"]
    assert [hit["id"] for hit in hits] == ["새 글"]
    assert server.ask(path, method="DELETE").body == {"deleted": 1}
    assert server.ask(path).status == 404
    many = {"documents": [{"id": number, "text": f"글 {number}"} for number in range(100, 103)]}
    assert server.ask("/documents", many).body["embedded"] == 3
    assert server.ask("/documents", {"ids": [100, 101, 102, 999]}, "DELETE").body == {"deleted": 3}
    mixed = {"documents": [{"text": "a"}, {"text": "b", "id": 1}]}
    assert "give all of them ids" in server.ask("/documents", mixed).body["error"]["message"]


def test_a_document_with_a_huge_number_is_shown_and_found(server):
    new = {"id": "큰 수", "text": "아주 큰 수", "metadata": {"수": 10**30}}
    assert server.ask("/documents", {"documents": [new]}).body["new"] == 1
    found = server.ask("/search", {"query": "아주 큰 수", "k": 100}).body["hits"]
    assert [hit["metadata"] for hit in found if hit["id"] == "큰 수"] == [new["metadata"]]
    assert server.ask("/documents", {"ids": ["큰 수"]}, "DELETE").body == {"deleted": 1}


def test_what_the_server_tells_about_itself(server, bi):
    assert server.ask("/embed", {"inputs": "안녕"}).status == 200
    assert server.ask("/health").status == 200
    info = server.ask("/info").body
    assert info["served_model_name"] == "bert"
    assert info["model_sha"] == fingerprint(bi)
    status = server.ask("/status").body
    assert [model["kind"] for model in status["models"]] == ["bi", "poly", "cross", "cross"]
    assert status["store"]["texts"] == 5
    metrics = server.ask("/metrics").body.decode()
    assert 'te_request_count{method="/embed"}' in metrics
    assert "te_batch_next_tokens_bucket" in metrics
    assert server.ask("/nowhere").status == 404
    assert server.ask("/embed").status == 405
