"""The heart: a run that was stopped or killed at any instant ends with the same bits as one that was not."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from sbert.train import checkpoint, trainer

KILLS = 20
TRAPS = ["half-a-file", "before-the-disk-has-it", "before-the-rename", "between-two-models", "after-the-rename"]
"""Where to be killed while writing; all but the last leave something half done behind."""

VARIANTS = {
    "plain": {"loss": "softmax"},
    "accumulated": {"loss": "cosine_mse", "gradient_accumulation_steps": 3, "epochs": 60},
    "in parts": {"loss": "info_nce", "mini_batch_tokens": 30, "sampler": "no-duplicates"},
    "evaluated": {"loss": "softmax", "evaluate": True, "eval_steps": 7, "max_grad_norm": 0.1, "schedule": "cosine"},
}


def interrupt_at(step: int) -> trainer.Callback:
    def interrupt(event: trainer.Event) -> None:
        if event.kind == "step" and event.step == step:
            signal.raise_signal(signal.SIGINT)

    return interrupt


def metrics(folder: Path) -> list[dict[str, float]]:
    """What was written down, without what the clock said."""
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [{key: value for key, value in json.loads(line).items() if key != "rows_per_second"} for line in lines]


def half_done(folder: Path) -> list[Path]:
    return [path for path in folder.rglob(".*") if path.parent.name != "model"]


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures take longer than these runs, and nothing is read back from them."""
    monkeypatch.setattr(trainer, "draw", lambda folder, metrics, facts: None)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("variant", VARIANTS)
def test_stopped_and_resumed(variant, program, spec, state, same):
    settings = {"dropout": 0.1, "batch_size": 4, "epochs": 20, "max_steps": 60, "checkpoint_steps": 40}
    settings |= VARIANTS[variant]
    _, straight = spec("straight", **settings)
    expected = program.make(straight)
    result = expected.train()
    assert result.steps == 60
    for stops in [[25], [1, 59]] if variant == "evaluated" else [[25]]:
        _, content = spec(f"멈춤 {stops}", **settings)
        for stop in stops:
            with pytest.raises(KeyboardInterrupt):
                program.make(content, interrupt_at(stop)).train(resume=True)
        resumed = program.make(content)
        again = resumed.train(resume=True)
        same(state(resumed), state(expected))
        assert (again.best_score, again.best_step) == (result.best_score, result.best_step)
        assert metrics(Path(content["config"]["output_dir"])) == metrics(Path(straight["config"]["output_dir"]))


def test_the_comparison_sees_another_seed(program, spec, state):
    first, second = (
        program.make(spec(str(seed), "softmax", dropout=0.1, batch_size=4, epochs=1, seed=seed)[1]) for seed in (1, 2)
    )
    first.train()
    second.train()
    ours, theirs = state(first), state(second)
    assert any(not torch.equal(ours[name], theirs[name]) for name in ours)


def test_dropout_is_on_in_training(program, spec):
    losses = []
    for dropout in (0.0, 0.1):
        _, content = spec(f"dropout-{dropout}", "softmax", dropout=dropout, batch_size=4, max_steps=1)
        program.make(content, lambda event: losses.append(event.values.get("loss"))).train()
    assert losses[0] != losses[2]


def test_killed_at_random_and_in_the_middle_of_writing(nursery, spec, same):
    settings = {"loss": "softmax", "dropout": 0.1, "batch_size": 4, "epochs": 20, "max_steps": 60}
    settings |= {"evaluate": True, "eval_steps": 2, "checkpoint_steps": 3}
    straight, killed = (spec(name, **settings) for name in ("straight", "죽인"))
    expected, folder = (Path(content["config"]["output_dir"]) for _, content in (straight, killed))
    nursery.start(straight[0])
    assert nursery.end()[0] == 0

    chance = random.Random(7)
    moments = [*TRAPS, *["none"] * (KILLS - len(TRAPS))]
    chance.shuffle(moments)
    for trap in moments:
        pid = nursery.start(killed[0], trap)
        if trap == "none":
            for _ in range(chance.randrange(4)):
                assert nursery.read()[0] == "step"
            time.sleep(chance.uniform(0, 0.15))
            os.kill(pid, signal.SIGKILL)
        code, told = nursery.end()
        assert code == -signal.SIGKILL, (trap, told)
        if trap in TRAPS[:-1]:
            assert half_done(folder), trap
    nursery.start(killed[0])
    code, told = nursery.end()
    assert code == 0, told
    assert told[0] != ("step", "1")  # it went on, and did not start anew

    ours, theirs = (checkpoint.newest(run / "checkpoints") for run in (folder, expected))
    assert ours is not None
    assert theirs is not None
    same(ours.tensors, theirs.tensors)
    assert any(name.startswith("objective.") for name in ours.tensors)
    assert ours.facts["position"] == theirs.facts["position"]
    assert metrics(folder) == metrics(expected)
    same(*(load_file(run / "model" / "model.safetensors") for run in (folder, expected)))
    assert half_done(folder) == []
