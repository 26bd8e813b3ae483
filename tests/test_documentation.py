"""The documentation is complete: every page and every public name is on the site, and the code of its pages runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

import sbert

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
ROOMS = ("evaluate", "explore", "losses", "bulk", "data", "serve")
RUN = ("tutorial.md", "tutorial.ko.md")


def entries(nav: list[Any]) -> Iterator[tuple[str, str]]:
    """The titles and pages of a navigation; a section has no page, and a page may have no title."""
    for item in nav:
        ((title, content),) = item.items() if isinstance(item, dict) else [("", item)]
        if isinstance(content, str):
            yield title, content
        else:
            yield title, ""
            yield from entries(content)


NAVIGATION = list(entries(SITE["nav"]))


def test_every_page_is_in_the_navigation_once():
    pages = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if not path.match("*.ko.md"))
    assert sorted(page for _, page in NAVIGATION if page) == pages


def test_every_title_has_a_korean_translation():
    (i18n,) = (plugin["i18n"] for plugin in SITE["plugins"] if "i18n" in plugin)
    (korean,) = (language for language in i18n["languages"] if language["locale"] == "ko")
    assert {title for title, _ in NAVIGATION if title} == set(korean["nav_translations"])


@pytest.mark.parametrize("korean", sorted(DOCS.glob("*.ko.md")), ids=lambda path: path.name)
def test_a_page_in_two_languages_links_to_the_other_one(korean):
    english = DOCS / f"{korean.name.removesuffix('.ko.md')}.md"
    assert f"\n\n[한국어]({korean.name})\n\n" in english.read_text("utf-8")
    assert f"\n\n[English]({english.name})\n\n" in korean.read_text("utf-8")


def test_the_reference_has_every_public_name():
    pages = "\n".join(path.read_text("utf-8") for path in DOCS.glob("api-*.md"))
    shown = set(re.findall(r"^::: ([\w.]+)$", pages, re.MULTILINE))
    names = {f"sbert.{name}" for name in sbert.__all__ if name not in ROOMS}
    for room in ROOMS:
        names |= {f"sbert.{room}.{name}" for name in import_module(f"sbert.{room}").__all__}
    assert names - {"sbert.SbertError", "sbert.data.Columns"} <= shown  # as a part of sbert.errors, as sbert.Columns
    for name in shown:
        module, _, attribute = name.rpartition(".")
        assert getattr(import_module(module), attribute, None) or import_module(name)


@pytest.mark.parametrize("page", RUN)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)
    assert len(blocks) > 3
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_the_notebook_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = ROOT / "examples" / "tour.ipynb"
    cells = json.loads(file.read_text("utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(code) > 5
    names: dict[str, Any] = {}
    for number, source in enumerate(code, 1):
        exec(compile(source, f"cell {number}", "exec"), names)


def test_the_notebook_was_run_in_order_and_says_nothing_of_the_machine():
    file = ROOT / "examples" / "tour.ipynb"
    assert file.stat().st_size < 200_000
    cells = [cell for cell in json.loads(file.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = json.dumps([cell["outputs"] for cell in cells], ensure_ascii=False)
    assert '"output_type": "error"' not in outputs
    assert not re.search(r'["\s(](?:/(?:home|root|tmp|usr|work|Users)/|[A-Z]:\\\\)', outputs)
