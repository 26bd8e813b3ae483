"""Two real processes that train one model learn what one process learns from the same batches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from sbert.errors import BadInput
from sbert.train import trainer
from sbert.train.distributed import Team

HERE = Path(__file__).parent
RUNS = {
    "info_nce": {"loss": "info_nce", "batch_size": 8, "mini_batch_tokens": 60},
    "softmax": {"loss": "softmax", "batch_size": 8, "evaluate": True, "eval_steps": 5},
    "cosine_mse": {"loss": "cosine_mse", "batch_size": 6, "gradient_accumulation_steps": 2, "epochs": 4},
    "one-text-twice": {"loss": "cosine_mse", "batch_size": 1, "sampler": "shuffled"},
    "resumed": {"loss": "softmax", "batch_size": 8, "interrupt_at": 3, "dropout": 0.0},
}


@given(st.lists(st.integers(2, 128), min_size=1, max_size=40), st.integers(1, 5))
def test_every_row_has_a_process_and_every_process_a_row(lengths, size):
    shares = Team(0, size).shares(np.array(lengths))
    assert len(shares) == size
    assert min(map(len, shares)) >= 1
    rows = np.concatenate(shares)
    assert set(rows.tolist()) == set(range(len(lengths)))
    if len(lengths) >= size:
        assert len(rows) == len(lengths)  # none twice
        loads = [sum(lengths[row] for row in share) for share in shares]
        assert max(loads) - min(loads) <= max(lengths)


def test_alone():
    team = Team.join()
    assert (team.rank, team.size, team.leads) == (0, 1, True)
    vectors = torch.randn(3, 2, requires_grad=True)
    assert torch.equal(team.gather(vectors, team.shares(np.array([2, 9, 5]))), vectors[[2, 0, 1]])
    assert team.agree(lambda: "결정") == "결정"
    with pytest.raises(BadInput, match="so"):
        team.agree(refuse)


def refuse() -> None:
    raise BadInput("so")


@pytest.fixture
def both(spec) -> dict[str, tuple[Path, Path]]:
    """Every run on paper twice: for one process, and for two."""
    # AdamW turns rounding of a gradient near zero into whole steps, so these are small.
    settings = {"epochs": 2, "max_steps": 8, "checkpoint_steps": 100, "learning_rate": 2e-5}
    return {
        name: tuple(spec(f"{name}-{size}", **{**settings, **run})[0] for size in (1, 2)) for name, run in RUNS.items()
    }


def together(paths: list[Path]) -> None:
    """Do these runs in two processes."""
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1] / "src"), "OMP_NUM_THREADS": "1"}
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*torchrun, str(HERE / "program.py"), "run", *map(str, paths)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr[-4000:]


def test_two_processes_learn_what_one_does(both, same, program, monkeypatch):
    monkeypatch.setattr(trainer, "draw", lambda folder, metrics, facts: None)
    for alone, _ in both.values():
        program.run(alone)
    together([pair for _, pair in both.values()])
    for name, (alone, pair) in both.items():
        expected, first, second = (
            json.loads(path.with_suffix(f".{rank}.json").read_text())
            for path, rank in ((alone, 0), (pair, 0), (pair, 1))
        )
        assert len(expected) >= 6, name
        assert first == second, name
        assert first.keys() == expected.keys(), name
        for step, (loss, gradient) in expected.items():
            assert first[step] == [pytest.approx(loss, abs=1e-5), pytest.approx(gradient, rel=1e-3)], (name, step)
        ours, leader, other = (
            load_file(path.with_suffix(f".{rank}.safetensors")) for path, rank in ((alone, 0), (pair, 0), (pair, 1))
        )
        same(leader, other)  # to the bit
        assert ours.keys() == leader.keys(), name  # the pooler has no gradient, and gets no memory of one
        for tensor in ours:
            torch.testing.assert_close(leader[tensor], ours[tensor], atol=5e-5, rtol=1e-3, msg=f"{name}: {tensor}")
