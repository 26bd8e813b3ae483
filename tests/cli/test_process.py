"""The command as a process: exit codes, streams and signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from commandline import ENVIRONMENT, process

# The process interrupts itself, as a user would, at a moment that no clock could hit.
INTERRUPTED = """
import os, signal, sys
import numpy as np
from sbert.cli.main import main
from sbert.nn.transformer import Transformer
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with SIGINT ignored
moment, sys.argv = sys.argv[1], ["sbert", *sys.argv[2:]]
header, forward = np.lib.format.write_array_header_1_0, Transformer.forward
def half(file, facts):
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGINT)
    header(file, facts)
calls = []
def interrupted(self, batch):
    calls.append(batch)
    if len(calls) == 5:
        os.kill(os.getpid(), signal.SIGINT)
    return forward(self, batch)
if moment == "write":
    np.lib.format.write_array_header_1_0 = half
else:
    Transformer.forward = interrupted
main()
"""

# The same, while the command is still being loaded.
INTERRUPTED_AT_ONCE = """
import os, signal, sys
from sbert.cli import start
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with SIGINT ignored
class Finder:
    def find_spec(self, name, *_):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
start()
"""


def test_streams_and_exit_codes(tiny_folder):
    model = str(tiny_folder("bert"))
    done = process("encode", "-", "-o", "-", "-m", model, stdin="고양이\n개\n")
    assert done.returncode == 0
    assert [json.loads(line)["text"] for line in done.stdout.splitlines()] == ["고양이", "개"]
    done = process("search", "없음.txt", "무엇", "-m", model)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: there is no file '없음.txt'; check the name; the order is sbert search FILE QUERY\n"
    )
    assert process("search").returncode == 2


@pytest.mark.skipif(os.name != "posix", reason="no such signals")
@pytest.mark.parametrize("moment", ["encode", "write"])
def test_interrupt_leaves_nothing_behind(tmp_path, tiny_folder, moment):
    (tmp_path / "문장.txt").write_text("\n".join(f"문장 {row}" for row in range(3000)), encoding="utf-8")
    arguments = ["encode", str(tmp_path / "문장.txt"), "-o", str(tmp_path / "a.npy"), "-m", str(tiny_folder("bert"))]
    done = process(moment, *arguments, start=["-c", INTERRUPTED])
    assert done.returncode == 130
    assert done.stderr == "interrupted\n"
    assert os.listdir(tmp_path) == ["문장.txt"]


@pytest.mark.skipif(os.name != "posix", reason="no such signals")
def test_interrupt_before_anything_is_loaded():
    done = process("info", start=["-c", INTERRUPTED_AT_ONCE])
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="no such signal")
def test_a_reader_that_leaves_is_no_error(tmp_path, tiny_folder):
    (tmp_path / "문장.txt").write_text("\n".join(f"문장 {row}" for row in range(2000)), encoding="utf-8")
    arguments = ["encode", str(tmp_path / "문장.txt"), "-o", "-", "-m", str(tiny_folder("bert"))]
    reading = subprocess.Popen(
        [sys.executable, "-m", "sbert", *arguments], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert reading.stdout is not None
    assert reading.stderr is not None
    assert json.loads(reading.stdout.readline())["text"] == "문장 0"
    reading.stdout.close()
    errors = reading.stderr.read()
    reading.stderr.close()
    assert reading.wait() == 1
    assert errors == b""
