"""The page of the demo shows every sentence, and hostile texts stay texts."""

from __future__ import annotations

import re

import pytest
from webpage import read

from sbert.pages import demo
from sbert.pages.records import Demo, Table

HOSTILE = ['<script>alert("1")</script>', "</title></svg><b>&amp;", "'\"><img src=x onerror=y>", "한국어 & 日本語"]
TOPICS = ["<i>0</i>", "둘", "three"]
TABLE = Table(["cosine", "topic", "text"], [["0.900", TOPICS[0], "\n".join(HOSTILE)]], "rll")
DEMO = Demo(
    template="demo.html",
    model="<u>model</u>",
    speed="1 sentences/s",
    pairs=TABLE,
    answers=[(HOSTILE[0], TABLE)],
    korean=(HOSTILE[3], TABLE),
    costs=Table(["sentences", "pairs", "vectors", "cross-encoder", "ratio"], [list("12345"), list("67890")], "rrrrr"),
    notes={"pairs": HOSTILE[1], "queries": "", "korean": "", "cost": "extrapolated"},
    sentences=[(TOPICS[row % 3], f"{HOSTILE[row % 4]} {row}") for row in range(30)],
    points=[(float(row), float(row % 5)) for row in range(30)],
    topics=TOPICS,
    means=[[0.5, 0.1, 0.2], [0.1, 0.4, 0.3], [0.2, 0.3, 0.9]],
    same_topic=0.86,
    same_by_chance=0.06,
)


@pytest.mark.parametrize("template", ["demo.html", "demo_ko.html"])
def test_hostile_texts_stay_texts(template: str):
    page = read(demo.page(DEMO._replace(template=template)))
    assert not {"script", "img", "i", "u"} & set(page.tags)
    assert {f"{topic}: {text}" for topic, text in DEMO.sentences} <= set(page.texts["title"])
    assert page.texts["h3"] == [HOSTILE[0], HOSTILE[3]]
    assert page.texts["td"][:3] == TABLE.rows[0]
    assert HOSTILE[1] in page.texts["p"]


def test_what_is_said_of_the_topics_follows_from_the_figures():
    html = demo.page(DEMO)
    text = " ".join(" ".join(read(html).texts["p"]).split())
    assert "The two most similar topics are 둘 and three." in text
    assert "The colour is full from 0.50." in text
    assert "for 86% of the sentences (by chance: 6%)" in text
    shades = [float(shade) for shade in re.findall(r'fill-opacity="([\d.]+)"', html)]
    assert shades == [1.0, 0.2, 0.4, 0.2, 0.8, 0.6, 0.4, 0.6, 1.0]


def test_dots_have_the_colours_of_their_topics_inside_the_picture():
    html = demo.page(DEMO)
    dots = re.findall(r'<circle class="group(\d)" cx="(\d+)" cy="(\d+)" r="5"><title>', html)
    assert [int(group) for group, _, _ in dots] == [row % 3 for row in range(30)]
    width, height = (
        float(side) for side in re.search(r'class="map">.*?viewBox="0 0 (\S+) (\S+)"', html, re.S).groups()
    )
    assert all(0 < float(x) < width and 0 < float(y) < height for _, x, y in dots)
