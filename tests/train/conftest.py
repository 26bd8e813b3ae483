"""Tiny models with a chosen dropout, rows in English and Korean, and runs that are processes of their own."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from sbert import BiEncoder, Columns
from sbert.train.distributed import Team
from sbert.train.step import Step

PROGRAM = Path(__file__).with_name("program.py")
SOURCE = Path(__file__).parents[2] / "src"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
CLASSES = ("contradiction", "entailment", "neutral")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Tensors this small only wait for a second thread: on a busy machine, seven times as long."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def bert_folder(
    tiny_folder: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[float], Path]:
    """``bert_folder(0.1)``: a tiny BERT that drops out this much in training; do not change it."""

    @cache
    def write(dropout: float) -> Path:
        folder = tmp_path_factory.mktemp("bert") / "model"
        shutil.copytree(tiny_folder("bert"), folder)
        settings = json.loads((folder / "config.json").read_text())
        settings |= {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
        (folder / "config.json").write_text(json.dumps(settings))
        return folder

    return write


@pytest.fixture
def bert(bert_folder: Callable[[float], Path]) -> Callable[..., BiEncoder]:
    """``bert(dropout=0.1)``: a fresh tiny model."""
    return lambda dropout=0.0: BiEncoder.from_pretrained(bert_folder(dropout))


@pytest.fixture
def step() -> Callable[..., Step]:
    """``step(model, tokens=None)``: the gradients of one batch, in parts of so many tokens."""

    def make(model: nn.Module, tokens: int | None = None, precision: Any = "float32") -> Step:
        return Step(model, Team(), precision, tokens, torch.amp.GradScaler("cpu", enabled=False))

    return make


@pytest.fixture
def gradients() -> Callable[[nn.Module], dict[str, Tensor]]:
    """``gradients(model)``, by the names of the weights; there must be some."""

    def collect(model: nn.Module) -> dict[str, Tensor]:
        found = {name: weight.grad for name, weight in model.named_parameters() if weight.grad is not None}
        assert found
        return {name: gradient.to_dense() for name, gradient in found.items()}

    return collect


@pytest.fixture
def close() -> Callable[[dict[str, Tensor], dict[str, Tensor]], None]:
    """The same gradients, up to rounding; there must be something to compare."""

    def compare(ours: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
        assert ours.keys() == expected.keys()
        largest = max(float(gradient.abs().max()) for gradient in expected.values())
        assert largest > 1e-3
        for name, gradient in expected.items():
            torch.testing.assert_close(ours[name], gradient, atol=1e-6 * max(1.0, largest), rtol=1e-5)

    return compare


@pytest.fixture
def rows(sentences: list[str]) -> Callable[..., Columns]:
    """``rows("softmax", 24)``: rows that the loss of this name can learn from, some texts standing twice."""

    def make(loss: str, count: int = 24) -> Columns:
        texts = [text for text in sentences if 2 < len(text) < 70]
        first = [texts[row % len(texts)] for row in range(count)]
        second = [texts[(row + 1 + row % 3) % len(texts)] for row in range(count)]
        if loss == "softmax":
            names = [CLASSES[row % 3] for row in range(count)]
            return Columns.of({"전제": first, "가설": second}, names, label_names=CLASSES, name="관계")
        if loss == "cosine_mse":
            return Columns.of({"sentence1": first, "sentence2": second}, [row % 3 / 2 for row in range(count)])
        if loss == "triplet":
            third = [texts[-1 - row % len(texts)] for row in range(count)]
            return Columns.of({"anchor": first, "positive": second, "negative": third})
        return Columns.of({"anchor": first, "positive": second})

    return make


@pytest.fixture
def state() -> Callable[[Any], dict[str, torch.Tensor]]:
    """Everything a trainer has learned: weights of model and objective, and the optimizer's memory."""
    return lambda trainer: {name: tensor.clone() for name, tensor in trainer._update.tensors().items()}


@pytest.fixture
def same() -> Callable[[dict[str, torch.Tensor], dict[str, torch.Tensor]], None]:
    """The same tensors, bit for bit."""

    def compare(ours: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor]) -> None:
        assert ours.keys() == theirs.keys()
        different = [name for name in ours if not torch.equal(ours[name], theirs[name])]
        assert different == []

    return compare


@pytest.fixture(scope="session")
def program() -> ModuleType:
    """The module that makes a run out of a JSON file, here and in other processes."""
    spec = importlib.util.spec_from_file_location("sbert_training_program", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def spec(
    tmp_path: Path, bert_folder: Callable[[float], Path], rows: Callable[..., Columns]
) -> Callable[..., tuple[Path, dict[str, Any]]]:
    """``spec("이름", loss="softmax", dropout=0.1, batch_size=4)``: a run on paper and the file it stands in."""

    def write(
        name: str, loss: str, dropout: float = 0.0, count: int = 24, **settings: Any
    ) -> tuple[Path, dict[str, Any]]:
        own = {key: settings.pop(key) for key in ("evaluate", "interrupt_at", "file_limit") if key in settings}
        columns = rows(loss, count)
        labels = None if columns.labels is None else columns.labels.tolist()
        if columns.label_names:
            labels = [columns.label_names[number] for number in columns.labels]
        config = {"output_dir": str(tmp_path / name), "learning_rate": 1e-3, "log_steps": 1, **settings}
        content = {"model": str(bert_folder(dropout)), "texts": columns.texts, "labels": labels, "loss": loss, **own}
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({**content, "config": config}, ensure_ascii=False), encoding="utf-8")
        return path, {**content, "config": config}

    return write


class Nursery:
    """Runs as children of a process that has torch loaded already; one at a time."""

    def __init__(self, log: Path) -> None:
        with log.open("w") as errors:
            self.process = subprocess.Popen(
                [sys.executable, str(PROGRAM), "serve"],
                **{"env": ENVIRONMENT, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": errors},
                text=True,
                encoding="utf-8",
            )

    def start(self, spec: Path, trap: str = "none") -> int:
        """Begin or go on with a run; its process id."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{spec} {trap}\n")
        self.process.stdin.flush()
        word, pid = self.read()
        assert word == "pid"
        return int(pid)

    def read(self) -> tuple[str, str]:
        """What is told next: a pid, a step, an error or an exit."""
        assert self.process.stdout is not None
        word, _, rest = self.process.stdout.readline().strip().partition(" ")
        return word, rest

    def end(self) -> tuple[int, list[tuple[str, str]]]:
        """Wait for the end; the exit code and all that was told before."""
        told = []
        while (line := self.read())[0] != "exit":
            assert line[0], "the nursery is gone"
            told.append(line)
        return int(line[1]), told

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()


@pytest.fixture(scope="session")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """Where runs are born quickly, to be killed."""
    if os.name != "posix":
        pytest.skip("needs fork and signals")
    nursery = Nursery(tmp_path_factory.mktemp("nursery") / "stderr")
    yield nursery
    nursery.close()
