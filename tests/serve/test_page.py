"""The page in a real browser: searching, Korean input, filters, the keyboard, both languages, and no errors."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from serverprocess import DOCUMENTS

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
expect.set_options(timeout=30_000)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"]


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
def page(chromium, server, request):
    """The page of the server; every error that the browser reports fails the test."""
    options = {"locale": "en-US", "viewport": {"width": 1200, "height": 800}} | getattr(request, "param", {})
    context = chromium.new_context(**options)
    opened, errors = context.new_page(), []
    opened.refused = []  # what Chromium says about answers that a test asks for on purpose
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("request", lambda sent: sent.url.startswith((server.url, "data:")) or errors.append(sent.url))
    opened.goto(server.url)
    opened.locator('[role="tab"][aria-selected="true"]').wait_for()
    yield opened
    assert [error for error in errors if not any(status in error for status in opened.refused)] == []
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()


def shows(page, hits: int) -> None:
    """Wait until the page shows a number of hits; its policy allows no code from outside that would wait."""
    expect(page.locator("#hits li")).to_have_count(hits)


PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "color_scheme": "dark", "locale": "ko-KR"}


@pytest.mark.parametrize("page", [{}, PHONE], indirect=True, ids=["desktop", "phone"])
def test_search_finds_marks_and_filters(page):
    page.locator("#query").fill("결제를 환불")
    page.locator("#hits li").first.wait_for()
    assert page.locator("#hits li").count() == len(DOCUMENTS)
    page.locator("#mode").select_option("lexical")
    shows(page, 1)
    assert page.locator("#hits mark").all_inner_texts() == ["결제", "환불"]
    page.locator("#mode").select_option("vector")
    shows(page, len(DOCUMENTS))
    page.locator("#hits button", has_text="lang: ko").first.click()
    shows(page, 2)
    assert page.locator("#filter").input_value() == '`lang` = "ko"'
    page.refused.append("400 (Bad Request)")
    page.locator("#filter").fill("lang =")
    page.locator("#filter").press("Enter")
    page.locator("#summary.error").wait_for()


def test_more_like_this_and_ranking_again(page):
    page.locator("#query").fill("parcel")
    page.locator("#hits li").first.wait_for()
    page.locator("#hits li", has_text="parcel").get_by_text("More like this").click()
    expect(page.locator("#summary")).to_contain_text("similar to delivery")
    assert page.locator("#hits li").count() == len(DOCUMENTS) - 1
    page.locator("#rerank").check()
    shows(page, len(DOCUMENTS))


def test_korean_input_waits_for_whole_syllables(page):
    asked = []
    page.on("request", lambda sent: asked.append(sent.post_data_json["query"]) if "/search" in sent.url else None)
    page.locator("#query").click()
    devtools = page.context.new_cdp_session(page)
    for part in ("ㄱ", "겨", "결", "결ㅈ", "결제"):
        devtools.send(
            "Input.imeSetComposition", {"text": part, "selectionStart": len(part), "selectionEnd": len(part)}
        )
        page.wait_for_timeout(40)
    page.wait_for_timeout(400)
    assert asked == []
    devtools.send("Input.insertText", {"text": "결제"})
    page.locator("#hits li").first.wait_for()
    assert asked == ["결제"]


def test_the_keyboard_is_enough(page):
    assert page.evaluate("document.activeElement.id") == "query"
    page.keyboard.type("money")
    page.keyboard.press("Enter")
    page.locator("#hits li").first.wait_for()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('#hits') !== null")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "query"
    page.locator("#tab-search").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-compare"
    assert page.locator("#compare").is_visible()
    page.keyboard.press("End")
    assert page.locator("#status").is_visible()
    page.locator("#tiles dd").first.wait_for()
    assert page.locator("#models tbody tr").count() == 4


def test_everything_has_a_name_in_both_languages(page):
    unnamed = """[...document.querySelectorAll('button, input, select, textarea, [role], iframe')].filter((one) =>
      !(one.textContent.trim() || one.ariaLabel || one.title || one.labels?.length || one.matches('[role=status]')
        || one.matches('[aria-labelledby], [role=search]'))).map((one) => one.outerHTML)"""
    assert page.evaluate(unnamed) == []
    page.locator("#language").click()
    assert page.evaluate("document.documentElement.lang") == "ko"
    assert page.locator("#tab-search").inner_text() == "검색"
    assert page.evaluate(unnamed) == []
    page.reload()
    page.locator('[role="tab"][aria-selected="true"]').wait_for()
    assert page.locator("#tab-compare").inner_text() == "비교"


def test_sentences_are_compared(page, bi):
    page.locator("#tab-compare").click()
    page.locator("#sentences").fill("비가 온다.\nrain\n고양이")
    page.locator("#compare-form button").click()
    page.locator("#heat td").nth(4).wait_for()
    vectors = bi.encode(["비가 온다.", "rain", "고양이"], normalize_embeddings=True)
    shown = page.locator("#heat tbody td").all_inner_texts()
    assert [float(value) for value in shown] == pytest.approx((vectors @ vectors.T).ravel().tolist(), abs=0.0051)
    page.locator("#sentences").fill("one")
    page.locator("#compare-form button").click()
    page.locator("#compare-note.error").wait_for()


def test_documents_are_added_and_deleted(page):
    page.locator("#tab-documents").click()
    page.locator("#new-texts").fill("<b>세금</b> 계산서")
    page.locator("#new-id").fill("세금/1")
    page.locator("#new-metadata").fill('{"lang": "ko"}')
    page.locator("#add button").click()
    expect(page.locator("#documents-note")).to_contain_text("1 added")
    page.locator("#tab-search").click()
    page.locator("#mode").select_option("lexical")
    page.locator("#query").fill("세금")
    page.locator("#hits li").first.wait_for()
    assert page.locator("#hits p").inner_text() == "<b>세금</b> 계산서"
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator("#hits button", has_text="Delete").click()
    shows(page, 0)


def test_the_example_in_javascript_runs(page, server):
    example = (
        (Path(__file__).parents[2] / "docs" / "serving.md").read_text("utf-8").split("```js\n")[1].split("```")[0]
    )
    code = example.replace("http://127.0.0.1:8080", server.url)
    assert page.evaluate(f"async () => {{ {code}; return hits.length; }}") == 3


def test_the_api_is_shown(page, server):
    page.goto(f"{server.url}/docs")
    page.locator(".route").first.wait_for()
    page.locator(".route", has_text="/v1/embeddings").locator("summary").click()
    assert "encoding_format" in page.locator(".route[open] pre").first.inner_text()


def test_a_key_is_asked_for(chromium, guarded):
    context = chromium.new_context(locale="en-US")
    page = context.new_page()
    page.goto(guarded.url)
    page.locator("#key").fill("reader-0123456789abcdef")
    page.locator("#key-dialog button.main").click()
    page.locator("#tab-search").wait_for()
    expect(page.locator("#tab-documents")).to_be_hidden()
    page.locator("#query").fill("결제")
    page.locator("#hits li").first.wait_for()
    assert page.locator("#hits button", has_text="Delete").count() == 0
    context.close()
