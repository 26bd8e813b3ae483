"""Terms of a full-text index: words, pairs of Korean letters, morphemes; and why SQLite's own tokenizers do not do."""

from __future__ import annotations

import sqlite3
import unicodedata
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbert.errors import BadInput
from sbert.text.terms import document_terms, has_morphemes, query_terms

TEXTS = ["결제가 안 돼요", "부산까지 KTX를 탔다", "우리 역사를 배운다"]
QUERIES = {"결제": 0, "부산": 1, "KTX": 1, "역사": 2}


def found(tokenizer, texts, query):
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE VIRTUAL TABLE rows USING fts5 (words, tokenize = '{tokenizer}')")
    connection.executemany("INSERT INTO rows (rowid, words) VALUES (?, ?)", enumerate(texts))
    rows = [row for (row,) in connection.execute("SELECT rowid FROM rows WHERE rows MATCH ?", (query,))]
    connection.close()
    return rows


@pytest.mark.parametrize(("query", "row"), QUERIES.items())
def test_our_terms_find_what_the_tokenizers_of_sqlite_do_not(query, row):
    ours = [" ".join(document_terms(text)) for text in TEXTS]
    wanted = " AND ".join(f'"{term}"' for term in query_terms(query))
    assert found("unicode61", ours, wanted) == [row]
    assert found("unicode61", TEXTS, f'"{query}"') == []
    if query != "KTX":  # three letters are enough for trigrams
        assert found("trigram", TEXTS, f'"{query}"') == []


def test_scripts_are_divided_where_they_meet():
    assert document_terms("KTX를 iPhone15로") == ["ktx", "를", "iphone15", "로"]
    assert query_terms("東京タワー") == ["東京", "京タ", "タワ", "ワー"]
    assert query_terms("naïve café-au-lait") == ["naïve", "café", "au", "lait"]
    assert query_terms("비") == ["비"]
    assert query_terms("?! …") == []


@given(st.text(st.sampled_from("가나다결제 KTXktx한글東京ab-_.?1２ㄱ"), max_size=30))
def test_a_text_is_found_by_its_own_words_in_any_unicode_form(text):
    stored = set(document_terms(text))
    for form in ("NFC", "NFD", "NFKC"):
        assert set(query_terms(unicodedata.normalize(form, text))) <= stored
    assert all(term.isalnum() for term in stored)


@pytest.mark.skipif(not has_morphemes(), reason="needs the extra: pip install 'sbert[ko]'")
def test_morphemes_find_other_forms_of_a_verb():
    assert set(query_terms("먹는", morphemes=True)) & set(document_terms("밥을 먹었다", morphemes=True)) == {"먹0m"}


@pytest.mark.skipif(find_spec("kiwipiepy") is not None, reason="kiwipiepy is installed")
def test_missing_morphemes_are_told_in_one_sentence():
    with pytest.raises(BadInput, match=r"pip install 'sbert\[ko\]'"):
        document_terms("밥", morphemes=True)
