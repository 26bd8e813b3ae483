"""The adapters inside their hosts: each real package does with them what its users do."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sbert

TEXTS = [
    "A man is playing a guitar.",
    "고양이가 따뜻한 돌담 위에 앉아 있다.",
    "The stock market fell sharply.",
    "한 남자가 기타를 치고 있다.",
]


def host(package: str, adapter: str) -> Any:
    pytest.importorskip(package, reason=f"{package} is not installed; make hosts installs it")
    return import_module(f"sbert.adapters.{adapter}")


@pytest.fixture(scope="module")
def cross(tiny_classifier) -> sbert.CrossEncoder:
    return sbert.CrossEncoder.from_pretrained(tiny_classifier("bert", 1))


def best(model: sbert.BiEncoder, query: str) -> int:
    return int(model.similarity(model.encode_query([query]), model.encode_document(TEXTS))[0].argmax())


def test_langchain_finds_filters_and_reranks(bundled, cross, tmp_path: Path):
    adapter = host("langchain_core", "langchain")
    store = adapter.SbertStore(sbert.Searcher.open(tmp_path / "texts.db", bundled))
    metadata = [{"lang": "ko" if "다" in text else "en"} for text in TEXTS]
    ids = store.add_texts(TEXTS, metadata, ids=["a", "b", "c", "d"])
    assert ids == ["a", "b", "c", "d"]
    found = store.as_retriever(search_kwargs={"k": 2}).invoke("Someone makes music with a guitar.")
    assert found[0].page_content == TEXTS[0]
    only = store.similarity_search("guitar", k=4, filter='lang = "ko"')
    assert {document.id for document in only} == {"b", "d"}
    assert only[0].metadata["lang"] == "ko"
    ranked = adapter.SbertReranker(model=cross, top_n=2).compress_documents(found, "music")
    scores = cross.predict([("music", document.page_content) for document in found])
    assert [document.metadata["relevance_score"] for document in ranked] == sorted(scores.tolist(), reverse=True)
    pairs = [("a", "b"), ("비", "눈")]
    assert adapter.SbertCrossEncoder(cross).score(pairs) == cross.predict(pairs).tolist()
    assert store.delete(["a"]) is True
    assert store.similarity_search("guitar", k=1)[0].id != "a"
    small = adapter.SbertStore.from_texts(TEXTS, adapter.SbertEmbeddings(bundled))
    assert small.similarity_search("guitar music", k=1)[0].page_content == TEXTS[0]


def test_llamaindex_retrieves_and_reranks(bundled, cross):
    adapter = host("llama_index", "llamaindex")
    from llama_index.core import VectorStoreIndex
    from llama_index.core.schema import TextNode

    index = VectorStoreIndex([TextNode(text=text) for text in TEXTS], embed_model=adapter.SbertEmbedding(bundled))
    nodes = index.as_retriever(similarity_top_k=3).retrieve("Someone makes music with a guitar.")
    assert nodes[0].node.text == TEXTS[best(bundled, "Someone makes music with a guitar.")]
    ranked = adapter.SbertRerank(model=cross, top_n=2).postprocess_nodes(nodes, query_str="music")
    scores = cross.predict([("music", node.node.text) for node in nodes])
    assert [node.score for node in ranked] == sorted(scores.tolist(), reverse=True)[:2]
    with pytest.raises(ValueError, match="got no query"):
        adapter.SbertRerank(model=cross).postprocess_nodes(nodes)


def test_haystack_runs_a_pipeline_from_its_file(tiny_folder, tiny_classifier):
    adapter = host("haystack", "haystack")
    from haystack import Document, Pipeline
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    folder = str(tiny_folder("bert"))
    documents = [Document(content=text, meta={"title": "제목"}) for text in TEXTS]
    embedder = adapter.SbertDocumentEmbedder(folder, prefix="<", meta_fields_to_embed=["title"])
    embedded = embedder.run(documents)["documents"]
    assert all(document.embedding is None for document in documents)  # the documents of the caller are not changed
    expected = sbert.BiEncoder.from_pretrained(folder).encode([f"<제목\n{text}" for text in TEXTS])
    np.testing.assert_array_equal(np.array([document.embedding for document in embedded], np.float32), expected)
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(embedded)
    pipeline = Pipeline()
    pipeline.add_component("embed", adapter.SbertTextEmbedder(folder))
    pipeline.add_component("retrieve", InMemoryEmbeddingRetriever(store, top_k=3))
    pipeline.add_component("rank", adapter.SbertRanker(str(tiny_classifier("bert", 1)), top_k=2))
    pipeline.connect("embed.embedding", "retrieve.query_embedding")
    pipeline.connect("retrieve.documents", "rank.documents")
    result = pipeline.run({"embed": {"text": "guitar"}, "rank": {"query": "guitar"}})["rank"]["documents"]
    assert len(result) == 2
    assert result[0].score >= result[1].score
    assert (
        type(embedder).from_dict(embedder.to_dict()).run(documents)["documents"][0].embedding == embedded[0].embedding
    )
    assert "sbert.adapters.haystack.SbertRanker" in pipeline.dumps()


def test_keybert_uses_the_model_and_refuses_a_bare_one(bundled):
    adapter = host("keybert", "keybert")
    from keybert import KeyBERT

    text = "The guitar player tuned the guitar before the concert in Berlin."
    found = KeyBERT(model=adapter.SbertEmbedder(bundled)).extract_keywords(text, top_n=3)
    words = [word for word, _ in found]
    expected = bundled.similarity(bundled.encode([text]), bundled.encode(words))[0]
    np.testing.assert_allclose([score for _, score in found], expected, atol=1e-3)
    with pytest.raises(ValueError, match="correct SentenceTransformers model"):
        KeyBERT(model=bundled)


@pytest.mark.filterwarnings("ignore:Importing from .sentence_transformers.models. is deprecated:DeprecationWarning")
def test_bertopic_uses_the_model_and_refuses_a_bare_one(bundled):
    adapter = host("bertopic", "bertopic")
    from bertopic import BERTopic
    from bertopic.dimensionality import BaseDimensionalityReduction
    from sklearn.cluster import KMeans

    texts = [f"{text} {number}" for number in range(6) for text in TEXTS]
    settings = {"umap_model": BaseDimensionalityReduction(), "hdbscan_model": KMeans(3, random_state=0, n_init=1)}
    model = BERTopic(embedding_model=adapter.SbertEmbedder(bundled), **settings)
    topics, _ = model.fit_transform(texts)
    assert len(set(topics)) == 3
    assert topics[0] == topics[4]
    assert model.embedding_model.embedding_model is bundled
    with pytest.raises(ValueError, match="correct SentenceTransformers model"):
        BERTopic(embedding_model=bundled, **settings).fit(texts)


def test_chroma_finds_and_reopens(tiny_folder, tmp_path):
    adapter = host("chromadb", "chroma")
    import chromadb
    from chromadb.config import Settings

    folder, settings = str(tiny_folder("bert")), Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(tmp_path / "chroma"), settings=settings)
    function = adapter.SbertEmbeddingFunction(folder)
    collection = client.create_collection("texts", embedding_function=function)
    collection.add(ids=list("abcd"), documents=TEXTS)
    again = client.get_collection("texts")  # the function is built again from what the collection stores
    found = again.query(query_texts=[TEXTS[2]], n_results=1)
    assert found["ids"] == [["c"]]
    stored = again.get(ids=["b"], include=["embeddings"])["embeddings"][0]
    expected = sbert.BiEncoder.from_pretrained(folder).encode(TEXTS[1])
    np.testing.assert_allclose(stored, expected, rtol=1e-6)  # Chroma normalises vectors and scales them back
    with pytest.raises(ValueError, match="make a new collection"):
        function.validate_config_update({"model": folder}, {"model": "other"})


def test_datasets_map_adds_a_column_of_fixed_length(bundled):
    adapter = host("datasets", "datasets")
    from datasets import Dataset

    dataset = Dataset.from_dict({"text": TEXTS})
    encode = adapter.SbertMap(bundled)
    mapped = dataset.map(encode, batched=True, batch_size=2, features=encode.features(dataset))
    np.testing.assert_array_equal(np.array(mapped["embedding"], np.float32), bundled.encode(TEXTS))
    assert mapped.features["embedding"].length == 384
    with pytest.raises(ValueError, match="there is no column text"):
        encode({"sentence": TEXTS})


def test_mteb_runs_a_task_of_its_own(bundled):
    adapter = host("mteb", "mteb")
    import mteb
    from datasets import Dataset, DatasetDict

    model = adapter.SbertEncoder(bundled, name="sbert/minilm")
    assert (model.mteb_model_meta.name, model.mteb_model_meta.embed_dim) == ("sbert/minilm", 384)
    task = mteb.get_task("STSBenchmark")
    rows = {"sentence1": TEXTS, "sentence2": [TEXTS[0], TEXTS[3], TEXTS[2], TEXTS[1]], "score": [5.0, 1.0, 5.0, 0.5]}
    task.dataset = DatasetDict({split: Dataset.from_dict(rows) for split in task.metadata.eval_splits})
    task.data_loaded = True
    scores = task.evaluate(model, split="test", encode_kwargs={})["default"]
    sides = bundled.encode(rows["sentence1"]), bundled.encode(rows["sentence2"])
    got = bundled.similarity_pairwise(*sides)
    assert scores["cosine_pearson"] == pytest.approx(np.corrcoef(got, rows["score"])[0, 1], abs=1e-4)


def test_txtai_searches_and_refuses_two_prompts(bundled, tiny_folder):
    adapter = host("txtai", "txtai")
    from txtai import Embeddings

    index = Embeddings(adapter.SbertTransform(bundled).settings(backend="numpy"))
    index.index(TEXTS)
    (place, score), *_ = index.search("Someone makes music with a guitar.", 2)
    assert place == best(bundled, "Someone makes music with a guitar.")
    assert score == pytest.approx(
        float(bundled.similarity(*bundled.encode(["Someone makes music with a guitar.", TEXTS[place]]))[0, 0]),
        abs=1e-5,
    )
    model = sbert.BiEncoder.from_pretrained(tiny_folder("bert"))
    model.prompts = {"query": "질문: ", "document": ""}
    with pytest.raises(ValueError, match="different prompts"):
        adapter.SbertTransform(model)


def test_spacy_sets_vectors_and_similarities(tiny_folder):
    host("spacy", "spacy")
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sbert", config={"model": str(tiny_folder("bert"))})
    first, second = nlp.pipe([TEXTS[0], TEXTS[1]])
    model = sbert.BiEncoder.from_pretrained(tiny_folder("bert"))
    vectors = model.encode(TEXTS[:2])
    np.testing.assert_array_equal(first.vector, vectors[0])
    assert first.similarity(second) == pytest.approx(float(model.similarity(vectors[0], vectors[1])[0, 0]))
    np.testing.assert_array_equal(first[:3].vector, model.encode(first[:3].text))
