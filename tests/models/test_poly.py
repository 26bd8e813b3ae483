"""The poly-encoder: bits, the folder and who reads it, and what is refused."""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer

from sbert import Backbone, BiEncoder, CrossEncoder, Dense, PolyEncoder
from sbert.errors import BadInput, BadModel, BadOption, TextTooLong
from sbert.nn.heads import Normalize

WORDS = ["고양이", "개", "서울", "날씨", "cat", "dog", "rain", "vector", "the", "of", "😀", "e=mc²"]
phrases = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join)
FORMS = [
    {"num_codes": 5},
    {"num_codes": 1},
    {"num_codes": 4, "codes": "first"},
    {"num_codes": 3, "towers": "separate"},
    {"num_codes": 40, "codes": "first", "towers": "separate"},
]


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module", params=FORMS, ids=str)
def model(request, tiny_folder) -> PolyEncoder:
    return PolyEncoder.from_pretrained(tiny_folder("bert"), **request.param)


@pytest.fixture
def texts(sentences) -> list[str]:
    return [text for text in sentences if len(text) < 80][:70]


def changed(model: PolyEncoder) -> PolyEncoder:
    """Weights that a new model would not have."""
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.01
    return model


class TestScores:
    def test_shapes(self, model, texts):
        codes, vectors = model.encode_query(texts[:9]), model.encode_document(texts)
        assert (codes.shape, codes.dtype) == ((9, model.num_codes, 32), np.float32)
        assert vectors.shape == (len(texts), 32)
        assert model.score(codes, vectors).shape == (9, len(texts))
        assert model.score(codes[0], vectors).shape == (len(texts),)
        assert model.encode_query("비").shape == codes.shape[1:]
        assert model.encode_query([]).shape == (0, *codes.shape[1:])
        assert model.score(codes, vectors[:0]).shape == (9, 0)
        assert model.predict([]).shape == (0,)

    def test_codes_are_the_papers(self, tiny_folder):
        """Learned codes attend over the last hidden states, which transformers computes here."""
        model = PolyEncoder.from_pretrained(tiny_folder("bert"), num_codes=5)
        text, other = "고양이가 잔다. The cat sleeps.", "개 두 마리"
        (hidden,) = BiEncoder.from_pretrained(tiny_folder("bert")).encode_tokens([text])
        learned = model.codes.detach().numpy()
        weights = np.exp(hidden @ learned.T)  # (L, M)
        expected = (weights / weights.sum(axis=0)).T @ hidden
        np.testing.assert_allclose(model.encode_query(text), expected, atol=1e-6)
        (vector,) = model.encode_document([other])
        products = expected @ vector
        share = np.exp(products) / np.exp(products).sum()
        np.testing.assert_allclose(model.predict([(text, other)]), [share @ products], rtol=1e-5)

    def test_predict_and_rank_agree_with_score(self, model, texts):
        scores = model.score(model.encode_query(texts[0]), model.encode_document(texts))
        assert model.predict([(texts[0], text) for text in texts]).tolist() == scores.tolist()
        hits = model.rank(texts[0], texts, top_k=7)
        assert [hit.score for hit in hits] == sorted(scores.tolist(), reverse=True)[:7]
        assert all(hit == (hit.id, scores[hit.id], texts[hit.id]) for hit in hits)
        assert [hit.id for hit in model.rank("cat", ["개", "개", "개"])] == [0, 1, 2]
        assert model.score(model.encode_query(texts[0]).tolist(), model.encode_document(texts).tolist()).tolist() == (
            scores.tolist()
        )

    @settings(max_examples=15)
    @given(pairs=st.lists(st.tuples(phrases, phrases), min_size=1, max_size=12), data=st.data())
    def test_a_score_depends_on_its_pair_alone(self, model, pairs, data):
        torch.set_num_threads(data.draw(st.sampled_from([1, 2])))
        scores = model.predict(pairs, on_truncate="ignore")
        order = data.draw(st.permutations(range(len(pairs))))
        again = model.predict([pairs[row] for row in order], on_truncate="ignore")
        assert again.tolist() == scores[order].tolist()
        assert model.predict(pairs[:1], on_truncate="ignore")[0] == scores[0]

    def test_in_large_company_too(self, model, sentences):
        pairs = [(query, text) for query in sentences[:3] for text in sentences]
        scores = model.predict(pairs, on_truncate="ignore")
        for row in random.Random(0).sample(range(len(pairs)), 25):
            assert model.predict([pairs[row]], on_truncate="ignore")[0] == scores[row]

    def test_many_queries_go_in_parts(self, model, texts, monkeypatch):
        pairs = [(text, texts[0]) for text in texts]
        scores = model.predict(pairs)
        monkeypatch.setattr("sbert.models.poly._QUERIES", 8)
        assert model.predict(pairs).tolist() == scores.tolist()


class TestFolder:
    @pytest.mark.parametrize("form", FORMS, ids=str)
    @pytest.mark.parametrize("architecture", ["bert", "roberta", "electra", "albert", "distilbert"])
    def test_saved_and_loaded(self, tiny_folder, tmp_path, texts, architecture, form):
        model = changed(PolyEncoder.from_pretrained(tiny_folder(architecture), **form))
        model.save_pretrained(tmp_path / "모델")
        again = PolyEncoder.from_pretrained(tmp_path / "모델")
        pairs = list(zip(texts, texts[::-1], strict=True))
        assert again.predict(pairs).tolist() == model.predict(pairs).tolist()
        assert (again.num_codes, again.codes is None, again.tower is None) == (
            model.num_codes,
            model.codes is None,
            model.tower is None,
        )

    def test_sentence_transformers_reads_the_documents(self, tiny_folder, tmp_path, texts, recwarn):
        model = changed(PolyEncoder.from_pretrained(tiny_folder("bert"), towers="separate"))
        model.save_pretrained(tmp_path / "m")
        theirs = SentenceTransformer(str(tmp_path / "m"), device="cpu")
        np.testing.assert_allclose(theirs.encode(texts), model.encode_document(texts), atol=1e-6)
        assert theirs.similarity_fn_name == "dot"
        ours = BiEncoder.from_pretrained(tmp_path / "m", self_check=True)
        np.testing.assert_array_equal(ours.encode(texts), model.encode_document(texts))
        assert not recwarn.list

    def test_of_a_bi_encoder_its_normalisation_is_dropped(self, bundled, texts):
        model = PolyEncoder.from_pretrained("all-MiniLM-L6-v2")
        assert not any(isinstance(head, Normalize) for head in model.documents.heads)
        vectors = model.encode_document(texts)
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        np.testing.assert_allclose(unit, bundled.encode(texts), atol=1e-6)
        assert np.ptp(np.linalg.norm(vectors, axis=1)) > 0.1

    def test_the_seed_decides(self, tiny_folder):
        one, same, other = (PolyEncoder.from_pretrained(tiny_folder("bert"), seed=seed).codes for seed in (1, 1, 2))
        assert (torch.equal(one, same), torch.equal(one, other)) == (True, False)

    def test_prompts_are_kept(self, tiny_folder, tmp_path):
        backbone = Backbone.from_pretrained(tiny_folder("bert"))
        documents = BiEncoder(backbone, prompts={"query": "찾기: ", "document": "글: "}, similarity="dot")
        model = PolyEncoder(documents, 3)
        assert (model.encode_query("비") != PolyEncoder(BiEncoder(backbone), 3).encode_query("비")).any()
        model.save_pretrained(tmp_path / "m")
        again = PolyEncoder.from_pretrained(tmp_path / "m")
        assert again.predict([("비", "눈")]).tolist() == model.predict([("비", "눈")]).tolist()


class TestRefusals:
    def test_options(self, tiny_folder):
        with pytest.raises(BadOption, match=r"codes is 'firsts', .*did you mean 'first'"):
            PolyEncoder.from_pretrained(tiny_folder("bert"), codes="firsts")
        with pytest.raises(BadOption, match="towers is 'both'"):
            PolyEncoder.from_pretrained(tiny_folder("bert"), towers="both")
        with pytest.raises(BadInput, match=r"num_codes is 2\.5, but must be a whole number"):
            PolyEncoder(BiEncoder.from_pretrained(tiny_folder("bert")), 2.5)
        with pytest.raises(BadInput, match="num_codes is 0, but must be at least 1"):
            PolyEncoder.from_pretrained(tiny_folder("bert"), num_codes=0)

    def test_vectors_of_another_size(self, tiny_folder):
        documents = BiEncoder(Backbone.from_pretrained(tiny_folder("bert")), heads=[Dense(32, 8)])
        with pytest.raises(
            BadInput, match="vectors have 8 dimensions and the queries' codes 32, but both need the same"
        ):
            PolyEncoder(documents)

    def test_codes_of_another_size(self, tiny_folder, tmp_path):
        PolyEncoder.from_pretrained(tiny_folder("bert"), num_codes=2).save_pretrained(tmp_path / "m")
        save_file({"codes": torch.zeros(2, 16)}, tmp_path / "m" / "poly" / "codes.safetensors")
        with pytest.raises(
            BadModel, match=r"holds codes of shape \(2, 16\), but \(2, 32\) is expected; download or save"
        ):
            PolyEncoder.from_pretrained(tmp_path / "m")
        (tmp_path / "m" / "poly" / "codes.safetensors").write_bytes(b"broken")
        with pytest.raises(BadModel, match=r"codes\.safetensors is damaged"):
            PolyEncoder.from_pretrained(tmp_path / "m")
        settings = {"num_codes": 2, "codes": "second"}
        (tmp_path / "m" / "poly" / "config.json").write_text(json.dumps(settings))
        with pytest.raises(BadModel, match="codes 'second', but one of learned, first is expected"):
            PolyEncoder.from_pretrained(tmp_path / "m")
        (tmp_path / "m" / "poly" / "config.json").write_text("{}")
        with pytest.raises(BadModel, match=r"config\.json lacks 'num_codes'"):
            PolyEncoder.from_pretrained(tmp_path / "m")

    def test_what_the_folder_does_not_hold(self, tiny_folder, tmp_path):
        PolyEncoder.from_pretrained(tiny_folder("bert"), num_codes=2).save_pretrained(tmp_path / "m")
        with pytest.raises(BadInput, match=r"num_codes is 3, but .* holds a poly-encoder with 2; leave it out"):
            PolyEncoder.from_pretrained(tmp_path / "m", num_codes=3)
        with pytest.raises(BadInput, match=r"towers is 'separate', but .* with 'shared'"):
            PolyEncoder.from_pretrained(tmp_path / "m", towers="separate")
        assert PolyEncoder.from_pretrained(tmp_path / "m", num_codes=2, codes="learned").num_codes == 2

    def test_a_cross_encoders_folder(self, tiny_classifier):
        with pytest.raises(
            BadModel,
            match=r"holds a CrossEncoder, .* load it with CrossEncoder\.from_pretrained, or name another model$",
        ):
            PolyEncoder.from_pretrained(tiny_classifier("bert", 1))

    def test_wrong_arrays(self, model):
        codes, vectors = model.encode_query(["비"]), model.encode_document(["눈"])
        for wrong in ((codes, vectors[0]), (codes[..., :3], vectors), (codes[0, 0], vectors)):
            with pytest.raises(BadInput, match="take them from encode_query and encode_document"):
                model.score(*wrong)

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30])
    def test_numbers_that_have_no_score(self, model, value):
        codes, vectors = model.encode_query(["비", "눈"]), model.encode_document(["눈", "비", "해"])
        broken = codes.copy(), vectors.copy()
        broken[0][1, -1, 3] = broken[1][2, 0] = value
        for wrong, place in (
            ((broken[0], vectors), "row 1 of codes"),
            ((broken[0][1], vectors), "row 0 of codes"),
            ((codes, broken[1]), "row 2 of vectors"),
            ((codes, broken[1].tolist()), "row 2 of vectors"),
        ):
            with pytest.raises(BadInput, match=f"{place} holds NaN, infinity or values beyond 1e17; repair it or"):
                model.score(*wrong)

    def test_a_query_without_a_code(self, model):
        codes, vectors = model.encode_query(["비", "눈"]), model.encode_document(["눈", "비"])
        codes[1] = 0
        for wrong, row in ((codes, 1), (codes[1], 0), (codes[:, :0], 0)):
            with pytest.raises(BadInput, match=f"row {row} of codes has no code other than zeros"):
                model.score(wrong, vectors)

    def test_the_largest_numbers_have_scores(self, model):
        codes, vectors = np.full((model.num_codes, 32), 1e17), np.full((3, 32), 1e17)
        assert np.isfinite(model.score(codes, vectors)).all()

    def test_one_text_is_no_list_of_letters(self, model, bundled):
        for each in (model, bundled):
            with pytest.raises(BadInput, match="got one text, but a list of texts is expected"):
                each.rank("비", "눈이 온다")

    def test_a_poly_encoder_is_no_cross_encoder(self, tiny_folder, tmp_path):
        PolyEncoder.from_pretrained(tiny_folder("bert"), num_codes=2).save_pretrained(tmp_path / "m")
        with pytest.raises(BadModel, match=r"holds a PolyEncoder, .*; load it with PolyEncoder\.from_pretrained"):
            CrossEncoder.from_pretrained(tmp_path / "m")

    def test_wrong_texts(self, model, caplog):
        with pytest.raises(BadInput, match="row 1 has 3 texts, but a pair has two"):
            model.predict([("a", "b"), ("a", "b", "c")])
        with pytest.raises(BadInput, match="row 1 is NoneType"):
            model.encode_query(["a", None])
        with pytest.raises(BadInput, match="top_k is 0"):
            model.rank("a", ["b"], top_k=0)
        with pytest.raises(BadInput, match=r"top_k is 1\.5, but must be a whole number"):
            model.rank("비", ["눈"], top_k=1.5)
        with pytest.raises(TextTooLong):
            model.encode_query("고양이 " * 200, on_truncate="raise")
        with caplog.at_level(logging.WARNING):
            model.predict([("고양이 " * 200, "")])
        assert "1 of 1 texts truncated" in caplog.text
