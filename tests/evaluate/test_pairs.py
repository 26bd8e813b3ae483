"""Evaluators of pairs and triplets against sentence-transformers' own, on the same model and the same texts."""

from __future__ import annotations

import numpy as np
import pytest
from sentence_transformers.cross_encoder.evaluation import (
    CrossEncoderClassificationEvaluator,
    CrossEncoderCorrelationEvaluator,
)
from sentence_transformers.sentence_transformer.evaluation import (
    BinaryClassificationEvaluator,
    EmbeddingSimilarityEvaluator,
    TripletEvaluator,
)

from sbert.errors import BadInput
from sbert.evaluate import BinaryPairs, PairClassification, Similarity, Triplets, primary_metric

MEASURES = ["cosine", "dot", "euclidean", "manhattan"]


def times_100(expected):
    """Their figures on our scale: all but thresholds."""
    return {
        name: pytest.approx(value if name.endswith("threshold") else 100 * value, abs=2e-3)
        for name, value in expected.items()
        if "max" not in name.split("_")
    }


def gold_scores(count):
    return np.random.default_rng(0).uniform(0, 5, count).round(1).tolist()


def test_similarity_as_sentence_transformers(encoders, sentences):
    ours, theirs = encoders
    first, second, gold = sentences[:30], sentences[30:60], gold_scores(30)
    evaluator = Similarity(first, second, gold)
    found = evaluator(ours)
    assert found == times_100(EmbeddingSimilarityEvaluator(first, second, gold, similarity_fn_names=MEASURES)(theirs))
    assert len({round(value, 6) for value in found.values()}) == 8  # the measures do differ here
    assert next(iter(found)) == primary_metric(evaluator, ours) == "spearman_cosine"


def test_similarity_of_a_scorer_as_sentence_transformers(cross_encoders, sentences):
    ours, theirs = cross_encoders(1)
    first, second, gold = sentences[:30], sentences[30:60], gold_scores(30)
    evaluator = Similarity(first, second, gold)
    pairs = list(zip(first, second, strict=True))
    assert evaluator(ours) == times_100(CrossEncoderCorrelationEvaluator(pairs, gold, show_progress_bar=False)(theirs))
    assert next(iter(evaluator(ours))) == primary_metric(evaluator, ours) == "spearman"


def test_binary_pairs_as_sentence_transformers(encoders, sentences):
    ours, theirs = encoders
    first, second = sentences[:30], sentences[30:60]
    labels = np.random.default_rng(1).integers(0, 2, 30).tolist()
    evaluator = BinaryPairs(first, second, labels)
    found = evaluator(ours)
    expected = BinaryClassificationEvaluator(first, second, labels, similarity_fn_names=MEASURES)(theirs)
    assert found == times_100(expected)
    assert next(iter(found)) == primary_metric(evaluator, ours) == "cosine_ap"
    assert found["euclidean_f1_threshold"] > 0  # a distance


def test_binary_pairs_of_a_scorer_as_sentence_transformers(cross_encoders, sentences):
    ours, theirs = cross_encoders(1)
    pairs = list(zip(sentences[:30], sentences[30:60], strict=True))
    labels = np.random.default_rng(1).integers(0, 2, 30).tolist()
    evaluator = BinaryPairs(*zip(*pairs, strict=True), labels)
    found = evaluator(ours)
    expected = CrossEncoderClassificationEvaluator(pairs, labels, show_progress_bar=False)(theirs)
    assert {name: value for name, value in found.items() if name != "mcc"} == times_100(expected)
    assert next(iter(found)) == primary_metric(evaluator, ours) == "average_precision"


def test_pair_classification_as_sentence_transformers(cross_encoders, sentences):
    ours, theirs = cross_encoders(3)
    pairs = list(zip(sentences[:30], sentences[30:60], strict=True))
    numbers = np.random.default_rng(2).integers(0, 3, 30).tolist()
    expected = CrossEncoderClassificationEvaluator(pairs, numbers, show_progress_bar=False)(theirs)
    columns = list(zip(*pairs, strict=True))
    by_number = PairClassification(*columns, numbers)
    found = by_number(ours)
    assert found["f1_macro"] == pytest.approx(100 * expected["f1_macro"])
    assert found["accuracy"] == pytest.approx(100 * expected["f1_micro"])
    names = [ours.labels[number] for number in numbers]
    by_name = PairClassification(*columns, names)
    assert by_name(ours) == found
    assert by_name.predictions(ours).tolist() == [ours.labels[number] for number in by_number.predictions(ours)]
    weights = {name: names.count(name) / 30 for name in set(names)}
    weighted = sum(weight * found[f"f1_{name}"] for name, weight in weights.items())
    assert weighted == pytest.approx(100 * expected["f1_weighted"])


def test_triplets_as_sentence_transformers(encoders, sentences):
    ours, theirs = encoders
    texts = [text for text in sentences if len(text) > 3]
    columns = texts[:16], texts[16:32], texts[32:48]
    evaluator = Triplets(*columns)
    found = evaluator(ours)
    assert found == times_100(TripletEvaluator(*columns, similarity_fn_names=MEASURES)(theirs))
    assert all(0 < value < 100 for value in found.values())  # some right, some wrong
    assert next(iter(found)) == primary_metric(evaluator, ours) == "euclidean_accuracy"


def test_by_hand(fixed, scored):
    model = fixed({"비": [1, 0], "소나기": [2, 0], "cat": [0, 1], "고양이": [1, 1], "dog": [-1, 0], "nil": [0, 0]})
    # Cosines 1, 0.707, -1 and 0 against gold that orders them otherwise in one place.
    pairs = ["비", "cat", "비", "nil"], ["소나기", "고양이", "dog", "cat"]
    evaluator = Similarity(*pairs, gold=[4, 5, 1, 2])
    assert evaluator(model)["spearman_cosine"] == pytest.approx(80.0)  # 1 - 6 * 2 / (4 * 15)
    assert evaluator.predictions(model) == pytest.approx([1, 0.5**0.5, -1, 0])
    scores = dict(zip(zip(*pairs, strict=True), [4.0, 5.0, 1.0, 2.0], strict=True))
    assert evaluator(scored(scores)) == {"spearman": pytest.approx(100), "pearson": pytest.approx(100)}
    # By angle the first positive would be nearer too, by distance it is not; and equally far is not nearer.
    triplets = Triplets(["비", "비", "비"], ["고양이", "소나기", "nil"], ["dog", "고양이", "소나기"])
    assert triplets(model)["euclidean_accuracy"] == pytest.approx(100 / 3)
    assert triplets.predictions(model).tolist() == [True, False, False]
    assert triplets(model)["cosine_accuracy"] == pytest.approx(200 / 3)


def test_every_text_and_pair_once(fixed, scored):
    model = fixed({"비": [1, 0], "눈": [0, 1], "cat": [1, 1]})
    Similarity(["비", "비", "눈"], ["눈", "cat", "비"], [1, 2, 3])(model)
    Triplets(["비", "비"], ["비", "cat"], ["눈", "눈"])(model)
    assert model.asked == [["비", "눈", "cat"], ["비", "cat", "눈"]]
    scorer = scored({("비", "눈"): 1, ("눈", "비"): 2})
    Similarity(["비", "눈", "비"], ["눈", "비", "눈"], [1, 2, 3])(scorer)
    assert scorer.asked == [[("비", "눈"), ("눈", "비")]]


def test_a_collapsed_model_is_a_poor_result_not_an_error(fixed):
    model = fixed({"비": [1, 1], "눈": [1, 1], "cat": [1, 1]})
    columns = ["비", "비", "눈"], ["눈", "cat", "cat"]
    assert np.isnan(list(Similarity(*columns, [1, 2, 3])(model).values())).all()
    found = BinaryPairs(*columns, [1, 0, 0])(model)
    assert (found["cosine_ap"], found["cosine_accuracy"]) == pytest.approx((100 / 3, 200 / 3))
    assert Triplets(["비"], ["눈"], ["cat"])(model)["cosine_accuracy"] == 0


def test_predictions_make_the_first_figure(encoders, cross_encoders, sentences):
    columns = sentences[:20], sentences[20:40]
    labels = [0, 1] * 10
    for model, evaluators in [
        (encoders[0], [Similarity(*columns, gold_scores(20)), BinaryPairs(*columns, labels)]),
        (cross_encoders(1)[0], [Similarity(*columns, gold_scores(20)), BinaryPairs(*columns, labels)]),
        (encoders[0], [Triplets(*columns, sentences[40:60])]),
        (cross_encoders(3)[0], [PairClassification(*columns, labels)]),
    ]:
        for evaluator in evaluators:
            figure = evaluator(model)[primary_metric(evaluator, model)]
            assert evaluator.metric(evaluator.predictions(model), evaluator.gold) == pytest.approx(figure)


def test_repr_knows_the_data():
    assert repr(Similarity(["하나", "둘"], ["셋", "넷"], [1, 2])) == repr(
        Similarity(("하나", "둘"), ["셋", "넷"], [1.0, 2])
    )
    different = {
        repr(evaluator)
        for evaluator in [
            Similarity(["하나", "둘"], ["셋", "넷"], [1, 2]),
            Similarity(["하나", "둘"], ["셋", "넷"], [1, 3]),
            Similarity(["하나", "둘"], ["셋", "다섯"], [1, 2]),
            BinaryPairs(["하나", "둘"], ["셋", "넷"], [1, 0]),
            BinaryPairs(["하나", "둘"], ["셋", "넷"], [0, 1]),
            PairClassification(["하나", "둘"], ["셋", "넷"], ["가", "나"]),
            PairClassification(["하나", "둘"], ["셋", "넷"], ["가", "가"]),
            Triplets(["하나"], ["둘"], ["셋"]),
            Triplets(["하나"], ["셋"], ["둘"]),
        ]
    }
    assert len(different) == 9
    assert repr(Triplets(["하나"], ["둘"], ["셋"])).startswith("Triplets(1 triplets, checksum ")


def test_refused(fixed, scored):
    with pytest.raises(BadInput, match="got 2 first texts, 1 second texts and 2 scores, but there must be equally"):
        Similarity(["하나", "둘"], ["셋"], [1, 2])
    with pytest.raises(BadInput, match="at least two"):
        Similarity(["비"], ["눈"], [1])
    with pytest.raises(BadInput, match="all 2 gold scores are equal"):
        Similarity(["비", "눈"], ["눈", "비"], [1, 1])
    with pytest.raises(BadInput, match="gold score 1 is not a number"):
        Similarity(["비", "눈"], ["눈", "비"], [1, np.nan])
    with pytest.raises(BadInput, match="got 1 anchors, 1 positives and 2 negatives"):
        Triplets(["하나"], ["둘"], ["셋", "넷"])
    with pytest.raises(BadInput, match="at least one"):
        Triplets([], [], [])
    with pytest.raises(BadInput, match="the labels are 1, but there must be some of 1, for positives, and some of 0"):
        BinaryPairs(["비", "눈"], ["눈", "비"], [1, 1])
    with pytest.raises(BadInput, match="the labels are 0, 2, but"):
        BinaryPairs(["비", "눈"], ["눈", "비"], [0, 2])
    with pytest.raises(BadInput, match="the labels are float64 values, but must be names or whole numbers"):
        PairClassification(["비"], ["눈"], [0.5])


def test_models_of_the_wrong_kind(fixed, scored):
    pairs = ["비", "눈"], ["눈", "비"]
    three = scored({("비", "눈"): [1, 0, 0], ("눈", "비"): [0, 1, 0]}, ["모순", "함의", "중립"])
    with pytest.raises(BadInput, match="the model gives 3 scores a pair, but one is needed"):
        Similarity(*pairs, [1, 2])(three)
    with pytest.raises(BadInput, match="a pair has the label '함이', but the model knows '모순', '함의', '중립'"):
        PairClassification(*pairs, ["함의", "함이"])(three)
    with pytest.raises(BadInput, match="a pair has the label 3, but the model knows 0, 1, 2"):
        PairClassification(*pairs, [3, 0])(three)
    with pytest.raises(BadInput, match="the model has one label, but classes are told apart"):
        PairClassification(*pairs, [0, 1])(scored({("비", "눈"): 1, ("눈", "비"): 0}))
    with pytest.raises(BadInput, match="got a Scored, which embeds no texts"):
        Triplets(["비"], ["눈"], ["눈"])(three)
    with pytest.raises(BadInput, match="got a str, which embeds no texts"):
        Similarity(*pairs, [1, 2])("all-MiniLM-L6-v2")
    with pytest.raises(BadInput, match="got a Fixed, which has no predict"):
        PairClassification(*pairs, [0, 1])(fixed({}))
    assert PairClassification(*pairs, ["모순", "중립"])(three)["accuracy"] == 50
