"""A model that was told a normalization form gives equal texts one vector, however their characters are encoded."""

from __future__ import annotations

from unicodedata import normalize

import pytest
from sentence_transformers import SentenceTransformer

from sbert import Backbone, BiEncoder
from sbert.errors import BadOption
from sbert.models.fingerprint import fingerprint

TEXTS = ["한국어 문장을 찾아 줘", "café에서 만나요", "ＫＴＸ를 탔다"]


@pytest.fixture
def model(tiny_folder):
    return BiEncoder.from_pretrained(tiny_folder("roberta"))  # byte-level: sees how characters are encoded


def is_same(model, form):
    return (model.encode([normalize(form, text) for text in TEXTS]) == model.encode(TEXTS)).all(axis=1).tolist()


def test_composed_and_decomposed_texts_have_one_vector_on_request_only(model):
    before = fingerprint(model)
    assert is_same(model, "NFD") == [False, False, False]
    model.tokenizer = model.tokenizer.with_unicode_form("NFC")
    assert is_same(model, "NFD") == [True, True, True]
    assert is_same(model, "NFKC") == [True, True, False]
    assert fingerprint(model) != before
    model.tokenizer = model.tokenizer.with_unicode_form("NFKC")
    assert is_same(model, "NFKC") == is_same(model, "NFKD") == [True, True, True]


def test_letters_stay_as_keyboards_type_them(model):
    plain, form = model.tokenizer.backend, model.tokenizer.with_unicode_form("NFKC").backend
    for text in ("ㅋㅋㅋ 정말요? ㅠㅠ", "".join(map(chr, range(0x3131, 0x314F))), "ㅏㅑㅓㅕ"):
        assert form.encode(text).ids == plain.encode(text).ids
    assert form.encode("\u110f\uffbb ﾡ").ids == plain.encode("ㅋㅋ ㄱ").ids  # conjoining and half-width letters


def test_composed_texts_keep_their_vectors(model):
    expected = model.encode(TEXTS)
    model.tokenizer = model.tokenizer.with_unicode_form("NFC")
    assert (model.encode(TEXTS) == expected).all()


def test_the_form_is_saved_and_other_libraries_use_it(tiny_folder, tmp_path):
    model = BiEncoder(Backbone.from_pretrained(tiny_folder("roberta"), unicode_form="NFKC"))
    model.save_pretrained(tmp_path / "model")
    decomposed = [normalize("NFKD", text) for text in TEXTS]
    expected = model.encode(decomposed)
    assert (BiEncoder.from_pretrained(tmp_path / "model").encode(decomposed) == expected).all()
    other = SentenceTransformer(str(tmp_path / "model"), device="cpu").encode(decomposed)
    assert other == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_a_form_is_added_once(model, form, tmp_path):
    model.tokenizer = once = model.tokenizer.with_unicode_form(form)
    model.save_pretrained(tmp_path / "model")
    again = BiEncoder.from_pretrained(tmp_path / "model").tokenizer.with_unicode_form(form)
    assert again.backend.to_str() == once.backend.to_str()


def test_an_unknown_form_is_refused(model):
    with pytest.raises(BadOption, match="unicode_form is 'NFD', but must be one of 'NFC', 'NFKC'"):
        model.tokenizer.with_unicode_form("NFD")
