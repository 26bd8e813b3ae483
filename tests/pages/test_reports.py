"""The reports show every number in its place, and texts stay texts."""

from __future__ import annotations

from datetime import date
from importlib import metadata

from webpage import read

from sbert.pages import reports
from sbert.pages.records import Bar, Comparison, Drift, PaperTable, Plot, Suite, Table

HOSTILE = '<script>alert("1")</script> & 한국어'


def test_an_evaluation():
    table = Table(["task", "score"], [[HOSTILE, "71.50"]], "lr")
    suite = Suite(
        HOSTILE,
        "71.50 of 1 of 2 tasks",
        [Bar(HOSTILE, 71.5, 70.0, 73.0)],
        table,
        [Plot(HOSTILE, [(0, 1), (1, 2)])],
        [(HOSTILE, "no data")],
    )
    page = read(reports.evaluation(HOSTILE, [suite, suite._replace(bars=[], plots=[])], ["data", HOSTILE]))
    assert f"Data: data, {HOSTILE}." in page.texts["p"]
    assert f" {metadata.version('sbert')} on {date.today()}. " in page.texts["footer"][0]
    assert page.texts["title"][0] == page.texts["h1"][0] == f"Evaluation of {HOSTILE}"
    assert page.texts["h2"] == [HOSTILE] * 2
    assert page.texts["td"] == [HOSTILE, "71.50"]
    assert page.texts["figcaption"] == ["Average 71.50 of 1 of 2 tasks", HOSTILE]
    assert page.texts["b"][:2] == [HOSTILE] * 2
    assert (page.count("bar"), page.count("whisker"), page.count("dots")) == (1, 1, 1)
    assert ("lang", "ko") in page.attributes


def test_a_comparison():
    scores = Table(["task", "A - B"], [[HOSTILE, "+1.00"]], "lr")
    drift = Drift([HOSTILE], ([1, 2], 0.5, 1.0), Table(["text"], [[HOSTILE]], "l"))
    page = read(
        reports.comparison(
            Comparison("A/모델", HOSTILE, scores, [Bar("x", 1.0, 0.5, 1.5)], [("STS12", HOSTILE)], drift, ["sts.tsv"])
        )
    )
    assert "Data: sts.tsv." in page.texts["p"]
    assert page.texts["b"][:3] == ["A/모델", HOSTILE, "STS12"]
    assert page.texts["td"] == [HOSTILE, "+1.00", HOSTILE]
    assert page.texts["figcaption"] == ["A minus B", "Cosine between the two vectors of a text"]
    assert page.count("bar") == 3
    bare = read(reports.comparison(Comparison("a", "b", scores._replace(rows=[]), [], [], None)))
    assert "svg" not in bare.tags
    assert "table" not in bare.tags
    other_sizes = Drift(["x"], None, Table(["text"], [], "l"))
    assert "svg" not in read(reports.comparison(Comparison("a", "b", scores, [], [], other_sizes))).tags


def test_the_tables_of_the_paper():
    bars = [Bar("SBERT", 1234.5, other=44.0), None]
    table = PaperTable(HOSTILE, "One number.", ["CPU", HOSTILE], [("SBERT", bars)], [HOSTILE], [], logarithmic=True)
    page = read(
        reports.paper([table, table._replace(plots=[Plot("p", [(1, 1), (2, 2)])])], ["Budget quick."], [HOSTILE])
    )
    assert page.texts["small"][:2] == ["44.00", "+1,190"]
    assert page.texts["td"][:3] == ["SBERT", "1,234", ""]
    assert page.texts["figcaption"][0] == "CPU (logarithmic scale)"
    assert page.texts["summary"] == ["Predictions and gold labels (1)"]
    assert page.texts["li"].count(HOSTILE) == 3
    assert "Budget quick." in page.texts["p"]
