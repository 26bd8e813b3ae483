"""A picture of the curve that shows the figures, and a page of the run that needs no other file."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.image import imread
from webpage import read

from sbert.pages.records import Run
from sbert.pages.training import for_notebook, page, picture, smoothed

METRICS = [
    *({"step": step, "loss": 1 / step, "tokens": 10, "rows_per_second": 5.0} for step in range(1, 21)),
    {"step": 10, "spearman": 71.25, "pearson": 70.0},
    {"step": 20, "spearman": 73.5, "pearson": 72.0, "accuracy": 50.0},
]
RUN = Run(
    name="한국어 <실험> & 둘",
    step=150,
    steps=12345,
    best_step=20,
    model="모델 <b>",
    loss="info-nce",
    dev="검증.tsv",
    data=[("KorNLI <훈련> & 검증", 942854)],
    settings={"output_dir": "runs/한국어 <실험>", "freeze": ["<b>"], "epochs": 1},
    metrics=METRICS,
)


@pytest.mark.parametrize("metrics", [METRICS, METRICS[:20], METRICS[20:], []])
def test_the_picture_is_one(metrics):
    pixels = imread(io.BytesIO(picture(metrics)))
    assert pixels.shape[:2] == (468, 1040)
    assert np.ptp(pixels[..., :3]) > 0.5  # something is drawn


def test_the_picture_shows_the_figures():
    assert picture(METRICS) == picture(METRICS)
    assert picture(METRICS) != picture(METRICS[:-1])


def test_the_page_needs_nothing_else():
    found = read(page(RUN))
    assert found.texts["title"][0] == "한국어 <실험> & 둘"
    assert found.texts["p"] == [
        "150 of 12,345 steps over KorNLI <훈련> & 검증 (942,854 rows).",
        "Model 모델 <b>, loss info-nce, evaluated on 검증.tsv.",
        "The best spearman is 73.50, after step 20.",
    ]
    assert found.texts["figcaption"] == ["Training loss", "spearman"]
    assert (found.count("faint"), found.count("curve"), found.count("mark")) == (1, 2, 2)
    cells = found.texts["td"]
    assert found.texts["th"] == ["step", "spearman", "pearson", "accuracy", "setting", "value"]
    assert cells[:8] == ["10", "71.25", "70", "", "20", "73.5", "72", "50"]
    assert cells[8:] == ["output_dir", "runs/한국어 <실험>", "freeze", "<b>", "epochs", "1"]


def test_a_complete_run_without_evaluations():
    found = read(page(RUN._replace(step=12345, best_step=0, dev="", metrics=METRICS[:20])))
    assert [text.split(" over")[0] for text in found.texts["p"]] == [
        "12,345 steps",
        "Model 모델 <b>, loss info-nce, not evaluated.",
    ]


@pytest.mark.parametrize("metrics", [METRICS[:20], METRICS[20:], []])
def test_a_page_without_losses_or_scores(metrics):
    assert len(read(page(RUN._replace(metrics=metrics))).texts.get("figure", [])) == bool(metrics)


def test_an_evaluation_without_the_first_score_is_shown():
    found = read(page(RUN._replace(metrics=[*METRICS, {"step": 30, "정확도": 51.0}])))
    assert "51" in found.texts["td"]


def test_a_wide_table_scrolls_instead_of_being_cut():
    scores = {f"score_{number}": 1.0 for number in range(30)}
    html = page(RUN._replace(metrics=[{"step": 1, **scores}]))
    page_read = read(html)
    assert (page_read.count("wide pinned"), page_read.count("wide")) == (1, 1)  # the scores and the settings
    assert ".wide { overflow-x: auto;" in html


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30))
def test_smoothing_stays_within_what_it_smooths(values):
    means = [mean for _, mean in smoothed(list(enumerate(values)))]
    assert len(means) == len(values)
    assert means[0] == pytest.approx(values[0], abs=1e-6)
    for end, mean in enumerate(means, 1):
        assert min(values[:end]) - 1e-5 <= mean <= max(values[:end]) + 1e-5


def test_a_notebook_shows_the_result_and_the_curve():
    curve = picture([{"step": 1, "loss": 2.0}, {"step": 2, "loss": 1.0}])
    html = for_notebook({"steps": 12, "model": "런/<모델>"}, curve)
    assert "<td>steps</td><td>12</td>" in html
    assert "런/&lt;모델&gt;" in html
    encoded = html.split("base64,")[1].split('"')[0]
    assert imread(io.BytesIO(base64.b64decode(encoded))).ndim == 3
    assert "<img" not in for_notebook({"steps": 0}, b"")
