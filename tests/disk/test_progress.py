"""A bar on a terminal and in a notebook; elsewhere a line every half minute, with the remaining time."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from sbert.disk import progress
from sbert.disk.progress import Progress

SOURCE = str(Path(progress.__file__).parents[2])
# Every unit takes ten seconds of a clock that the program sets itself.
PROGRAM = """
import logging, sys
from sbert.disk import progress
clock = [100.0]
progress.time = type("Clock", (), {"monotonic": staticmethod(lambda: clock[0])})
with progress.Progress(6, "texts", show=True) as bar:
    for _ in range(6):
        clock[0] += 10
        bar.add(1)
"""


class Clock:
    """A clock that the test sets."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def test_a_log_line_every_half_minute(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), Progress(4000, "tokens", show=True) as bar:
        for clock.now in (110.0, 140.0, 150.0, 180.0):
            bar.add(1000)
    assert [record.message for record in caplog.records] == [
        "2,000 of 4,000 tokens, 40 s to go",
        "4,000 of 4,000 tokens, 0 s to go",
    ]


def test_no_time_is_told_where_it_would_be_false(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), Progress(7, "jobs", show=True, equal=False) as bar:
        clock.now += 40
        bar.add(2, "table1: 평균")
    assert [record.message for record in caplog.records] == ["2 of 7 jobs; table1: 평균"]


def test_silence_unless_asked(
    clock: Clock, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.INFO), Progress(10, "tokens", show=False) as bar:
        clock.now += 100
        bar.add(10)
    assert not caplog.records
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("setting", "prefix"),
    [
        ("", ""),  # no logging at all
        ("import logging; logging.basicConfig()", ""),  # warnings only, but the lines were asked for
        ("import logging; logging.basicConfig(level='INFO')", "INFO:sbert.disk.progress:"),
    ],
)
def test_lines_in_a_file(tmp_path: Path, setting: str, prefix: str) -> None:
    log = tmp_path / "log"
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    with log.open("w") as stderr:
        subprocess.run([sys.executable, "-c", setting + PROGRAM], env=environment, stderr=stderr, check=True)
    assert log.read_text(encoding="utf-8").splitlines() == [
        f"{prefix}3 of 6 texts, 30 s to go",
        f"{prefix}6 of 6 texts, 0 s to go",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_a_bar_on_a_terminal() -> None:
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    with subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, stderr=theirs) as process:
        assert process.wait(60) == 0
        os.close(theirs)
        shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert "6/6" in shown
    assert "to go" not in shown


def test_a_bar_in_a_notebook(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(config={"IPKernelApp": {}}))
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    with Progress(6, "texts", show=True) as bar:
        bar.add(6)
    assert "6/6" in capsys.readouterr().err
