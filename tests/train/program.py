"""A small training run that can be its own process, built from one JSON file: the same run in every process.

``python program.py serve`` forks one such run for every line it reads, so that twenty of them import torch once;
``python program.py run A.json B.json`` does them one after another, alone or under torchrun.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file

import sbert.disk.files
import sbert.train.trainer
from sbert import BiEncoder, Columns, TrainConfig, Trainer, losses
from sbert.errors import SbertError
from sbert.train import checkpoint
from sbert.train.callbacks import Callback, Event

Spec = dict[str, Any]
INTERRUPTED = 130


class Moved:
    """How far the vectors are from where they began: a score that rises, with some ups and downs."""

    primary_metric = "moved"

    def __init__(self, model: BiEncoder, texts: list[str]) -> None:
        self.texts, self.before = texts, model.encode(texts)

    def __call__(self, model: BiEncoder) -> dict[str, float]:
        return {"moved": float(np.linalg.norm(model.encode(self.texts) - self.before))}


def make(spec: Spec, *callbacks: Callback) -> Trainer:
    """The trainer that ``spec`` describes."""
    model = BiEncoder.from_pretrained(spec["model"])
    train = Columns.of(spec["texts"], spec["labels"])
    torch.manual_seed(spec.get("classifier_seed", 0))
    loss: Any = (
        losses.SoftmaxClassifier(model.embedding_dimension, train.label_names)
        if spec["loss"] == "softmax"
        else getattr(losses, spec["loss"])
    )
    evaluator = Moved(model, next(iter(train.texts.values()))[:8]) if spec.get("evaluate") else None
    config = TrainConfig(**spec["config"])
    return Trainer(model, config, train=train, loss=loss, evaluator=evaluator, callbacks=callbacks)


def main(mode: str, *paths: str) -> None:
    torch.set_num_threads(1)  # so small a model only waits for a second one
    # The picture takes ten times as long as all the rest, and nothing is read back from it.
    sbert.train.trainer.draw = lambda folder, metrics, facts: None
    if mode == "serve":
        serve()
    for path in paths:
        run(Path(path))


def serve() -> None:
    """A child for every line ``SPEC TRAP``, one at a time; tells its pid, its steps and how it ended."""
    import torch._dynamo  # noqa: F401 (an optimizer asks for it, and it takes longer than the run)

    for line in sys.stdin:
        path, trap = line.split()
        pid = os.fork()
        if pid == 0:
            tell(f"pid {os.getpid()}")
            os._exit(live(json.loads(Path(path).read_text(encoding="utf-8")), trap))
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        tell(f"exit {code}")


def live(spec: Spec, trap: str) -> int:
    def report(event: Event) -> None:
        if event.kind == "step":
            tell(f"step {event.step}")
        if trap == "disk-full" and event.kind == "checkpoint":
            limit_files(spec["file_limit"])

    try:
        trainer = make(spec, report)
        set_trap(trap)
        trainer.train(resume=True)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SbertError as error:
        tell(f"error {type(error).__name__}: {error}")
        return 1
    return 0


def tell(line: str) -> None:
    os.write(1, f"{line}\n".encode())  # one write: whole, even where the process is killed next


def limit_files(size: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def set_trap(trap: str) -> None:
    """Be killed at an instant that no clock could hit."""
    if trap == "half-a-file":
        checkpoint.save_file = half(checkpoint.save_file)
    elif trap == "before-the-disk-has-it":
        checkpoint.sync = lambda path: die()
    elif trap == "before-the-rename":
        Path.replace = deadly(Path.replace, lambda target: target.parent.name == "checkpoints", before=True)
    elif trap == "after-the-rename":
        Path.replace = deadly(Path.replace, lambda target: target.parent.name == "checkpoints", before=False)
    elif trap == "between-two-models":
        sbert.disk.files._exchange = lambda first, second: False  # as on systems that need two renames
        Path.rename = deadly(
            Path.rename, lambda target: "old" in (target.suffix[1:], target.parent.name), before=False
        )


def half(save: Callable[..., None]) -> Callable[..., None]:
    def save_half(tensors: Any, path: Path, metadata: Any) -> None:
        save(tensors, path, metadata)
        shutil.copy(path, path.with_name(".tmpAbCdEf"))  # where safetensors writes before it renames
        os.truncate(path, path.stat().st_size // 2)
        die()

    return save_half


def deadly(move: Callable[..., Path], there: Callable[[Path], bool], before: bool) -> Callable[..., Path]:
    def move_and_die(self: Path, target: Path) -> Path:
        if before and there(target):
            die()
        moved = move(self, target)
        if there(target):
            die()
        return moved

    return move_and_die


def run(path: Path) -> None:
    """To the end, through an interruption where the spec asks for one; then write down what this process has."""
    spec = json.loads(path.read_text(encoding="utf-8"))
    recorded: dict[int, tuple[float, float]] = {}

    def record(event: Event) -> None:
        if event.kind == "step":
            recorded[event.step] = event.values["loss"], event.values["gradient"]
            if event.step == spec.get("interrupt_at") and trainer.team.leads:
                os.kill(os.getpid(), signal.SIGINT)

    rank = int(os.environ.get("RANK", "0"))
    spec["classifier_seed"] = rank  # as if every process drew its own new weights
    trainer = make(spec, record)
    try:
        trainer.train()
    except KeyboardInterrupt:
        del spec["interrupt_at"]
        trainer = make(spec, record)
        trainer.train(resume=True)
    save_file(trainer._update.tensors(), path.with_suffix(f".{rank}.safetensors"))
    path.with_suffix(f".{rank}.json").write_text(json.dumps(recorded))


if __name__ == "__main__":
    main(*sys.argv[1:])
