"""Hits and pairs in a notebook are tables; everywhere else they are plain lists."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np

from sbert import Hit, Pair, most_similar_pairs, semantic_search
from sbert.text.records import Records


def test_records_are_lists_of_the_same_value():
    pairs = most_similar_pairs(np.eye(3))
    plain = list(pairs)
    assert isinstance(pairs, list)
    assert pairs == plain
    assert plain == pairs
    assert repr(pairs) == repr(plain)
    assert json.dumps(pairs) == json.dumps(plain)
    for twin in (pickle.loads(pickle.dumps(pairs)), copy.deepcopy(pairs)):
        assert twin == plain
        assert type(twin) is type(pairs)


def test_pairs_are_a_table_in_a_notebook():
    html = Records([Pair(0, 2, 0.81239)])._repr_html_()
    assert "<th>first</th><th>second</th><th>score</th>" in html
    assert "<td>0</td><td>2</td><td>0.8124</td>" in html


def test_hits_of_several_queries_have_the_number_of_their_query():
    html = semantic_search(np.eye(2), np.eye(2), k=1)._repr_html_()
    assert "<th>query</th><th>id</th><th>score</th></tr>" in html, "texts that are not known have no column"
    assert "<td>0</td><td>0</td><td>1.0000</td></tr><tr><td>1</td><td>1</td><td>1.0000</td>" in html


def test_texts_are_escaped():
    html = Records([Hit("하나", 0.5, "<b>환불</b>"), Hit(2, 0.25)])._repr_html_()
    assert (
        "<td>하나</td><td>0.5000</td><td>&lt;b&gt;환불&lt;/b&gt;</td></tr><tr><td>2</td><td>0.2500</td><td></td>"
        in html
    )


def test_a_long_table_is_cut_and_says_so():
    html = Records([Records([Hit(row, 0.0) for row in range(60)])] * 2)._repr_html_()
    assert html.count("<tr>") == 101
    assert "<caption>the first 100 of 120</caption>" in html


def test_no_hits():
    assert "<tbody></tbody>" in Records([])._repr_html_()
    assert "<tbody></tbody>" in Records([Records()])._repr_html_()
