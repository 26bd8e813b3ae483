"""Typical scripts for sentence-transformers run with one changed import, and give the same numbers both ways."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
THEIRS, OURS = "sentence_transformers", "sbert.adapters.sentence_transformers"

SCRIPTS = {
    "similarity of sentences": """
from {library} import SentenceTransformer
model = SentenceTransformer(bi, device="cpu")
embeddings = model.encode(sentences)
result = embeddings, model.similarity(embeddings, embeddings), model.get_embedding_dimension(), embeddings.dtype
""",
    "tensors and cosines": """
from {library} import SentenceTransformer, util
model = SentenceTransformer(bi)
model.eval()
first = model.encode(sentences[:5], convert_to_tensor=True, show_progress_bar=False)
second = model.encode(sentences[5:10], None, "", 2, convert_to_tensor=True)
result = util.cos_sim(first, second), util.dot_score(first[0], second), util.pairwise_cos_sim(first, second)
""",
    "semantic search": """
from {library} import SentenceTransformer
from {library}.util import cos_sim, dot_score, semantic_search
model = SentenceTransformer(bi)
corpus = model.encode(sentences, convert_to_tensor=True, normalize_embeddings=True)
queries = model.encode(["고양이가 어디에 있나요?", "music"], convert_to_tensor=True, normalize_embeddings=True)
result = semantic_search(queries, corpus, top_k=5), semantic_search(queries, corpus, 1, 7, 3, score_function=dot_score)
""",
    "paraphrase mining": """
from {library} import SentenceTransformer, util
model = SentenceTransformer(bi)
result = util.paraphrase_mining(model, sentences, top_k=3, max_pairs=40, batch_size=8)
""",
    "retrieve and re-rank": """
from {library} import CrossEncoder, SentenceTransformer, util
model = SentenceTransformer(bi)
model.max_seq_length = 32
hits = util.semantic_search(model.encode(sentences[3]), model.encode(sentences), top_k=6)[0]
ranker = CrossEncoder(cross, max_length=48)
scores = ranker.predict([[sentences[3], sentences[hit["corpus_id"]]] for hit in hits], batch_size=4)
result = hits, scores, ranker.max_seq_length, ranker.num_labels
""",
    "rank with a cross-encoder": """
import torch
from {library} import CrossEncoder
model = CrossEncoder(cross, activation_fn=torch.nn.Identity())
ranks = model.rank("한 남자가 기타를 치고 있다.", sentences[:9], top_k=4, return_documents=True)
single = model.predict((sentences[0], sentences[1]))
result = ranks, single, model.predict([sentences[:2]], activation_fn=torch.nn.Sigmoid(), convert_to_tensor=True)
""",
    "classify pairs": """
from {library} import CrossEncoder
model = CrossEncoder(nli)
scores = model.predict(list(zip(sentences[:6], sentences[6:12])))
result = scores, scores.argmax(axis=1), model.predict(list(zip(sentences[:6], sentences[6:12])), apply_softmax=True)
""",
    "prompts for queries and documents": """
from {library} import SentenceTransformer
model = SentenceTransformer(bi, prompts={{"query": "query: ", "passage": "문서: "}}, default_prompt_name="query")
result = (
    model.encode(sentences[:4]), model.encode_query(sentences[:4]), model.encode_document(sentences[:4]),
    model.encode(sentences[:4], prompt_name="passage"), model.encode(sentences[0], prompt="제목: "), model.prompts,
)
""",
    "fewer dimensions and bits": """
from {library} import SentenceTransformer, quantize_embeddings
model = SentenceTransformer(bi, truncate_dim=16)
E = model.encode(sentences)
with model.truncate_embeddings(8):
    small = model.encode(sentences, normalize_embeddings=True)
binary = model.encode(sentences, precision="ubinary")
sizes = model.get_embedding_dimension(), quantize_embeddings(E, "int8", calibration_embeddings=E).shape
result = E, small, binary, model.encode(sentences[:3], truncate_dim=4), sizes, quantize_embeddings(E, "binary")
""",
    "communities": """
from {library} import SentenceTransformer, util
model = SentenceTransformer(bi)
E = model.encode(sentences, convert_to_tensor=True)
result = [sorted(group) for group in util.community_detection(E, min_community_size=2, threshold=0.97)]
""",
    "several processes": """
from {library} import SentenceTransformer
model = SentenceTransformer(bi, device="cpu")
result = model.encode(sentences, pool=None, chunk_size=None, device="cpu"), model.device.type, model.dtype
""",
    "tokens of a text": """
from {library} import SentenceTransformer
model = SentenceTransformer(bi)
one = model.encode(sentences[0], output_value="token_embeddings")
several = model.encode(sentences[1:4], output_value="token_embeddings")
result = one, several, model.encode(sentences[:2], convert_to_numpy=False)
""",
    "save and load": """
from {library} import SentenceTransformer, SimilarityFunction
model = SentenceTransformer(bi, similarity_fn_name=SimilarityFunction.DOT_PRODUCT)
model.save(folder)
again = SentenceTransformer(folder)
E = again.encode(sentences[:5])
result = E, again.similarity_fn_name, again.similarity_pairwise(E, E[::-1].copy()), again.get_max_seq_length()
""",
    "distances": """
from {library} import SentenceTransformer, util
model = SentenceTransformer(bi, similarity_fn_name="euclidean")
E = model.encode(sentences[:6])
result = model.similarity(E, E[0]), util.manhattan_sim(E, E), util.normalize_embeddings(util.dot_score(E, E)), \\
    util.pairwise_dot_score(E, E), util.truncate_embeddings(E, 3)
""",
}


@pytest.fixture(scope="module")
def models(tiny_folder, tiny_classifier) -> dict[str, str]:
    return {
        "bi": str(tiny_folder("bert")),
        "cross": str(tiny_classifier("bert", 1)),
        "nli": str(tiny_classifier("bert", 3)),
    }


def run(script: str, library: str, given: dict[str, Any]) -> Any:
    names = dict(given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(script.format(library=library), names)
    return names["result"]


def assert_equal(ours: Any, theirs: Any) -> None:
    """The same types, the same keys, and equal numbers up to rounding."""
    if isinstance(theirs, np.ndarray | torch.Tensor | np.generic):
        assert type(ours) is type(theirs)
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        if str(theirs.dtype).endswith("int8"):
            assert np.mean(np.asarray(ours) != np.asarray(theirs)) < 0.01  # a value may lie on the edge of two steps
        else:
            np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-4, atol=1e-5)
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key, value in theirs.items():
            assert_equal(ours[key], value)
    elif isinstance(theirs, list | tuple):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_equal(one, other)
    else:
        assert ours == (pytest.approx(theirs, abs=1e-5) if isinstance(theirs, float) else theirs)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_gives_the_same_numbers(name, models, sentences, tmp_path: Path):
    texts = [text for text in sentences if text.strip()]
    results = {}
    for library in (THEIRS, OURS):
        given = {**models, "sentences": texts, "folder": str(tmp_path / library)}
        results[library] = run(SCRIPTS[name], library, given)
    assert_equal(results[OURS], results[THEIRS])
