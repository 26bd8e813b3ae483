"""Shows the roles of docstrings, such as :class:`~sbert.BiEncoder`, as plain code on the pages of the site."""

from __future__ import annotations

import re
from typing import Any

_ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod):<code>(~?)([\w.]+)</code>")


def on_page_content(html: str, **_: Any) -> str:
    """Replace the roles on a page; a tilde keeps only the last name, as in Sphinx."""
    return _ROLE.sub(_code, html)


def _code(found: re.Match[str]) -> str:
    name = found[2].rpartition(".")[2] if found[1] else found[2]
    return f"<code>{name}</code>"
