"""Fills the HTML and SVG templates. Every value is escaped unless it is markup made here."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sbert.disk.machine import version
from sbert.text import display


def render(template: str, **context: Any) -> Markup:
    """Fill a template from ``pages/templates``. Halves of surrogate pairs, as in names of files, are escaped.

    >>> str(render("charts/figure.svg", name="1 < 2", width=10, height=5)).split("</figcaption>")[0]
    '<figure><figcaption>1 &lt; 2'
    """
    page = _environment().get_template(template).render(context)
    return Markup(page.encode(errors="backslashreplace").decode())


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("sbert.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"figure": display.figure, "signed": display.signed, "shorten": display.shorten}
    environment.globals |= {"version": version("sbert"), "today": date.today}
    environment.tests["korean"] = re.compile("[가-힣]").search
    return environment
