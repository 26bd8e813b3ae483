"""The page about losses: its code runs, and its table is the catalog."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sbert.losses import OBJECTIVES

PAGE = (Path(__file__).parents[2] / "docs" / "losses.md").read_text(encoding="utf-8")


def test_the_code_runs():
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 3
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)  # one after another, as a reader would


@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_table_states_every_option_and_its_default(name):
    objective = OBJECTIVES[name]
    (row,) = re.findall(rf"^\| `{name}` \|.*$", PAGE, re.MULTILINE)
    code = re.findall(r"`([^`]*)`", row)[1].replace("\\", "")
    assert code.startswith(objective.loss.__name__)
    stated = re.findall(r"(\w+)=", code)
    assert stated == list(objective.options)
    for option, default in objective.options.items():
        assert f"{option}={default!r}".replace("'", '"') in code
