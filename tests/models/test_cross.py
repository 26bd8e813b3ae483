"""The cross-encoder: outputs and scales, ranking, a new head on a body, and the bits of a score."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, softmax

from sbert import Backbone, BiEncoder, CrossEncoder, Hit, hub
from sbert.errors import BadInput, BadModel, BadOption, TextTooLong

NLI = ["모순", "entailment", "neutral"]
WORDS = ["고양이", "개", "서울", "날씨", "cat", "dog", "rain", "vector", "the", "of", "😀", "e=mc²"]
sides = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join)


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def one(tiny_classifier) -> CrossEncoder:
    return CrossEncoder.from_pretrained(tiny_classifier("bert", 1))


@pytest.fixture(scope="module")
def three(tiny_classifier) -> CrossEncoder:
    return CrossEncoder.from_pretrained(tiny_classifier("electra", 3), labels=NLI)


class TestOutputs:
    def test_one_label(self, one, text_pairs):
        logits = one.predict(text_pairs, output="logit", on_truncate="ignore")
        assert (logits.shape, logits.dtype) == ((len(text_pairs),), np.float32)
        assert np.ptp(logits) > 0.1  # different pairs, different scores
        assert one.scale == "sigmoid"
        for output in ("score", "probability"):
            got = one.predict(text_pairs, output=output, on_truncate="ignore")
            np.testing.assert_allclose(got, expit(logits), rtol=1e-6)

    def test_three_labels(self, three, text_pairs):
        logits = three.predict(text_pairs, output="logit", on_truncate="ignore")
        assert logits.shape == (len(text_pairs), 3)
        assert (three.scale, three.labels) == ("identity", tuple(NLI))
        np.testing.assert_array_equal(three.predict(text_pairs, on_truncate="ignore"), logits)
        probabilities = three.predict_proba(text_pairs[:40])
        np.testing.assert_allclose(probabilities, softmax(logits[:40], axis=1), rtol=1e-5)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)

    @pytest.mark.parametrize("scale", ["sigmoid", "identity", "softmax"])
    def test_the_scale_is_a_value(self, tiny_classifier, text_pairs, tmp_path, scale):
        loaded = CrossEncoder.from_pretrained(tiny_classifier("bert", 3))
        model = CrossEncoder(Backbone(loaded.tokenizer, loaded.transformer), NLI, head=loaded.head, scale=scale)
        model.save_pretrained(tmp_path / "m")
        again = CrossEncoder.from_pretrained(tmp_path / "m")
        assert (again.scale, again.labels) == (scale, tuple(NLI))
        logits = model.predict(text_pairs[:9], output="logit")
        expected = {"sigmoid": expit(logits), "identity": logits, "softmax": softmax(logits, axis=1)}[scale]
        np.testing.assert_allclose(again.predict(text_pairs[:9]), expected, rtol=1e-5)

    def test_extremes_are_finite(self, tiny_classifier):
        model = CrossEncoder.from_pretrained(tiny_classifier("bert", 1))
        torch.nn.init.constant_(model.head.projection.bias, -2000.0)
        assert model.predict([("a", "b")]).tolist() == [0.0]
        torch.nn.init.constant_(model.head.projection.bias, 2000.0)
        assert model.predict([("a", "b")]).tolist() == [1.0]

    def test_nothing(self, one, three):
        assert one.predict([]).shape == (0,)
        assert three.predict_proba([]).shape == (0, 3)

    def test_sides_are_told_apart(self, one):
        forth, back = one.predict([("고양이가 잔다.", "A cat"), ("A cat", "고양이가 잔다.")])
        assert forth != back


class TestRefusals:
    def test_options(self, one):
        with pytest.raises(BadOption, match=r"output is 'logits', .*did you mean 'logit'"):
            one.predict([("a", "b")], output="logits")
        with pytest.raises(BadOption, match="on_truncate is 'chunk'"):
            one.predict([("a", "b")], on_truncate="chunk")

    def test_a_triple(self, one):
        with pytest.raises(BadInput, match="row 3 has 3 texts, but a pair has two"):
            one.predict([("a", "b")] * 3 + [("a", "b", "c")])

    def test_long_pairs_are_never_silent(self, one, caplog):
        long = [("고양이 " * 99, "cat"), ("a", "b")]
        with caplog.at_level(logging.WARNING):
            one.predict(long)
        assert [record.message.split(",")[0] for record in caplog.records] == ["1 of 2 pairs truncated at 128 tokens"]
        with pytest.raises(TextTooLong, match="choose on_truncate='warn'"):
            one.predict(long, on_truncate="raise")

    def test_labels_that_do_not_fit(self, tiny_classifier):
        folder = tiny_classifier("bert", 3)
        with pytest.raises(BadInput, match="num_labels is 2, but there are 3 labels, 'LABEL_0', 'LABEL_1', 'LABEL_2'"):
            CrossEncoder.from_pretrained(folder, num_labels=2)
        with pytest.raises(BadInput, match=r"the labels are \['예', '아니요'\], but the head has 3 outputs"):
            CrossEncoder.from_pretrained(folder, labels=["예", "아니요"])
        with pytest.raises(BadInput, match="must be one or more different names"):
            CrossEncoder.from_pretrained(folder, labels=["a", "b", "a"])
        assert CrossEncoder.from_pretrained(folder, num_labels=3, labels=NLI).labels == tuple(NLI)

    @pytest.mark.parametrize("number", [0, -1])
    def test_fewer_labels_than_one(self, tiny_folder, number):
        with pytest.raises(BadInput, match=f"num_labels is {number}, but must be at least 1"):
            CrossEncoder.from_pretrained(tiny_folder("bert"), num_labels=number)

    def test_a_text_is_no_list_of_labels(self, tiny_folder):
        folder = tiny_folder("bert")
        with pytest.raises(BadInput, match=r"labels is the text '함의', but must be a list of names; pass \['함의'\]"):
            CrossEncoder.from_pretrained(folder, labels="함의")
        with pytest.raises(BadInput, match="labels is the text '함의'"):
            CrossEncoder(Backbone.from_pretrained(folder), "함의")

    def test_another_kind_of_model(self, tiny_folder, tiny_classifier, tmp_path):
        BiEncoder.from_pretrained(tiny_folder("bert")).save_pretrained(tmp_path / "bi")
        with pytest.raises(
            BadModel, match=r"holds a SentenceTransformer, .* load it with BiEncoder\.from_pretrained, or"
        ):
            CrossEncoder.from_pretrained(tmp_path / "bi")
        CrossEncoder.from_pretrained(tiny_classifier("bert", 1)).save_pretrained(tmp_path / "cross")
        for folder in (tiny_classifier("bert", 1), tmp_path / "cross"):
            with pytest.raises(
                BadModel,
                match=r"holds a CrossEncoder, .* load it with CrossEncoder\.from_pretrained, or name another model$",
            ):
                BiEncoder.from_pretrained(folder)

    def test_an_architecture_without_a_known_head(self, tiny_folder, monkeypatch):
        monkeypatch.delitem(hub.cross._FORMS, "modernbert")
        with pytest.raises(
            BadModel, match=r"of type 'modernbert', but cross-encoders are made of bert, albert, .*electra"
        ):
            CrossEncoder.from_pretrained(tiny_folder("modernbert"))

    def test_more_tokens_than_positions(self, tiny_classifier):
        with pytest.raises(BadInput, match="max_seq_length is 999, but this model has 128 positions"):
            CrossEncoder.from_pretrained(tiny_classifier("bert", 1), max_seq_length=999)
        assert CrossEncoder.from_pretrained(tiny_classifier("bert", 1), max_seq_length=20).max_seq_length == 20


class TestRank:
    def test_best_first_with_their_texts(self, one, sentences):
        texts = sentences[:50]
        hits = one.rank("고양이는 어디에 있나요?", texts, top_k=7)
        scores = one.predict([("고양이는 어디에 있나요?", text) for text in texts])
        assert [hit.score for hit in hits] == sorted(scores.tolist(), reverse=True)[:7]
        assert all(hit == Hit(hit.id, scores[hit.id], texts[hit.id]) for hit in hits)
        assert len(one.rank("비", texts)) == 50

    def test_the_earlier_of_equals_first(self, one):
        assert [hit.id for hit in one.rank("cat", ["개", "개", "개"])] == [0, 1, 2]

    def test_equal_after_rounding_but_not_before(self, tiny_classifier):
        model = CrossEncoder.from_pretrained(tiny_classifier("bert", 1))
        texts = ["The cat sits.", "개 두 마리", "rain"]
        before = [hit.id for hit in model.rank("cat", texts)]
        torch.nn.init.constant_(model.head.projection.bias, 40.0)
        hits = model.rank("cat", texts)
        assert [hit.score for hit in hits] == [1.0] * 3
        assert [hit.id for hit in hits] == before

    def test_refusals(self, one, three):
        with pytest.raises(BadInput, match="rank needs a model of one label, but this has 3; use predict"):
            three.rank("a", ["b"])
        with pytest.raises(BadInput, match="top_k is 0"):
            one.rank("a", ["b"], top_k=0)
        with pytest.raises(BadInput, match=r"top_k is 1\.5, but must be a whole number"):
            one.rank("고양이", ["개"], top_k=1.5)
        with pytest.raises(BadInput, match="row 1 is NoneType"):
            one.rank("a", ["b", None])
        assert one.rank("a", []) == []


class TestNewHead:
    @pytest.mark.parametrize("architecture", ["bert", "roberta", "electra", "distilbert", "mpnet", "albert"])
    def test_the_seed_decides(self, tiny_folder, architecture):
        def scores(seed: int) -> list[float]:
            model = CrossEncoder.from_pretrained(tiny_folder(architecture), seed=seed)
            return model.predict([("고양이", "cat"), ("", "비")], output="logit").tolist()

        torch.manual_seed(5)
        assert scores(1) == scores(1) != scores(2)

    def test_names_and_numbers_of_labels(self, tiny_folder):
        folder = tiny_folder("bert")
        assert CrossEncoder.from_pretrained(folder).labels == ("LABEL_0",)
        assert CrossEncoder.from_pretrained(folder, num_labels=2).labels == ("LABEL_0", "LABEL_1")
        named = CrossEncoder.from_pretrained(folder, labels=NLI)
        assert (named.labels, named.head.projection.out_features, named.scale) == (tuple(NLI), 3, "identity")

    def test_the_pooler_of_bert_becomes_the_head(self, tiny_folder):
        pooler = Backbone.from_pretrained(tiny_folder("bert")).transformer.pooler
        model = CrossEncoder.from_pretrained(tiny_folder("bert"))
        assert torch.equal(model.head.dense.weight, pooler.weight)
        assert not any("pooler" in name for name in model.state_dict())

    def test_on_the_body_of_a_bi_encoder(self, bundled, tmp_path):
        model = CrossEncoder(Backbone.from_pretrained("all-MiniLM-L6-v2"), labels=["예"])
        model.save_pretrained(tmp_path / "m")
        pairs = [("A man eats.", "Someone has a meal."), ("비가 온다.", "")]
        again = CrossEncoder.from_pretrained(tmp_path / "m")
        assert again.predict(pairs).tolist() == model.predict(pairs).tolist()
        assert (again.labels, again.max_seq_length) == (("예",), bundled.max_seq_length)


@pytest.fixture(scope="module")
def alone(one) -> dict[tuple[str, str], float]:
    """The score of a pair that nobody else is with."""

    class Alone(dict):
        def __missing__(self, pair: tuple[str, str]) -> float:
            self[pair] = one.predict([pair])[0]
            return self[pair]

    return Alone()


@settings(max_examples=40)
@given(
    pairs=st.lists(st.tuples(sides, sides), min_size=1, max_size=25),
    budget=st.sampled_from([1, 40, 300, 2048]),
    threads=st.integers(1, 2),
)
def test_a_score_depends_on_its_pair_alone(one, alone, pairs, budget, threads):
    torch.set_num_threads(threads)
    assert one.predict(pairs, batch_tokens=budget).tolist() == [alone[pair] for pair in pairs]


@pytest.mark.parametrize("architecture", ["roberta", "electra", "distilbert", "mpnet", "albert", "modernbert"])
def test_so_it_does_on_every_route(tiny_classifier, text_pairs, architecture):
    model = CrossEncoder.from_pretrained(tiny_classifier(architecture, 3))
    expected = np.concatenate([model.predict([pair], on_truncate="ignore") for pair in text_pairs])
    order = np.random.default_rng(0).permutation(len(text_pairs))
    for threads, budget in [(1, 2048), (2, 2048), (2, 64), (1, 7)]:
        torch.set_num_threads(threads)
        got = model.predict([text_pairs[row] for row in order], batch_tokens=budget, on_truncate="ignore")
        np.testing.assert_array_equal(got, expected[order])


def test_saved_and_loaded_bit_for_bit(tiny_classifier, text_pairs, tmp_path):
    for architecture in ("bert", "roberta", "distilbert"):
        model = CrossEncoder.from_pretrained(tiny_classifier(architecture, 3), labels=NLI, max_seq_length=50)
        model.save_pretrained(tmp_path / architecture)
        again = CrossEncoder.from_pretrained(tmp_path / architecture)
        assert (again.labels, again.scale, again.max_seq_length) == (tuple(NLI), "identity", 50)
        left, right = (each.predict(text_pairs, on_truncate="ignore") for each in (model, again))
        np.testing.assert_array_equal(left, right)
        named = json.loads((tmp_path / architecture / "config.json").read_text(encoding="utf-8"))["id2label"]
        assert named == dict(zip("012", NLI, strict=True))


@pytest.mark.parametrize("labels", [["score"], NLI])
def test_so_it_does_in_a_model_of_usual_size(sentences, labels):
    """A single output is where a matrix product becomes one with a vector, which rounds by a row's place."""
    model = CrossEncoder(Backbone.from_pretrained("all-MiniLM-L6-v2"), labels)
    torch.nn.init.normal_(model.head.projection.weight, generator=torch.Generator().manual_seed(0))
    pairs = [(first, second) for first in sentences[:8] for second in sentences[30:45]]
    expected = model.predict(pairs, output="logit")
    for threads, budget in [(1, 64), (2, 1000)]:
        torch.set_num_threads(threads)
        np.testing.assert_array_equal(model.predict(pairs[::-1], output="logit", batch_tokens=budget)[::-1], expected)
