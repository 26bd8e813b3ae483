"""Retrieval, re-ranking and mining against sentence-transformers' own, on the same model and the same texts."""

from __future__ import annotations

import numpy as np
import pytest
from sentence_transformers.cross_encoder.evaluation import CrossEncoderRerankingEvaluator
from sentence_transformers.sentence_transformer.evaluation import (
    InformationRetrievalEvaluator,
    ParaphraseMiningEvaluator,
    RerankingEvaluator,
)
from sentence_transformers.util import dot_score

from sbert.errors import BadInput
from sbert.evaluate import ParaphraseMining, Rerank, Retrieval, Sample, primary_metric


def times_100(expected):
    return {
        name: pytest.approx(value if name == "threshold" else 100 * value, abs=2e-3)
        for name, value in expected.items()
    }


@pytest.fixture
def library(sentences):
    """Twelve queries, 48 documents, one to five of them relevant to a query, at random."""
    rng = np.random.default_rng(0)
    queries = {f"q{number}": text for number, text in enumerate(sentences[:12])}
    corpus = {f"d{number}": text for number, text in enumerate(sentences[12:])}
    relevant = {query: set(rng.choice(list(corpus), rng.integers(1, 6), replace=False).tolist()) for query in queries}
    return queries, corpus, relevant


@pytest.fixture
def samples(sentences):
    rng = np.random.default_rng(1)
    texts = [text for text in sentences if text.strip()]
    return [
        {"query": texts[number], "positive": list(chosen[: 1 + number % 3]), "negative": list(chosen[4:])}
        for number in range(8)
        for chosen in [[texts[place] for place in rng.choice(np.arange(8, len(texts)), 20, replace=False)]]
    ]


@pytest.mark.parametrize("kind", ["encoders", "prompted"])
def test_retrieval_as_sentence_transformers(kind, request, library):
    ours, theirs = request.getfixturevalue(kind)
    evaluator = Retrieval(*library)
    found = evaluator(ours)
    assert found == times_100(InformationRetrievalEvaluator(*library)(theirs))
    assert next(iter(found)) == primary_metric(evaluator, ours) == "cosine_ndcg@10"
    assert 0 < found["cosine_ndcg@10"] < 100


def test_prompts_are_used(encoders, prompted, library):
    assert Retrieval(*library)(encoders[0]) != Retrieval(*library)(prompted[0])


def test_retrieval_by_another_measure(encoders, library):
    ours, theirs = encoders
    evaluator = Retrieval(*library, similarity="dot")
    expected = InformationRetrievalEvaluator(*library, score_functions={"dot": dot_score})(theirs)
    assert evaluator(ours) == times_100(expected)
    assert evaluator.primary_metric == "dot_ndcg@10"


def test_retrieval_with_grades_by_hand(fixed):
    corpus = {"b": "비", "a": "소나기", "c": "cat", "d": "소나기"}
    model = fixed({"rain?": [1, 0], "dry?": [0, -1], "비": [1, 0], "소나기": [1, 1], "cat": [0, 1]})
    relevant = {"q": {"a": 2, "b": 1, "c": 0}, "unjudged": {}}
    evaluator = Retrieval({"q": "rain?", "unjudged": "dry?", "unnamed": "dry?"}, corpus, relevant)
    # Found: b, then the equals a and d by their ids, then c. Gains 1 + 2 / log2(3) of 2 + 1 / log2(3).
    found = evaluator(model)
    assert found["cosine_ndcg@10"] == pytest.approx(100 * (1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3)))
    assert (found["cosine_recall@1"], found["cosine_precision@3"]) == pytest.approx((50, 200 / 3))
    assert (found["cosine_map@100"], found["cosine_accuracy@1"]) == pytest.approx((100, 100))
    assert model.asked == [["rain?"], ["소나기", "비", "cat"]]  # each text once, queries without answers not at all
    # The order of the mapping decides nothing: of the equals a and d, a comes second either way.
    for given in (corpus, dict(reversed(corpus.items()))):
        assert Retrieval({"q": "rain?"}, given, {"q": {"a"}})(model)["cosine_mrr@10"] == 50


def test_rerank_as_sentence_transformers(encoders, prompted, samples):
    evaluator = Rerank(Sample(**sample) for sample in samples)
    for ours, theirs in (encoders, prompted):
        found = evaluator(ours)
        assert found == times_100(RerankingEvaluator(samples)(theirs))
        assert next(iter(found)) == primary_metric(evaluator, ours) == "ndcg@10"


def test_rerank_by_a_scorer_as_sentence_transformers(cross_encoders, samples):
    ours, theirs = cross_encoders(1)
    assert Rerank(Sample(**sample) for sample in samples)(ours) == times_100(
        CrossEncoderRerankingEvaluator(samples)(theirs)
    )


def test_rerank_what_a_first_search_found_as_sentence_transformers(cross_encoders, samples):
    ours, theirs = cross_encoders(1)
    searched = [
        {
            "query": sample["query"],
            "positive": sample["positive"],
            # In turn: nothing found, the first positive in third place, all positives at the end.
            "documents": sample["negative"][:2] + sample["positive"][: number % 3] + sample["negative"][2:8],
        }
        for number, sample in enumerate(samples)
    ]
    found = Rerank(Sample(**sample) for sample in searched)(ours)
    assert found == times_100(CrossEncoderRerankingEvaluator(searched)(theirs))
    assert 0 < found["base_mrr@10"] < 100


def test_rerank_by_hand(scored):
    # Places 2 (after a negative), and a tie with a negative: MRR counts it against the model, the others halve it.
    model = scored(
        {("비?", "비"): 0.5, ("비?", "눈"): 0.7, ("비?", "cat"): 0.1, ("눈?", "눈"): 0.5, ("눈?", "비"): 0.5}
    )
    evaluator = Rerank([Sample("비?", "비", ["눈", "cat"]), Sample("눈?", ["눈"], "비")])
    found, second = evaluator(model), 1 / np.log2(3)
    assert found["mrr@10"] == pytest.approx(50)
    assert found["map"] == pytest.approx(50)
    assert found["ndcg@10"] == pytest.approx(100 * (second + (1 + second) / 2) / 2)
    assert evaluator.predictions(model) == pytest.approx([100 * second, 50 * (1 + second)])
    assert len(model.asked[0]) == 5


def test_mining_as_sentence_transformers(encoders, sentences):
    ours, theirs = encoders
    texts = {f"s{number}": text for number, text in enumerate(dict.fromkeys(sentences))}
    rng = np.random.default_rng(2)
    pairs = [tuple(rng.choice(list(texts), 2, replace=False).tolist()) for _ in range(40)]
    evaluator = ParaphraseMining(texts, [*pairs, pairs[0][::-1]])  # named twice, counted once
    found = evaluator(ours)
    assert found == times_100(ParaphraseMiningEvaluator(texts, pairs)(theirs))
    assert next(iter(found)) == primary_metric(evaluator, ours) == "average_precision"


def test_mining_by_hand(fixed):
    model = fixed({"비": [1, 0], "소나기": [4, 1], "cat": [0, 1], "고양이": [1, 4]})
    texts = {1: "비", 2: "소나기", 3: "cat", 4: "고양이"}
    # Cosines 0.97 twice, 0.47, 0.24 twice, 0; of the two best one is right, of three two.
    found = ParaphraseMining(texts, [(2, 1), (2, 4)])(model)
    assert found["average_precision"] == pytest.approx(100 * (1 / 2 + 2 / 3) / 2)
    assert (found["recall"], found["precision"], found["f1"]) == pytest.approx((100, 200 / 3, 80))
    assert found["threshold"] == pytest.approx((8 / 17 + 1 / 17**0.5) / 2)
    assert ParaphraseMining({1: "비", 2: "소나기"}, [(1, 2)])(model)["average_precision"] == 100  # no other pair


def test_predictions_make_the_first_figure(encoders, cross_encoders, library, samples):
    rerank = Rerank(Sample(**sample) for sample in samples)
    for model, evaluator in [
        (encoders[0], Retrieval(*library)),
        (encoders[0], rerank),
        (cross_encoders(1)[0], rerank),
    ]:
        figure = evaluator(model)[primary_metric(evaluator, model)]
        assert evaluator.metric(evaluator.predictions(model), evaluator.gold) == pytest.approx(figure)


def test_repr_knows_the_data():
    corpus = {"d": "비", "e": "눈"}
    different = [
        Retrieval({"q": "하나"}, corpus, {"q": {"d"}}),
        Retrieval({"q": "하나"}, corpus, {"q": {"e"}}),
        Retrieval({"q": "하나"}, corpus, {"q": {"d": 2}}),
        Retrieval({"q": "둘"}, corpus, {"q": {"d"}}),
        Retrieval({"q": "하나"}, corpus, {"q": {"d"}}, similarity="dot"),
        Rerank([Sample("하나", ["비"], ["눈", "해"])]),
        Rerank([Sample("하나", ["비", "눈"], ["해"])]),
        Rerank([Sample("하나", ["비"], documents=["눈", "해"])]),
        Rerank([Sample("하나", ["비"], documents=["해", "눈"])]),
        ParaphraseMining({1: "비", 2: "눈", 3: "해"}, [(1, 2)]),
        ParaphraseMining({1: "비", 2: "눈", 3: "해"}, [(1, 3)]),
    ]
    assert len({repr(evaluator) for evaluator in different}) == len(different)
    assert repr(Retrieval({"q": "하나"}, corpus, {"q": ["d", "e"]})) == repr(
        Retrieval({"q": "하나"}, dict(reversed(corpus.items())), {"q": {"e": 1, "d": 1}})
    )
    assert repr(different[0]).startswith("Retrieval(1 queries, 2 documents, checksum ")


def test_refused(scored):
    with pytest.raises(BadInput, match="documents are named for query 'r', but there is no such query"):
        Retrieval({"q": "하나"}, {"d": "비"}, {"r": {"d"}})
    with pytest.raises(BadInput, match="document 'e' of query 'q' is not in the corpus"):
        Retrieval({"q": "하나"}, {"d": "비"}, {"q": {"e"}})
    with pytest.raises(BadInput, match="none of the 1 queries has a relevant document"):
        Retrieval({"q": "하나"}, {"d": "비"}, {"q": {"d": 0}})
    with pytest.raises(BadInput, match=r"similarity is 'cosin', but must be one of .* did you mean 'cosine'"):
        Retrieval({"q": "하나"}, {"d": "비"}, {"q": {"d"}}, similarity="cosin")
    with pytest.raises(BadInput, match="got a Scored, which embeds no texts"):
        Retrieval({"q": "하나"}, {"d": "비"}, {"q": {"d"}})(scored({}))
    with pytest.raises(BadInput, match="got no samples"):
        Rerank([])
    with pytest.raises(BadInput, match="sample 1 has 0 positive, 1 negative texts and 0 documents, but needs"):
        Rerank([Sample("하나", "비", "눈"), Sample("둘", [], "눈")])
    with pytest.raises(BadInput, match="sample 0 has 1 positive, 1 negative texts and 1 documents, but needs"):
        Rerank([Sample("하나", "비", "눈", ["눈"])])
    with pytest.raises(BadInput, match="needs a positive and another one"):
        Rerank([Sample("하나", "비", "비")])
    with pytest.raises(BadInput, match="some samples have documents and some have not"):
        Rerank([Sample("하나", "비", "눈"), Sample("하나", "비", documents=["눈"])])
    with pytest.raises(BadInput, match=r"the duplicates \(1, 9\) name 9, but no sentence has that id"):
        ParaphraseMining({1: "비", 2: "눈"}, [(1, 9)])
    with pytest.raises(BadInput, match="are one sentence, but must be two"):
        ParaphraseMining({1: "비", 2: "눈"}, [(1, 1)])
    with pytest.raises(BadInput, match="no two of the 2 sentences are duplicates"):
        ParaphraseMining({1: "비", 2: "눈"}, [])
