"""One contract for every host: the same bits, queries and documents apart, in threads and after pickling.

`make hosts` runs this file in an environment of its own for each host; a host that is not installed is skipped.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sbert


@dataclass(frozen=True)
class Host:
    """How the vectors of texts are asked for through an adapter."""

    module: str
    """The module of sbert.adapters."""
    package: str
    """The package that must be installed."""
    build: Callable[[Any, str], Any]
    """Builds the adapter from its module and the folder of a model."""
    documents: Callable[[Any, list[str]], Any]
    queries: Callable[[Any, list[str]], Any] | None
    """None if the host embeds queries and documents with one function."""


def of_haystack(adapter: Any, texts: list[str]) -> list[list[float]]:
    from haystack import Document

    return [document.embedding for document in adapter[0].run([Document(content=text) for text in texts])["documents"]]


def of_mteb(side: str) -> Callable[[Any, list[str]], Any]:
    def embed(adapter: Any, texts: list[str]) -> Any:
        import mteb
        from mteb.types import PromptType

        task = mteb.get_task("STSBenchmark").metadata
        return adapter.encode(
            [{"text": texts}], task_metadata=task, hf_split="test", hf_subset="default", prompt_type=PromptType(side)
        )

    return embed


def of_spacy(adapter: Any, texts: list[str]) -> list[Any]:
    import spacy

    nlp = spacy.blank("xx")  # the tokenizer for Korean needs a dictionary that is not a Python package
    return [doc.vector for doc in adapter.pipe(nlp.make_doc(text) for text in texts)]


HOSTS = {
    "scikit": Host(
        *("scikit", "sklearn"),
        lambda module, folder: [module.SentenceEncoder(folder, role=role) for role in ("document", "query")],
        lambda adapter, texts: adapter[0].transform(texts),
        lambda adapter, texts: adapter[1].transform(texts),
    ),
    "langchain": Host(
        *("langchain", "langchain_core"),
        lambda module, folder: module.SbertEmbeddings(folder),
        lambda adapter, texts: adapter.embed_documents(texts),
        lambda adapter, texts: [adapter.embed_query(text) for text in texts],
    ),
    "llamaindex": Host(
        *("llamaindex", "llama_index"),
        lambda module, folder: module.SbertEmbedding(folder),
        lambda adapter, texts: adapter.get_text_embedding_batch(texts),
        lambda adapter, texts: [adapter.get_query_embedding(text) for text in texts],
    ),
    "haystack": Host(
        *("haystack", "haystack"),
        lambda module, folder: [module.SbertDocumentEmbedder(folder), module.SbertTextEmbedder(folder)],
        of_haystack,
        lambda adapter, texts: [adapter[1].run(text)["embedding"] for text in texts],
    ),
    "keybert": Host(
        *("keybert", "keybert"),
        lambda module, folder: module.SbertEmbedder(folder),
        lambda adapter, texts: adapter.embed(texts),
        None,
    ),
    "bertopic": Host(
        *("bertopic", "bertopic"),
        lambda module, folder: module.SbertEmbedder(folder),
        lambda adapter, texts: adapter.embed_documents(texts),
        None,
    ),
    "chroma": Host(
        *("chroma", "chromadb"),
        lambda module, folder: module.SbertEmbeddingFunction(folder),
        lambda adapter, texts: adapter(texts),
        lambda adapter, texts: adapter.embed_query(texts),
    ),
    "mteb": Host(
        *("mteb", "mteb"),
        lambda module, folder: module.SbertEncoder(folder),
        of_mteb("document"),
        of_mteb("query"),
    ),
    "txtai": Host(
        *("txtai", "txtai"),
        lambda module, folder: module.SbertTransform(folder),
        lambda adapter, texts: adapter(texts),
        None,
    ),
    "spacy": Host(*("spacy", "spacy"), lambda module, folder: module.SbertPipe(folder), of_spacy, None),
    "datasets": Host(
        *("datasets", "datasets"),
        lambda module, folder: [module.SbertMap(folder, role=role) for role in ("document", "query")],
        lambda adapter, texts: adapter[0]({"text": texts})["embedding"],
        lambda adapter, texts: adapter[1]({"text": texts})["embedding"],
    ),
}


@pytest.fixture(scope="module")
def folders(tiny_folder, tmp_path_factory) -> dict[bool, Path]:
    """The folders of a model without and with prompts."""
    made = {}
    for prompts in (False, True):
        model = sbert.BiEncoder.from_pretrained(tiny_folder("bert"))
        model.prompts = {"query": "질문: ", "document": "text: "} if prompts else {}
        made[prompts] = tmp_path_factory.mktemp("contract") / "모델"
        model.save_pretrained(made[prompts])
    return made


@pytest.fixture(scope="module", params=HOSTS)
def host(request) -> Host:
    found = HOSTS[request.param]
    pytest.importorskip(found.package, reason=f"{found.package} is not installed; make hosts installs it")
    return found


@pytest.fixture(scope="module")
def adapter(host, folders) -> Any:
    return host.build(import_module(f"sbert.adapters.{host.module}"), str(folders[host.queries is not None]))


@pytest.fixture(scope="module")
def model(host, folders) -> sbert.BiEncoder:
    return sbert.BiEncoder.from_pretrained(folders[host.queries is not None])


@pytest.fixture
def texts(sentences) -> list[str]:
    return [text for text in sentences if text.strip()][10:40]


def array(vectors: Any) -> np.ndarray:
    found = np.asarray(vectors)
    as_float32 = found.astype(np.float32)
    assert (as_float32 == found).all()  # nothing is lost on the way to Python's numbers
    return as_float32


def test_the_same_bits_through_the_adapter(host, adapter, model, texts):
    expected = model.encode_document(texts)
    np.testing.assert_array_equal(array(host.documents(adapter, texts)), expected)
    np.testing.assert_array_equal(array(host.documents(adapter, texts[3:4])), expected[3:4])


def test_queries_and_documents_are_kept_apart(host, adapter, model, texts):
    if host.queries is None:
        pytest.skip("this host embeds queries and documents with one function")
    expected = model.encode_query(texts)
    np.testing.assert_array_equal(array(host.queries(adapter, texts)), expected)
    assert not (expected == model.encode_document(texts)).all()


def test_several_threads(host, adapter, model, texts):
    expected = model.encode_document(texts)
    parts = [range(start, len(texts), 4) for start in range(4)]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda rows: array(host.documents(adapter, [texts[row] for row in rows])), parts))
    for rows, result in zip(parts, results, strict=True):
        np.testing.assert_array_equal(result, expected[list(rows)])


def test_a_copy_by_pickle(host, adapter, model, texts):
    copy = pickle.loads(pickle.dumps(adapter))
    np.testing.assert_array_equal(array(host.documents(copy, texts)), model.encode_document(texts))


def test_another_kind_of_model_is_refused(host, tiny_classifier):
    module = import_module(f"sbert.adapters.{host.module}")
    with pytest.raises(ValueError, match="CrossEncoder"):
        host.documents(host.build(module, str(tiny_classifier("bert", 1))), ["a"])
