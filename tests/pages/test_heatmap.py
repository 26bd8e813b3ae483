"""The heat map is drawn for any texts; a text that no font can write is shown by its row number."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib import font_manager
from matplotlib.font_manager import fontManager
from matplotlib.image import imread

from sbert.pages import heatmap
from sbert.pages.heatmap import draw

HANGUL = ["대한민국의 수도는 서울이다.", "서울은 대한민국의 수도이다.", "A cat, $5 or $10"]


@pytest.fixture(autouse=True)
def notes(caplog):
    caplog.set_level("INFO", "sbert")


def picture(texts: list[str], measure: str = "cosine") -> np.ndarray:
    vectors = np.random.default_rng(0).normal(size=(len(texts), 16))
    scores = np.corrcoef(vectors).reshape(len(texts), len(texts))
    file = io.BytesIO()
    draw(file, "png", texts, scores * (1 if measure == "cosine" else -30), measure)
    return imread(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize("count", [1, 2, 8, 40, 60, 200])
def test_size_is_sensible(count):
    height, width, _ = picture([f"sentence {row} " * (row % 7) for row in range(count)]).shape
    assert 300 < height < 2200
    assert 300 < width < 3000


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_other_formats(kind):
    file = io.BytesIO()
    draw(file, kind, HANGUL, np.eye(3), "cosine")
    assert file.getvalue()[:5] in (b"<?xml", b"%PDF-")


def test_distances_too():
    assert picture(HANGUL, "euclidean").std() > 0.05


def test_a_text_that_no_font_can_write_shows_its_row(monkeypatch, caplog):
    own = [font for font in fontManager.ttflist if font.name.startswith(("DejaVu", "Last Resort"))]
    monkeypatch.setattr(fontManager, "ttflist", own)
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [])
    labels, family = heatmap._labels(HANGUL)
    assert labels == ["", "", "A cat, $5 or $10"]
    assert family == ["DejaVu Sans"]
    (message,) = caplog.messages
    assert "Hangul" in message
    assert "2 of 3 texts are not shown completely" in message
    picture(HANGUL)  # a warning about a missing glyph would be an error here


def test_a_font_is_found_for_what_the_own_one_lacks(monkeypatch, caplog):
    # Any two fonts show the search; Hangul itself depends on what is installed.
    monkeypatch.setattr(heatmap, "_OWN_FONT", "cmr10")
    labels, family = heatmap._labels(["Привет", "hello"])
    assert labels == ["Привет", "hello"]
    assert family[0] == "cmr10"
    assert len(family) == 2
    assert caplog.messages == []


def test_hangul_is_written_where_a_font_has_it():
    has = [font.fname for font in fontManager.ttflist if "가" in heatmap._characters(font.fname)]
    if not has:
        pytest.skip("no font with Hangul is installed")
    labels, family = heatmap._labels(HANGUL)
    assert labels == HANGUL
    assert len(family) == 2
    picture(HANGUL)


def test_a_font_installed_since_matplotlib_looked_is_found(monkeypatch, caplog):
    cyrillic = font_manager.findfont("DejaVu Sans Mono")
    monkeypatch.setattr(heatmap, "_OWN_FONT", "cmr10")
    monkeypatch.setattr(fontManager, "ttflist", [font for font in fontManager.ttflist if font.name == "cmr10"])
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [cyrillic, __file__])
    labels, family = heatmap._labels(["Привет"])
    assert (labels, family) == (["Привет"], ["cmr10", "DejaVu Sans Mono"])
    assert caplog.messages == []


def test_one_letter_that_no_font_has_is_a_box(monkeypatch, caplog):
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [])
    labels, _ = heatmap._labels(["잔치다! A party! 🎉", "🎉🎉", "quiet"])
    assert labels[0].endswith("A party! □")
    assert labels[1:] == ["", "quiet"]
    assert "2 of 3 texts" in caplog.text


def test_labels_are_short():
    labels, _ = heatmap._labels(["x" * 1000, "line\nbreak"])
    assert labels == ["x" * 43 + "…", "line break"]
