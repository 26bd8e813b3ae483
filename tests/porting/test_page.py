"""The page about coming from sentence-transformers: it is what the table says, and its code runs."""

from __future__ import annotations

import re
from pathlib import Path

import sbert
from sbert.porting import sections
from sbert.porting.page import markdown

PAGE = (Path(__file__).parents[2] / "docs" / "from-sentence-transformers.md").read_text(encoding="utf-8")


def test_the_page_is_what_the_table_says():
    assert markdown() == PAGE, "run `make mapping`"


def test_every_row_of_the_table_is_on_the_page():
    assert PAGE.count("| works |") + PAGE.count("| refused |") + PAGE.count("| – |") == sum(
        map(len, sections().values())
    )


def test_the_code_runs():
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(block, {})


def test_what_the_table_names_exists():
    """Dotted names of sbert in the answers are importable, so that no answer is a dead end."""
    texts = " ".join(found.text for rows in sections().values() for found in rows.values())
    names = set(re.findall(r"\bsbert((?:\.\w+)+)", texts)) - {".adapters.sentence_transformers"}
    assert len(names) > 20
    for name in names:
        found: object = sbert
        for part in name.strip(".").split("."):
            found = getattr(found, part, None) or __import__(f"{found.__name__}.{part}", fromlist=[part])
