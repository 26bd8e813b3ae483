"""The map: one file, whose only script is the one its policy names; hostile texts stay texts."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import numpy as np

from sbert.pages import map, topics
from sbert.pages.records import TextMap, TopicPage, TopicRow

HOSTILE = ["</script><script>alert(1)</script>", "<!--<script>", "한국어 \u2028 줄", "\x1b[31m", "a" * 500]


def page():
    places = np.array([[-1, -1], [1, 1], [0, 0], [0.5, -0.5], [2, 2]], np.float32)
    return map.page(TextMap("<b>지도</b>", places, HOSTILE, [0, 1, 1, -1, 0], ["</script>이름", "둘"]))


def parts(html):
    return re.findall(r"<script([^>]*)>(.*?)</script>", html, re.DOTALL)


def test_only_the_script_of_the_policy_can_run():
    html = page()
    (kind, data), (none, script) = parts(html)
    assert (kind, none) == (' type="application/json" id="data"', "")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in html
    assert "default-src 'none'" in html
    assert "&lt;b&gt;지도&lt;/b&gt;" in html
    assert not re.search(r"https?://", script)
    assert "<" not in data


def test_the_data_are_those_given():
    data = json.loads(parts(page())[0][1])
    positions = np.frombuffer(base64.b64decode(data["positions"]), "<u2").reshape(-1, 2)
    assert positions.tolist() == [[0, 0], [65535, 65535], [32768, 32768], [49151, 16384], [65535, 65535]]
    assert np.frombuffer(base64.b64decode(data["groups"]), "<u2").tolist() == [0, 1, 1, 65535, 0]
    assert data["texts"][0] == HOSTILE[0]
    assert len(data["texts"][4]) <= 200
    assert data["sizes"] == [2, 2]
    assert data["names"][0] == "</script>이름"
    assert [label["group"] for label in data["labels"]] == [0, 1]


def test_the_page_of_topics_shows_texts_as_texts():
    rows = [TopicRow("<i>이름</i>", 1200, "낱말, word", HOSTILE[:2])]
    html = topics.page(TopicPage("<u>file</u>", 1300, 100, rows, [("a", "b", 0.5)], {"2024": [7]}))
    assert parts(html) == []
    for text in (
        "&lt;i&gt;이름&lt;/i&gt;",
        "&lt;u&gt;file&lt;/u&gt;",
        "1,200",
        "100 texts are below",
        "0.500",
        "2024",
    ):
        assert text in html
    assert "Every text has a topic" in topics.page(TopicPage("f", 1, 0, rows, [], None))
