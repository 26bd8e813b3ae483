"""Trains a model step by step, with evaluations and checkpoints, and resumes an interrupted run exactly.

One trainer serves every kind of model: it needs ``items``, ``tokenize``, ``forward`` and ``save_pretrained``. All
random numbers follow from the seed and the number of the step. A checkpoint therefore needs no random state: it
contains the weights of model and objective, the state of the optimizer, and the position in the data.
"""

from __future__ import annotations

import logging
import math
import platform
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import nn

from sbert.data import Columns, Cursor
from sbert.disk.drafts import sweep
from sbert.disk.files import write_bytes, write_json
from sbert.disk.ledger import Ledger
from sbert.disk.lock import locked
from sbert.disk.machine import core_count
from sbert.disk.progress import Progress, RecentSpeed
from sbert.errors import CannotResume, Diverged, counted
from sbert.evaluate import primary_metric
from sbert.losses import Loss
from sbert.pages import training
from sbert.porting import explained_class
from sbert.train import checkpoint, facts
from sbert.train.callbacks import Callback, Event, EventKind
from sbert.train.config import TrainConfig
from sbert.train.distributed import Team
from sbert.train.facts import as_run
from sbert.train.plan import Plan, PlannedStep
from sbert.train.stop import stop_request
from sbert.train.update import Update
from sbert.types import Evaluator

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Position:
    """The progress of a run."""

    step: int = 0
    cursor: Cursor = field(default_factory=Cursor)
    best_score: float | None = None
    best_step: int = 0
    worse_since: int = 0
    """Number of evaluations since the best one."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a run."""

    steps: int
    best_score: float | None
    best_step: int
    seconds: float
    model: Path
    """Folder of the trained model."""
    steps_before: int = 0
    """Number of the steps that were taken before the run was resumed."""

    def _repr_html_(self) -> str:
        curve = self.model.parent / "curve.png"
        return training.for_notebook(asdict(self), curve.read_bytes() if curve.exists() else b"")


@explained_class
class Trainer:
    """Trains a model.

    Args:
        model: The model to train; it has the trained weights afterwards.
        config: The settings of the run.
        train: The rows to train on, or several data sets.
        loss: A function of embeddings and labels, or a module with weights of its own; one for all data sets, or one
            for each.
        evaluator: Measures the model at intervals; without one, the last weights are the result.
        callbacks: Called after every step, evaluation and checkpoint.
        names: What the page of the run calls the "model", the "loss" and the "dev" data.

    >>> import tempfile
    >>> from sbert import BiEncoder, Columns, TrainConfig, losses
    >>> pairs = {"anchor": ["비가 온다", "A cat sleeps"], "positive": ["비가 내린다", "A cat naps"]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     config = TrainConfig(output_dir=folder, batch_size=2)
    ...     trainer = Trainer(BiEncoder.from_pretrained(), config, train=Columns.of(pairs), loss=losses.info_nce)
    ...     trainer.train().steps
    1
    """

    def __init__(
        self,
        model: Any,
        config: TrainConfig,
        *,
        train: Columns | Sequence[Columns],
        loss: Loss | Sequence[Loss],
        evaluator: Evaluator | None = None,
        callbacks: Sequence[Callback] = (),
        names: Mapping[str, str] | None = None,
    ) -> None:
        self.model, self.config, self.evaluator, self.callbacks = model, config, evaluator, tuple(callbacks)
        self.plan = Plan(train, loss, config)
        self.datasets, self.losses, self.total_steps = self.plan.datasets, self.plan.losses, self.plan.total_steps
        # A loss that serves several data sets is one module, not several.
        with_weights = dict.fromkeys(loss for loss in self.losses if isinstance(loss, nn.Module))
        self.objective = nn.ModuleList(with_weights).to(model.device)
        self.names = {"model": type(model).__name__, **(names or {})}
        self.team = Team.join()
        self.position = Position()
        self.folder = Path(config.output_dir)
        self.checkpoints, self.model_folder = self.folder / "checkpoints", self.folder / "model"
        self._update = Update(model, self.objective, config, self.total_steps, self.team)
        self._metrics = Ledger(self.folder / "metrics.jsonl")
        self._truncated, self._speed = 0, RecentSpeed()

    @property
    def metric(self) -> str | None:
        """The metric that decides which model is best."""
        return None if self.evaluator is None else primary_metric(self.evaluator, self.model)

    @cached_property
    def facts(self) -> facts.Facts:
        """Everything that determines the result of this run."""
        return {**facts.describe(self.config, self.plan, self.evaluator, self.team.size), "names": self.names}

    def train(self, resume: bool = False, show_progress_bar: bool = False) -> Result:
        """Train to the end.

        Args:
            resume: Continue from the newest checkpoint in the folder; start from the beginning if there is none.
            show_progress_bar: Show the loss, the speed and the remaining time.
        """
        start = time.perf_counter()
        with ExitStack() as stack:
            self.team.agree(lambda: self._enter_folder(stack, resume))
            self._restore()
            before = self.position.step
            show = show_progress_bar and self.team.leads
            with stop_request() as stop, Progress(self.total_steps, "steps", show, done=before) as bar:
                self._run_steps(stop, bar)
            self._finish()
        position, seconds = self.position, time.perf_counter() - start
        return Result(position.step, position.best_score, position.best_step, seconds, self.model_folder, before)

    # Steps

    def _run_steps(self, stop: threading.Event, bar: Progress) -> None:
        position = self.position
        if position.step >= self.total_steps or self._out_of_patience:  # the run had ended before
            return
        self.model.train()
        for step in self.plan.steps(position.cursor):
            epoch_ended = step.end.epoch > position.cursor.epoch
            self._take_step(step, bar)
            position.step, position.cursor = position.step + 1, step.end
            ends = position.step == self.total_steps
            if self.evaluator is not None and self._is_due(self.config.eval_steps, epoch_ended):
                ends = self.team.agree(self._evaluate) or ends
            interrupted = self.team.agree(stop.is_set)
            if ends or interrupted or self._is_due(self.config.checkpoint_steps, epoch_ended):
                self.team.agree(self._save)
                self._notify("checkpoint", {}, position.step)
            if ends:
                return
            if interrupted:
                raise KeyboardInterrupt

    def _take_step(self, step: PlannedStep, bar: Progress) -> None:
        start = time.perf_counter()
        number = self.position.step
        metrics = self._update(number, step.batches)
        if name := self._update.not_finite(metrics):
            self._give_up(step, f"the {name} of step {number + 1} is {metrics[name]}")
        self._truncated += int(metrics["truncated"])
        seconds = time.perf_counter() - start
        metrics["rows_per_second"] = len(step) / seconds
        speed = f"{counted(round(self._speed(len(step), seconds)), 'row')}/s"
        bar.add(1, f"loss {metrics['loss']:.4f}, {speed}, {metrics['padding_saved']:.0%} fewer tokens than padded")
        if self.team.leads and (number + 1) % self.config.log_steps == 0:
            self._metrics.append({"step": number + 1, **metrics})
        self._notify("step", metrics, number + 1)

    def _is_due(self, every: int | None, epoch_ended: bool) -> bool:
        step = self.position.step
        return step == self.total_steps or (epoch_ended if every is None else step % every == 0)

    @property
    def _out_of_patience(self) -> bool:
        return self.position.worse_since == self.config.patience

    def _give_up(self, step: PlannedStep, what: str) -> None:
        """Save the batches that made the loss infinite, so that they can be examined, and raise Diverged."""
        path = self.folder / f"diverged-at-step-{self.position.step + 1}.jsonl"
        if self.team.leads:
            Ledger(path).replace(step.records())
        raise Diverged(
            f"{what}, but must be a finite number; the batch is in {path}: look for broken rows there, or start in "
            "another folder with a lower learning rate"
        )

    def _notify(self, kind: EventKind, values: Mapping[str, float], step: int) -> None:
        for callback in self.callbacks:
            callback(Event(kind, step, values))

    # Evaluations and checkpoints, which the leader of the team makes

    def _evaluate(self) -> bool:
        """Evaluate the model and save it if it is the best so far. Returns whether to stop early."""
        position, evaluator = self.position, self.evaluator
        assert evaluator is not None
        self.model.eval()
        try:
            figures = dict(evaluator(self.model))
        except Exception:
            self._save()  # an error of the evaluator must not lose the training so far
            raise
        self._metrics.append({"step": position.step, **figures})
        self._notify("evaluation", figures, position.step)
        score = figures[primary_metric(evaluator, self.model)]
        if not math.isnan(score) and (position.best_score is None or score > position.best_score):
            position.best_score, position.best_step, position.worse_since = score, position.step, 0
            if self.config.keep_best:
                self.model.save_pretrained(self.model_folder)
        else:
            position.worse_since += 1
        self.model.train()
        return self._out_of_patience

    def _save(self) -> None:
        run = {**self.facts, "position": asdict(self.position), "scale": self._update.scaler.state_dict()}
        state = checkpoint.Checkpoint(self.position.step, self._update.tensors(), run)
        checkpoint.save(self.checkpoints, state, self.config.keep_checkpoints)
        draw(self.folder, self._metrics.read(), run)

    def _finish(self) -> None:
        """Load the best weights into the model, or save the last ones."""
        self.model.eval()
        if self._truncated and self.team.leads:
            logger.warning("texts were truncated to the maximum length of the model %s times", f"{self._truncated:,}")
        has_best = self.team.agree(lambda: self.config.keep_best and self.position.best_score is not None)
        if not has_best:
            self.team.agree(lambda: self.model.save_pretrained(self.model_folder))
        else:
            trained = type(self.model).from_pretrained(self.model_folder, device=self.model.device)
            self.model.load_state_dict(trained.state_dict())

    # Start and resume

    def _enter_folder(self, stack: ExitStack, resume: bool) -> None:
        """Lock the folder and remove the unfinished files of a killed process."""
        stack.enter_context(locked(self.folder))
        sweep(self.folder)
        if not resume and (checkpoint.steps(self.checkpoints) or self.model_folder.exists()):
            raise CannotResume(
                f"{self.folder} already contains a run; continue it with --resume (in Python: resume=True), or name "
                "another folder"
            )

    def _restore(self) -> None:
        """Restore the newest intact checkpoint, if there is one."""
        saved = checkpoint.newest(self.checkpoints)
        if saved is not None:
            if changed := facts.differences(saved.facts, self.facts):
                raise CannotResume(
                    f"the run in {self.folder} cannot be resumed exactly: {'; '.join(changed)}; undo that, or name "
                    "another folder"
                )
            facts.warn_about_rounding(saved.facts, self.facts)
            self._update.restore(saved.tensors)
            self._update.scaler.load_state_dict(saved.facts["scale"])
            position = saved.facts["position"]
            self.position = Position(**{**position, "cursor": Cursor(**position["cursor"])})
            if self.config.keep_best and self.position.best_score is not None and not self.model_folder.is_dir():
                raise CannotResume(f"{self.model_folder}, the best model, is missing; copy the whole run folder")
        if self.team.leads:
            records = [record for record in self._metrics.read() if isinstance(record.get("step"), int)]
            kept = [record for record in records if record["step"] <= self.position.step]
            self._metrics.replace(kept)  # the steps after the checkpoint will be repeated
            machine = {"system": platform.platform(), "cores": core_count()}
            write_json(self.folder / "run.json", {**self.facts, "machine": machine})


def draw(folder: Path, metrics: list[dict[str, Any]], facts: dict[str, Any]) -> None:
    """Write the page of the run and the picture of its curve."""
    write_bytes(folder / "curve.png", training.picture(metrics))
    write_bytes(folder / "run.html", training.page(as_run(folder.name, metrics, facts)).encode())
