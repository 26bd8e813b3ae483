"""Reads a page as a browser does, and refuses one that loads or runs anything."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_VOID = {"meta", "br"}


class Reader(HTMLParser):
    """The tags, attributes and texts of a page. Fails where tags do not close in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in _VOID:
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts[self.open[-1]][-1] += data

    def count(self, kind: str) -> int:
        """Number of elements of a class."""
        return self.attributes.count(("class", kind))


def read(html: str) -> Reader:
    """Read a page that must need nothing but itself."""
    page = Reader(html)
    assert not {"script", "link", "img", "iframe", "object", "embed", "a", "base", "form"} & set(page.tags)
    names = {name for name, _ in page.attributes}
    assert not {"src", "href", "srcset", "xlink:href", "style"} & names
    assert not [name for name in names if name.startswith("on")]
    assert not re.search(r"https?:|//|url\(|@import", html.replace("</", ""))
    assert len(re.findall('<!DOCTYPE html>\n<html lang="(?:en|ko)">', html)) == 1
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'\"" in html
    assert "prefers-color-scheme: dark" in html
    return page
