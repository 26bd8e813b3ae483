"""The tables as CSV, Markdown and a page: every number in its place, and what differs said once."""

from __future__ import annotations

import csv
import io
from html.parser import HTMLParser

import pytest

from sbert.paper.ledger import Cell
from sbert.paper.report import as_csv, as_markdown, as_page, notes, summary, tables


def cell(row: str, column: str, value: float, **fields) -> Cell:
    given = {"low": None, "high": None, "items": 500, "seconds": 1.5, "note": "", "paper": None} | fields
    return Cell("table1", row, column, value, **given)


CELLS = [
    cell("Avg. <GloVe>", "STS12", 50.0, low=45.0, high=55.0, paper=55.14, note="glove.6B; 500 of 3108 pairs"),
    cell("Avg. <GloVe>", "STSb", 60.0, paper=58.02, note="glove.6B", scatter=((0.0, 0.1), (5.0, 0.9))),
    cell("한국어 | 모델", "STS12", -3.0, note="500 of 3108 pairs"),
    Cell("table7", "SBERT", "CPU", 1234.5, None, None, 100, "", 44.0),
]


def test_csv_keeps_every_digit():
    rows = list(csv.DictReader(io.StringIO(as_csv(CELLS))))
    assert [row["row"] for row in rows] == [found.row for found in CELLS]
    assert [float(row["value"]) for row in rows] == [found.value for found in CELLS]
    assert float(rows[0]["difference"]) == pytest.approx(-5.14)
    assert (rows[2]["paper"], rows[2]["difference"], rows[2]["low"]) == ("", "", "")


def test_markdown_has_ours_the_papers_and_the_difference():
    text = as_markdown(CELLS)
    assert "| | STS12 | STSb |\n| --- | ---: | ---: |" in text
    assert "| Avg. <GloVe> | 50.00 (55.14, -5.14) | 60.00 (58.02, +1.98) |" in text
    assert "| 한국어 \\| 모델 | -3.00 |  |" in text
    assert "1,234 (44.00, +1,190)" in text


def test_each_difference_is_said_once_with_its_places():
    first, second = tables(CELLS)
    assert notes(first) == ["Avg. <GloVe>: glove.6B", "STS12: 500 of 3108 pairs"]
    assert notes(second) == []
    alike, odd = [cell("a", "x", 1.0, note="n"), cell("b", "x", 1.0, note="n")], cell("b", "y", 1.0, note="o")
    assert notes(tables(alike)[0]) == ["everywhere: n"]
    assert notes(tables([*alike, cell("a", "y", 1.0), odd])[0]) == ["x: n", "b on y: o"]


def test_the_sentence_counts():
    first, second = tables(CELLS)
    assert summary(first).startswith("The paper has a comparable number for 2 of 3 numbers, and ours is higher for 1;")
    assert "1.58 below" in summary(first)
    assert summary(tables([CELLS[2]])[0]) == "The paper has no number for any of these cells."
    assert summary(second).endswith(
        "1 of 1 number, and ours is higher for 1; ours are from this machine, the paper's from an i7-5820K and a V100."
    )
    derived = [cell("a", name, 99.0, paper=1.0) for name in ("Avg", "std")]
    assert summary(tables([*CELLS[:3], *derived])[0]) == summary(first)


def test_rows_on_a_smaller_backbone_have_no_difference():
    cells = [*CELLS[:2], cell("작은 SBERT", "STSb", 40.0, paper=77.03, comparable=False)]
    (table,) = tables(cells)
    reason = "The rows on the backbone have no difference, because the paper has no backbone of its size."
    assert summary(table).startswith("The paper has a comparable number for 2 of 3 numbers")
    assert summary(table).endswith(reason)
    assert summary(tables(cells[2:])[0]) == reason
    assert "40.00 (77.03)" in as_markdown(cells)
    assert list(csv.DictReader(io.StringIO(as_csv(cells))))[2]["difference"] == ""
    page = as_page(cells, [], [])
    assert "77.03" in page
    assert "-37.03" not in page
    assert "-5.14" in page


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.kinds: list[str | None] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        assert not {"src", "href", "onload"} & {name for name, _ in attrs}
        self.kinds.append(dict(attrs).get("class"))
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.kinds.append(dict(attrs).get("class"))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_stands_alone_and_draws_every_cell():
    page = Page()
    page.feed(as_page(CELLS, ["Budget quick."], ["USE: 패키지가 없다 <script>"]))
    text = " ".join(page.text)
    assert page.open == []
    assert page.kinds.count("bar") == 4
    assert page.kinds.count("whisker") == 1
    assert page.kinds.count("dots") == 1
    assert page.kinds.count("other") == 3 + 3  # a diamond, and a number in the table
    for words in ("Budget quick.", "USE: 패키지가 없다 <script>", "한국어 | 모델", "Avg. <GloVe>", "55.14", "-5.14"):
        assert words in text
