"""A run that is asked to end says at once that it heard."""

from __future__ import annotations

import logging
import os
import signal

import pytest

from sbert.train.stop import stop_request


@pytest.mark.skipif(os.name != "posix", reason="no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_answered_at_once(number, caplog):
    before = signal.getsignal(number)
    with caplog.at_level(logging.INFO), stop_request() as stop:
        assert not stop.is_set()
        signal.raise_signal(number)
        assert stop.is_set()
        assert [record.message.partition(",")[0] for record in caplog.records] == ["stopping after this step"]
        assert signal.getsignal(number) == before  # the second one acts as usual
