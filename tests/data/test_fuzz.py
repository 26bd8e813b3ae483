"""A short run of the fuzzer: damaged and hostile data files end with rows or with one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COUNT = 200


@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="the memory limit needs Linux")
def test_damaged_files_end_with_rows_or_a_sentence():
    command = [sys.executable, ROOT / "proofs" / "fuzz" / "data.py", "--count", str(COUNT), "--seed", "7"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.stdout.endswith(f"\n{COUNT} passed, 0 failed\n"), run.stdout + run.stderr
    assert run.returncode == 0
