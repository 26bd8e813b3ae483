"""Worker processes: the bytes of one process, also if workers and the main process are killed, and Ctrl-C."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from sbert.bulk import Running, Settings, embed_files, verify_shards

from .conftest import contents

ROOT = Path(__file__).parents[2]


@pytest.fixture
def kills():
    """The proof of fifty kills, of which the tests take parts."""
    described = importlib.util.spec_from_file_location("bulk_kills", ROOT / "proofs" / "bulk_kills.py")
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_a_killed_worker_a_killed_job_and_ctrl_c_leave_what_goes_on(folder, bi, kills, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    kills.write_input(folder, 6000)  # enough that the job still works when it is interrupted
    settings, running = Settings(id="key", rows_per_shard=40), Running(workers=2)
    embed_files(["a.jsonl", "b.jsonl"], "one", model=bi, settings=settings)
    start = kills.command(folder, "out", bi, "--workers", "2")

    def when(shards: int, job: subprocess.Popen[str]) -> None:
        while len(contents("out")) < shards:
            assert job.poll() is None, job.stderr.read()
            time.sleep(0.005)

    with subprocess.Popen(start, stderr=subprocess.PIPE, text=True) as job:
        when(3, job)
        assert kills.kill_worker(job, "")
        when(8, job)
        job.send_signal(signal.SIGINT)
        _, said = job.communicate()
    assert (job.returncode, said.splitlines()[-1]) == (130, "interrupted")
    assert "is embedded again, because a worker process was killed" in said
    with subprocess.Popen(start, stderr=subprocess.PIPE, text=True) as job:
        when(max(14, len(contents("out")) + 3), job)
        job.kill()
        job.communicate()
    before = len(Path("out/shards.jsonl").read_text(encoding="utf-8").splitlines())
    assert 0 < before < 150
    embed_files(["a.jsonl", "b.jsonl"], "out", model=bi, settings=settings, running=running)
    kills.check(folder / "out", contents("one"))
    assert verify_shards("out").equal == 100


@pytest.mark.skipif(os.geteuid() != 0 if hasattr(os, "geteuid") else True, reason="only root can mount a small disk")
def test_a_full_disk(folder, bi, kills):
    disk = folder / "small"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(disk)], capture_output=True).returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        kills.write_input(folder, 1500)
        settings = Settings(id="key", rows_per_shard=40)
        embed_files(["a.jsonl", "b.jsonl"], "one", model=bi, settings=settings)
        with pytest.raises(OSError, match=r"could not be written .No space left on device"):
            embed_files(["a.jsonl", "b.jsonl"], disk / "out", model=bi, settings=settings)
        assert 0 < len(contents(disk / "out")) < 38
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        embed_files(["a.jsonl", "b.jsonl"], disk / "out", model=bi, settings=settings)
        kills.check(disk / "out", contents("one"))
    finally:
        subprocess.run(["umount", str(disk)], check=True)
