"""A picture that is one, and a page that needs nothing else."""

from __future__ import annotations

import base64
import html
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.image import imread

from sbert.pages.training import draw, smoothed

METRICS = [
    *({"step": step, "loss": 1 / step, "tokens": 10, "rows_per_second": 5.0} for step in range(1, 21)),
    {"step": 10, "spearman": 71.25, "pearson": 70.0},
    {"step": 20, "spearman": 73.5, "pearson": 72.0},
]
FACTS = {
    "config": {"output_dir": "runs/한국어 <실험>", "freeze": ["<b>"], "epochs": 1},
    "steps": 12345,
    "data": [{"name": "KorNLI <훈련> & 검증", "rows": 942854}],
}


@pytest.mark.parametrize("metrics", [METRICS, METRICS[:20], METRICS[20:], []])
def test_the_picture_is_one(tmp_path, metrics):
    draw(tmp_path, metrics, FACTS)
    picture = imread(tmp_path / "curve.png")
    assert picture.shape[:2] == (468, 1040)
    assert np.ptp(picture[..., :3]) > 0.5  # something is drawn


def test_the_picture_shows_the_figures(tmp_path):
    draw(tmp_path, METRICS, FACTS)
    first = (tmp_path / "curve.png").read_bytes()
    draw(tmp_path, METRICS, FACTS)
    assert (tmp_path / "curve.png").read_bytes() == first
    draw(tmp_path, METRICS[:-1], FACTS)
    assert (tmp_path / "curve.png").read_bytes() != first


def test_the_page_needs_nothing_else(tmp_path):
    folder = tmp_path / "한국어 <실험> & 둘"
    folder.mkdir()
    draw(folder, METRICS, FACTS)
    page = (folder / "run.html").read_text(encoding="utf-8")
    picture = re.search(r'src="data:image/png;base64,([^"]+)"', page)
    assert picture is not None
    assert base64.b64decode(picture[1]) == (folder / "curve.png").read_bytes()
    rest = page.replace(picture[1], "")
    assert "http" not in rest
    assert not re.search(r"(src|href)=\"(?!data:)", rest)
    assert "<title>한국어 &lt;실험&gt; &amp; 둘</title>" in page
    assert "12,345 steps over KorNLI &lt;훈련&gt; &amp; 검증 (942,854 rows)." in page
    assert html.escape('["<b>"]') in page
    assert "<b>" not in page
    assert "<th>spearman</th>" in page
    assert "<td>10</td><td>71.25</td><td>70</td>" in page


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30))
def test_smoothing_stays_within_what_it_smooths(values):
    means = smoothed(values)
    assert len(means) == len(values)
    assert means[0] == pytest.approx(values[0], abs=1e-6)
    for end, mean in enumerate(means, 1):
        assert min(values[:end]) - 1e-5 <= mean <= max(values[:end]) + 1e-5
