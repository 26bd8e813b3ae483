"""Tables keep their columns in any script."""

from __future__ import annotations

import pytest

from sbert.cli import show


def test_wide_letters_are_not_wrapped(capsys: pytest.CaptureFixture[str]):
    headings, rows = ["이름이 긴 열", "라벨", "text"], [["대한민국의 수도", "함의", "긴 글 " * 60], ["a", "b", "c"]]
    show.table(headings, rows)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[1].startswith("대한민국의 수도  함의  긴 글 긴 글")
