"""Whichever kind a folder holds comes out, and a class that cannot read it names the one that can."""

from __future__ import annotations

import json

import pytest

from sbert import BiEncoder, CrossEncoder, PolyEncoder, Searcher, WordEncoder, load
from sbert.errors import BadModel, ModelNotFound

PAIRS = [("비가 온다.", "비가 내린다."), ("A cat", "")]


def test_every_kind_comes_out_as_itself(tmp_path, tiny_folder, tiny_classifier):
    bi, cross = BiEncoder.from_pretrained(tiny_folder("bert")), CrossEncoder.from_pretrained(tiny_folder("bert"))
    bi.save_pretrained(tmp_path / "이중")
    cross.save_pretrained(tmp_path / "교차")
    again = load(tmp_path / "이중")
    assert isinstance(again, BiEncoder)
    assert again.encode("비가 온다.").tolist() == bi.encode("비가 온다.").tolist()
    again = load(str(tmp_path / "교차"))
    assert isinstance(again, CrossEncoder)
    assert again.predict(PAIRS).tolist() == cross.predict(PAIRS).tolist()
    assert isinstance(load(tiny_folder("bert")), BiEncoder)  # a bare encoder
    assert isinstance(load(tiny_classifier("roberta", 3)), CrossEncoder)  # as transformers saves one
    assert load("all-MiniLM-L6-v2").max_seq_length == 256


def test_options_reach_the_model(tiny_folder, tiny_classifier):
    for folder in (tiny_folder("bert"), tiny_classifier("bert", 1)):
        model = load(folder, max_seq_length=20, device="cpu")
        assert (model.max_seq_length, model.device.type) == (20, "cpu")


def test_the_folder_of_a_run(tmp_path, tiny_folder):
    CrossEncoder.from_pretrained(tiny_folder("bert")).save_pretrained(tmp_path / "실험" / "model")
    (tmp_path / "실험" / "run.json").write_text("{}")
    assert isinstance(load(tmp_path / "실험"), CrossEncoder)


def test_another_kind_is_named_with_the_way_to_load_it(tmp_path, tiny_folder):
    BiEncoder.from_pretrained(tiny_folder("bert")).save_pretrained(tmp_path / "이중")
    CrossEncoder.from_pretrained(tiny_folder("bert")).save_pretrained(tmp_path / "교차")
    with pytest.raises(
        BadModel,
        match=r"교차 holds a CrossEncoder, .*; load it with CrossEncoder\.from_pretrained, or name another model$",
    ):
        BiEncoder.from_pretrained(tmp_path / "교차")
    with pytest.raises(BadModel, match=r"holds a SentenceTransformer, .* load it with BiEncoder\.from_pretrained"):
        CrossEncoder.from_pretrained(tmp_path / "이중")
    settings = tmp_path / "이중" / "config_sentence_transformers.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "model_type": "SparseEncoder"}))
    with pytest.raises(BadModel, match=r"holds a SparseEncoder, but only .*, CrossEncoder, PolyEncoder are"):
        load(tmp_path / "이중")
    with pytest.raises(ModelNotFound, match="there is no folder"):
        load(tmp_path / "없음")


def test_a_poly_encoder_is_one_though_it_holds_a_bi_encoder(tmp_path, tiny_folder):
    model = PolyEncoder.from_pretrained(tiny_folder("bert"), num_codes=3)
    model.save_pretrained(tmp_path / "폴리")
    again = load(tmp_path / "폴리", max_seq_length=30)
    assert isinstance(again, PolyEncoder)
    assert (again.predict(PAIRS).tolist(), again.max_seq_length) == (model.predict(PAIRS).tolist(), 30)
    assert isinstance(BiEncoder.from_pretrained(tmp_path / "폴리"), BiEncoder)
    for other in (CrossEncoder, WordEncoder):
        with pytest.raises(BadModel, match=r"holds a PolyEncoder, .* load it with PolyEncoder\.from_pretrained, or"):
            other.from_pretrained(tmp_path / "폴리")


def test_a_word_encoder(tmp_path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("비 1 0\ncat 0 1\n눈 1 1\n", encoding="utf-8")
    model = WordEncoder.from_vectors(vectors)
    model.save_pretrained(tmp_path / "낱말")
    again = load(tmp_path / "낱말")
    assert isinstance(again, WordEncoder)
    assert again.encode(["비 눈", "cat"]).tolist() == model.encode(["비 눈", "cat"]).tolist() == [[1, 0.5], [0, 1]]
    cut = load(tmp_path / "낱말", max_seq_length=1, device="cpu")
    assert cut.encode("비 눈", on_truncate="ignore").tolist() == [1, 0]
    assert again.score_pairs([("비", "cat"), ("비", "눈"), ("개", "비")]) == pytest.approx([0, 0.5**0.5, 0])
    assert again.pair_scale() == "cosine"
    with pytest.raises(
        BadModel, match=r"holds a WordEncoder, .* load it with WordEncoder\.from_pretrained, or name another model$"
    ):
        BiEncoder.from_pretrained(tmp_path / "낱말")


def test_a_word_encoder_retrieves(tmp_path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("비 1 0\ncat 0 1\n눈 1 1\n", encoding="utf-8")
    searcher = Searcher(WordEncoder.from_vectors(vectors))
    searcher.add(["cat", "눈", "비"])
    assert [hit.text for hit in searcher.search("비", 2).hits] == ["비", "눈"]
