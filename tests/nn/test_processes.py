"""Worker processes that die, hang or fail, and the same vectors from any number of them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from sbert import BiEncoder
from sbert.errors import BadInput, SbertError, TextTooLong, WorkersLost
from sbert.nn.processes import Setup, in_processes

TESTS = Path(__file__).parent


@pytest.fixture
def setup(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(TESTS))
    return Setup(import_module("worker_that_dies").prepared, (str(tmp_path),), timeout=60)


def test_lost_work_is_done_again_and_reported(setup):
    items = [("once", "하나"), ("just", "둘"), ("just", "셋")]
    events = list(in_processes(setup, 2, iter(items)))
    assert sorted(event.value for event in events if event.kind == "done") == ["둘 끝", "셋 끝", "하나 끝"]
    (lost,) = [event for event in events if event.kind == "lost"]
    assert lost.item == ("once", "하나")
    assert lost.value == "a worker process was killed, as the system also does when memory runs out"
    assert Counter(event.kind for event in events)["progress"] == 3


def test_what_ends_a_call(setup, tmp_path):
    with pytest.raises(BadInput, match="kind is '가', but must be one of 'a'"):
        list(in_processes(setup, 1, [("raise", "가")]))
    with pytest.raises(WorkersLost, match=r"3 worker processes were lost .* exit code 3"):
        list(in_processes(setup, 1, [("die", "")]))
    hangs = Setup(setup.prepare, setup.arguments, timeout=1.5)
    first, *_, last = in_processes(hangs, 1, [("hang", "x")])
    assert (first.kind, first.value) == ("lost", "a worker process reported nothing for 1.5 s and was ended")
    assert (last.kind, last.value) == ("done", "x 끝")


def test_workers_end_with_their_caller():
    code = (
        "import sys, time; from sbert.nn.processes import Setup, in_processes; import worker_that_dies as t\n"
        "for event in in_processes(Setup(t.prepared, ('.',)), 1, [('just', 1), ('hang', 'never')]):\n"
        "    print(event.kind, flush=True)"
    )
    environment = {**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parents[1] / 'src'}"}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment, text=True) as main:
        assert [main.stdout.readline() for _ in range(2)] == ["progress\n", "done\n"]
        children = Path(f"/proc/{main.pid}/task/{main.pid}/children")
        if not children.exists():
            main.kill()
            pytest.skip("the system does not tell which processes are children")
        (child,) = children.read_text().split()
        main.kill()
    Path("never").unlink(missing_ok=True)
    deadline = time.monotonic() + 30
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{child}").exists()


def test_vectors_of_processes_equal_those_of_one(tiny_folder, sentences, monkeypatch, caplog):
    monkeypatch.setattr("sbert.models.encoding._TEXTS_AT_ONCE", 13)
    model = BiEncoder.from_pretrained(tiny_folder("bert"))
    expected = model.encode(sentences)
    caplog.clear()
    assert np.array_equal(model.encode(sentences, workers=2), expected)
    (warning,) = caplog.messages
    assert warning.startswith("1 of 60 texts truncated at 128 tokens")
    assert model.encode([], workers=2).shape == (0, 32)
    with pytest.raises(TextTooLong):
        model.encode(sentences, workers=2, on_truncate="raise")
    with pytest.raises(SbertError, match="workers is 0, but must be at least 1"):
        model.encode(sentences, workers=0)
