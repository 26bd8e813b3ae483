"""A bar on a terminal; elsewhere a line in the log every half minute, with the time that is left."""

from __future__ import annotations

import logging

import pytest

from sbert.disk import progress
from sbert.disk.progress import Progress


class Clock:
    """A clock that the test winds."""

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
