"""Results of a search in a notebook: every value is escaped."""

from __future__ import annotations

from sbert.search.found import Found, SearchHit, Seconds


def test_hits_are_a_table_in_a_notebook():
    hits = [
        SearchHit("하나", 0.91234, "환불 <b>요청</b>", {"분류": "<script>"}),
        SearchHit(2, 0.5, "배송", {"연도": 2024}),
    ]
    html = Found(hits, 0, Seconds(0, 0, 0))._repr_html_()
    assert "<td>0.9123</td><td>하나</td><td>환불 &lt;b&gt;요청&lt;/b&gt;</td><td>&lt;script&gt;</td><td></td>" in html
    assert "<td>2</td><td>0.5000</td><td>2</td><td>배송</td><td></td><td>2024</td>" in html
    assert "<th>분류</th><th>연도</th>" in html
