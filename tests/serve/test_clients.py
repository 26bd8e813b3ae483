"""The clients of OpenAI and Cohere, as they are installed, get the results of the library, bit for bit."""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

openai = pytest.importorskip("openai", reason="openai is not installed")
cohere = pytest.importorskip("cohere", reason="cohere is not installed")
httpx = pytest.importorskip("httpx", reason="httpx is not installed")


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def ranker(server):
    with httpx.Client() as connections:
        yield cohere.ClientV2(api_key="none", base_url=server.url, httpx_client=connections)


def vectors(answer):
    return np.array([item.embedding for item in answer.data], np.float32)


@pytest.mark.parametrize("format", [openai.NOT_GIVEN, "float", "base64"])
def test_openai_embeddings_are_those_of_encode(client, bi, sentences, format):
    texts = [text for text in sentences if text]
    answer = client.embeddings.create(model="bert", input=texts, encoding_format=format)
    if format == "base64":
        found = np.stack([np.frombuffer(base64.b64decode(item.embedding), "<f4") for item in answer.data])
    else:
        found = vectors(answer)
    assert (found == bi.encode(texts, on_truncate="ignore")).all()
    assert [item.index for item in answer.data] == list(range(len(texts)))
    tokens = bi.tokenize(texts)
    assert answer.usage.prompt_tokens == tokens.lengths.sum()
    assert answer.usage.truncated_tokens == tokens.truncation.lost > 0


def test_openai_takes_one_text_dimensions_and_token_ids(client, server, bi):
    single = client.embeddings.create(model="bert", input="고양이가 잔다.")
    assert (vectors(single) == bi.encode(["고양이가 잔다."])).all()
    short = client.embeddings.create(model="bert", input=["비", "rain"], dimensions=8)
    assert (vectors(short) == bi.encode(["비", "rain"], truncate_dim=8, normalize_embeddings=True)).all()
    ids = [[token["id"] for token in one] for one in server.ask("/tokenize", {"inputs": ["비가 온다.", "rain"]}).body]
    assert (vectors(client.embeddings.create(model="bert", input=ids)) == bi.encode(["비가 온다.", "rain"])).all()
    assert (vectors(client.embeddings.create(model="bert", input=ids[0])) == bi.encode(["비가 온다."])).all()


def test_openai_models_and_errors(client):
    assert [model.id for model in client.models.list()] == ["bert", "poly", "classes", "bert-1"]
    assert client.models.retrieve("poly").id == "poly"
    with pytest.raises(openai.NotFoundError, match="there is no model 'gpt'") as found:
        client.embeddings.create(model="gpt", input="a")
    assert found.value.param == "model"
    assert found.value.request_id
    with pytest.raises(openai.BadRequestError, match="row 1 of the input is empty"):
        client.embeddings.create(model="bert", input=["a", ""])
    with pytest.raises(openai.BadRequestError, match="mixes texts and token ids"):
        client.embeddings.create(model="bert", input=["a", 3])
    with pytest.raises(openai.BadRequestError, match="token ids from 0 to 399"):
        client.embeddings.create(model="bert", input=[[5, 400]])
    with pytest.raises(openai.BadRequestError, match="the model gives 1 to 32 dimensions"):
        client.embeddings.create(model="bert", input="a", dimensions=33)
    with pytest.raises(openai.BadRequestError, match="301 input, but at most 300"):
        client.embeddings.create(model="bert", input=["a"] * 301)


@pytest.mark.parametrize("name", ["bert-1", "poly", "bert"])
def test_cohere_ranks_as_the_library_does(ranker, cross, poly, bi, sentences, name):
    answer = ranker.rerank(model=name, query="한국의 수도는?", documents=sentences, top_n=20)
    hits = {"bert-1": cross, "poly": poly, "bert": bi}[name].rank("한국의 수도는?", sentences, 20)
    assert [(found.index, found.relevance_score) for found in answer.results] == [(hit.id, hit.score) for hit in hits]
    assert answer.meta.tokens.input_tokens > 0


def test_cohere_errors(ranker):
    with pytest.raises(cohere.NotFoundError, match="there is no model 'rerank-v3'"):
        ranker.rerank(model="rerank-v3", query="a", documents=["b"])
    with pytest.raises(cohere.BadRequestError, match="has 3 labels, but ranking needs a model with one"):
        ranker.rerank(model="classes", query="a", documents=["b"])


def test_answers_do_not_depend_on_what_else_is_asked(client, bi, sentences):
    texts = [f"{text} {number}" for number, text in enumerate(sentences * 4) if text.strip()]
    parts = [texts[start : start + size] for start, size in zip(range(0, 200, 5), [1, 2, 3, 4, 5] * 8, strict=True)]
    with ThreadPoolExecutor(32) as pool:
        found = list(pool.map(lambda part: vectors(client.embeddings.create(model="bert", input=part)), parts))
    for part, answer in zip(parts, found, strict=True):
        assert (answer == bi.encode(part, on_truncate="ignore")).all()


def test_langchain_uses_the_api_of_openai(client, bi):
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from langchain_core.embeddings import Embeddings

    class Served(Embeddings):
        def embed_documents(self, texts):
            return [item.embedding for item in client.embeddings.create(model="bert", input=texts).data]

        def embed_query(self, text):
            return self.embed_documents([text])[0]

    assert (np.array(Served().embed_query("서울"), np.float32) == bi.encode("서울")).all()
