"""Makes pages of the site of files that were written for the repository.

A page of docs/ that only names a file outside docs/ shows that file: Markdown as it is, a notebook with its outputs.
Links to such files are changed. Links from a page to itself in the other language are left out, because every page of
the site offers its languages. A page that loads anything from another host is a warning, which fails a strict build.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

logger = logging.getLogger("mkdocs.plugins.site")
ROOT = Path(__file__).parents[2]
PAGES = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "examples/tour.ipynb": "tour.md",
}
PICTURES = {"benchmarks/results/encode.png": "pictures/encode.png"}
_FILE = {page: path for path, page in PAGES.items()}
_OTHER_LANGUAGE = re.compile(r"^\[(?:English|한국어)\]\([\w.-]+\.md\)\n+", re.MULTILINE)
_FOREIGN = re.compile(r"""<(?!a\b)[^>]*\b(?:src|href|srcset|data)=["']?(?:https?:)?//[^>]*>""")
_ALTERNATE = re.compile(r"<link rel=\"alternate\"[^>]*hreflang[^>]*>\s*")
_ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod):<code>(~?)([\w.]+)</code>")


@event_priority(100)  # before the files are sorted by language
def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Add the pictures from outside docs/."""
    for path, name in PICTURES.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / path)))
    return files


@event_priority(100)
def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Return the text of a page with links that work on the site."""
    if path := _FILE.get(page.file.src_uri):
        text = (ROOT / path).read_text("utf-8")
        markdown = "\n".join(_cells(json.loads(text))) if path.endswith(".ipynb") else text
        markdown = markdown.replace("](docs/", "](").replace("](../docs/", "](")
    for path, name in (PAGES | PICTURES).items():
        markdown = markdown.replace(f"](../{path}", f"]({name}").replace(f"]({path}", f"]({name}")
    return _OTHER_LANGUAGE.sub("", markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Show the roles of docstrings, such as :class:`~sbert.BiEncoder`, as code; a tilde keeps only the last name."""
    return _ROLE.sub(_code, html)


def on_post_page(output: str, *, page: Page, **_: Any) -> str:
    """Warn of scripts, styles, fonts and pictures from other hosts, and see :func:`_without_alternates`."""
    for element in _FOREIGN.findall(output):
        logger.warning("%s loads from another host: %s", page.file.src_uri, element)
    return _without_alternates(output)


def on_post_template(output: str, *, template_name: str, config: MkDocsConfig, **_: Any) -> str:
    """Leave out the sitemap, which consists of full addresses, if the site has none."""
    return "" if template_name == "sitemap.xml" and not config.site_url else _without_alternates(output)


def _without_alternates(html: str) -> str:
    """Remove the links of the head to the other language, because the theme looks for a sitemap at each of them.

    The choice of languages in the header leads to the same page in the other language without one.
    """
    return _ALTERNATE.sub("", html)


def _code(found: re.Match[str]) -> str:
    name = found[2].rpartition(".")[2] if found[1] else found[2]
    return f"<code>{name}</code>"


def _cells(notebook: dict[str, Any]) -> Iterator[str]:
    """Return the cells of a notebook and their outputs as Markdown."""
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        yield f"```python\n{source}\n```\n" if cell["cell_type"] == "code" else f"{source}\n"
        for output in cell.get("outputs", ()):
            yield _output(output.get("data", {"text/plain": output.get("text", "")}))


def _output(data: dict[str, Any]) -> str:
    joined = {kind: "".join(value) for kind, value in data.items() if kind.startswith(("text/", "image/"))}
    if "text/html" in joined:
        return f'<div markdown="0">{joined["text/html"]}</div>\n'
    if "image/png" in joined:
        return f'<img alt="" src="data:image/png;base64,{joined["image/png"].strip()}">\n'
    return f"```text\n{joined['text/plain'].rstrip()}\n```\n"
