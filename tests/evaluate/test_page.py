"""The page about evaluation: its code runs, and it names every evaluator and figure there is."""

from __future__ import annotations

import re
from pathlib import Path

from sbert import evaluate

PAGE = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text(encoding="utf-8")


def test_the_code_runs():
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)  # one after another, as a reader would
    assert set(names["figures"]) == {
        f"{kind}_{by}" for kind in ("spearman", "pearson") for by in ("cosine", "dot", "euclidean", "manhattan")
    }
    assert 0 < names["found"].p_value <= 1


def test_every_public_name_is_there():
    assert [name for name in evaluate.__all__ if f"`{name}" not in PAGE and f"evaluate.{name}" not in PAGE] == []


def test_every_evaluator_has_a_row_that_begins_with_what_decides():
    rows = {row[0]: row[1] for row in re.findall(r"^\| `(\w+)\([^|]*\|[^|]*\| (?:`)([^`]+)`", PAGE, re.MULTILINE)}
    records = {"LabelledTexts", "Sample", "Score"}
    kinds = [kind for kind in vars(evaluate).get("__all__") if kind[0].isupper() and kind not in records]
    assert sorted(rows) == sorted(kinds)
    for name, first in rows.items():
        stated = getattr(evaluate, name).primary_metric
        if isinstance(stated, str):  # not of those that depend on how they were made
            assert first == stated
