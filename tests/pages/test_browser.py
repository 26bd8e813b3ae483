"""The map in a real browser: points are drawn, texts appear under the pointer, and searching highlights them.

`make browser` installs Chromium where the packages of Debian are; without a browser the tests are skipped.
"""

from __future__ import annotations

import io
import shutil

import numpy as np
import pytest

from sbert.pages import map
from sbert.pages.records import TextMap

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"]
OPTIONS += ["--disable-component-update", "--disable-sync"]
TEXTS = ["비가 온다", "The weather is fine", "축구 경기", "</script><b>", "피아노 연주회"]
PLACES = [[-0.8, -0.8], [0.8, -0.8], [0.0, 0.0], [-0.8, 0.8], [0.8, 0.8]]


@pytest.fixture(scope="module")
def chromium():
    library = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium; install it with: make browser")
    with library.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium, tmp_path, request):
    """Open the map, and fail on every error that the browser reports."""
    width, height, scheme = getattr(request, "param", (1200, 800, "light"))
    path = tmp_path / "지도.html"
    texts = TextMap("지도: 5 texts", np.array(PLACES), TEXTS, [0, 0, 1, -1, 2], ["날씨", "운동", "음악"])
    path.write_text(map.page(texts), "utf-8")
    size = {"width": width, "height": height}
    context = chromium.new_context(viewport=size, color_scheme=scheme, has_touch=width < 500)
    page = context.new_page()
    errors = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_timeout(300)
    yield page
    assert errors == []
    context.close()


def point(page, place):
    """Return where a point of the map lies on the screen."""
    box = page.locator("#stage").bounding_box()
    side = min(box["width"], box["height"]) * 0.94
    x, y = place
    return box["x"] + box["width"] / 2 + x / 2 * side, box["y"] + box["height"] / 2 + y / 2 * side


def colours(page):
    """Return how many pixels of the map differ from its corner."""
    from PIL import Image

    shot = Image.open(io.BytesIO(page.locator("#stage").screenshot())).convert("RGB")
    pixels = np.asarray(shot).astype(int)
    return int((np.abs(pixels - pixels[8, 8]).sum(axis=2) > 60).sum())


@pytest.mark.parametrize("opened", [(1200, 800, "light"), (1200, 800, "dark"), (390, 844, "light")], indirect=True)
def test_points_are_drawn_and_show_their_texts(opened):
    assert colours(opened) > 200
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for place, text in zip(PLACES, TEXTS, strict=True):
        opened.mouse.move(*point(opened, place))
        opened.wait_for_timeout(60)
        assert opened.locator("#tip").is_visible()
        assert text in opened.locator("#tip").inner_text()
    opened.mouse.move(*point(opened, (0.4, 0.0)))
    opened.wait_for_timeout(60)
    assert not opened.locator("#tip").is_visible()


def test_searching_highlights(opened):
    before = colours(opened)
    opened.keyboard.press("/")
    opened.keyboard.insert_text("비가")
    opened.wait_for_timeout(100)
    assert opened.locator("#status").inner_text() == "1 of 5"
    assert colours(opened) < before
    opened.mouse.move(*point(opened, PLACES[2]))
    opened.wait_for_timeout(60)
    assert not opened.locator("#tip").is_visible()  # it does not match


def test_a_group_is_shown_alone_and_the_map_moves(opened):
    opened.locator("#legend button", has_text="음악 (1)").click()
    opened.wait_for_timeout(60)
    opened.mouse.move(*point(opened, PLACES[0]))
    opened.wait_for_timeout(60)
    assert not opened.locator("#tip").is_visible()
    opened.locator("#legend button", has_text="음악 (1)").click()
    x, y = point(opened, (0.4, 0.0))
    opened.mouse.move(x, y)
    opened.mouse.down()
    opened.mouse.move(x - 60, y, steps=4)
    opened.mouse.up()
    opened.wait_for_timeout(60)
    left, top = point(opened, PLACES[2])
    opened.mouse.move(left - 60, top)
    opened.wait_for_timeout(60)
    assert "축구 경기" in opened.locator("#tip").inner_text()
    opened.locator("#home").click()
    opened.mouse.move(left, top)
    opened.wait_for_timeout(60)
    assert "축구 경기" in opened.locator("#tip").inner_text()
    opened.mouse.wheel(0, -400)
    opened.wait_for_timeout(60)
    assert "축구 경기" in opened.locator("#tip").inner_text()  # the zoom keeps the place under the pointer


def test_many_points_are_drawn(chromium, tmp_path):
    count = 100_000
    places = np.random.default_rng(0).uniform(-1, 1, (count, 2))
    path = tmp_path / "많은 점.html"
    texts = TextMap("점", places, [f"글 {row}" for row in range(count)], [0] * count, ["모두"])
    path.write_text(map.page(texts), "utf-8")
    page = chromium.new_page()
    page.goto(path.as_uri())
    page.wait_for_timeout(500)
    assert colours(page) > 50_000
    page.locator("#find").fill("글 99999")
    page.wait_for_timeout(200)
    assert page.locator("#status").inner_text() == "1 of 100,000"
    page.close()
