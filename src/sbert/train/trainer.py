"""The loop: step after step over the columns, with evaluation, checkpoints and an exact way back after any stop.

One trainer for every kind of model: it asks for ``items``, ``tokenize``, ``forward`` and ``save_pretrained``. All
randomness follows from the seed and the number of the step, so a checkpoint needs no random state: it holds the
weights of model and objective, the optimizer's memory, and where in the data the run is.
"""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path
from types import FunctionType
from typing import Any, Literal

import torch
from torch import nn

from sbert import hub
from sbert.data import Columns, Cursor, Sampler
from sbert.disk.progress import Progress
from sbert.errors import BadInput, CannotResume, Diverged
from sbert.evaluate import primary_metric
from sbert.losses import Loss
from sbert.pages.training import draw
from sbert.train import checkpoint, journal
from sbert.train.config import TrainConfig, differences
from sbert.train.distributed import Team
from sbert.train.records import Callback, Evaluator, Event, Position, Result
from sbert.train.stop import Stop
from sbert.train.update import Labelled, Update
from sbert.types import IntArray

logger = logging.getLogger(__name__)


class Trainer:
    """Trains a model.

    Args:
        model: what to train; afterwards it holds the trained weights.
        config: how.
        train: the rows to learn from; or several data sets.
        loss: a function of embeddings and labels, or a module with weights of its own; one for all data sets, or one
            for each.
        evaluator: measures the model now and then; without one the last weights are the result.
        callbacks: told about every step, evaluation and checkpoint.

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
    ) -> None:
        self.model, self.config, self.evaluator, self.callbacks = model, config, evaluator, tuple(callbacks)
        self.datasets = (train,) if isinstance(train, Columns) else tuple(train)
        self.losses = tuple(loss) if isinstance(loss, Sequence) else (loss,) * len(self.datasets)
        if len(self.losses) != len(self.datasets) or not self.datasets:
            raise BadInput(f"got {len(self.datasets)} data sets and {len(self.losses)} losses, but each needs one")
        # A loss that serves several data sets is one module, not several.
        with_weights = {id(loss): loss for loss in self.losses if isinstance(loss, nn.Module)}
        self.objective = nn.ModuleList(with_weights.values()).to(model.device)
        self.sampler = Sampler(self.datasets, config.batch_size, config.seed, config.sampler, config.mix)
        self.total_steps = self._count_steps()
        self.team = Team.join()
        self.position = Position()
        self.folder = Path(config.output_dir)
        self._update = Update(model, self.objective, config, self.total_steps, self.team)
        self._metrics = journal.Metrics(self.folder / "metrics.jsonl")
        self._truncated = 0

    def train(self, resume: bool = False, show_progress_bar: bool = False) -> Result:
        """Train to the end.

        Args:
            resume: go on from the newest checkpoint in the folder; where there is none, simply start.
            show_progress_bar: show the loss, the speed and the time left.
        """
        start = time.perf_counter()
        with ExitStack() as stack:
            self.team.agree(lambda: self._enter(stack, resume))
            self._go_back()
            show = show_progress_bar and self.team.leads
            with Stop() as stop, Progress(self.total_steps, "steps", show, done=self.position.step) as bar:
                self._loop(stop, bar)
            self._finish()
        place = self.position
        return Result(place.step, place.best_score, place.best_step, time.perf_counter() - start, self._model_folder)

    # The loop

    def _loop(self, stop: Stop, bar: Progress) -> None:
        place = self.position
        self.model.train()
        for cursor, work in self._work(place.cursor):
            epoch_ended = cursor.epoch > place.cursor.epoch
            self._take_step(work, bar)
            place.step, place.cursor = place.step + 1, cursor
            ends = place.step == self.total_steps
            if self.evaluator is not None and self._is_due(self.config.eval_steps, epoch_ended):
                ends = self.team.agree(self._evaluate) or ends
            asked = self.team.agree(lambda: stop.asked)
            if ends or asked or self._is_due(self.config.checkpoint_steps, epoch_ended):
                self.team.agree(self._save)
                self._tell("checkpoint", {}, place.step)
            if ends:
                return
            if asked:
                raise KeyboardInterrupt

    def _work(self, cursor: Cursor) -> Iterator[tuple[Cursor, list[tuple[int, IntArray]]]]:
        """The batches of one step after another, and the place after each step."""
        if self.position.step >= self.total_steps or self._waited_enough:  # a run that had ended already
            return
        work: list[tuple[int, IntArray]] = []
        for after, dataset, rows in self.sampler.from_(cursor):
            work.append((dataset, rows))
            if len(work) == self.config.gradient_accumulation_steps or after.epoch >= self.config.epochs:
                yield after, work
                work = []

    def _take_step(self, work: Sequence[tuple[int, IntArray]], bar: Progress) -> None:
        began = time.perf_counter()
        number = self.position.step
        figures = self._update(number, [self._batch(dataset, rows) for dataset, rows in work])
        if broken := self._update.broken(figures):
            self._give_up(work, f"the {broken} of step {number + 1} is {figures[broken]}")
        self._truncated += int(figures["truncated"])
        rows = sum(len(rows) for _, rows in work)
        figures["rows_per_second"] = rows / (time.perf_counter() - began)
        speed, saved = figures["rows_per_second"], figures["padding_saved"]
        bar.add(1, f"loss {figures['loss']:.4f}, {speed:.0f} rows/s, {saved:.0%} padding saved")
        if self.team.leads and (number + 1) % self.config.log_steps == 0:
            self._metrics.add(step=number + 1, **figures)
        self._tell("step", figures, number + 1)

    def _batch(self, dataset: int, rows: IntArray) -> Labelled:
        columns = self.datasets[dataset].take(rows)
        labels = None if columns.labels is None else torch.from_numpy(columns.labels).to(self.model.device)
        return self.losses[dataset], list(columns.texts.values()), labels

    def _is_due(self, every: int | None, epoch_ended: bool) -> bool:
        step = self.position.step
        return step == self.total_steps or (epoch_ended if every is None else step % every == 0)

    @property
    def metric(self) -> str | None:
        """The figure that decides which model is best."""
        return None if self.evaluator is None else primary_metric(self.evaluator, self.model)

    def _count_steps(self) -> int:
        batches = sum(self.sampler.steps(epoch) for epoch in range(self.config.epochs))
        steps = math.ceil(batches / self.config.gradient_accumulation_steps)
        return min(steps, self.config.max_steps or steps)

    # What the leader does for all

    def _evaluate(self) -> bool:
        """Measure the model and keep it where it is the best so far; whether to stop, having waited long enough."""
        place, evaluator = self.position, self.evaluator
        assert evaluator is not None
        self.model.eval()
        try:
            figures = dict(evaluator(self.model))
        except Exception:
            self._save()  # what was learned so far is not the evaluator's to lose
            raise
        self._metrics.add(step=place.step, **figures)
        self._tell("evaluation", figures, place.step)
        score = figures[primary_metric(evaluator, self.model)]
        if not math.isnan(score) and (place.best_score is None or score > place.best_score):
            place.best_score, place.best_step, place.worse_since = score, place.step, 0
            if self.config.keep_best:
                self.model.save_pretrained(self._model_folder)
        else:
            place.worse_since += 1
        self.model.train()
        return self._waited_enough

    @property
    def _waited_enough(self) -> bool:
        return self.position.worse_since == self.config.patience

    def _save(self) -> None:
        facts = {**self.facts, "position": asdict(self.position), "scale": self._update.scale}
        saved = checkpoint.Checkpoint(self.position.step, self._update.tensors(), facts)
        checkpoint.save(self._checkpoints, saved, self.config.keep_checkpoints)
        draw(self.folder, self._metrics.read(), self.facts)

    def _finish(self) -> None:
        """The best weights into the model, or the last ones into the folder."""
        self.model.eval()
        if self._truncated and self.team.leads:
            logger.warning(
                "in training, texts were cut at the model's maximum length %s times", f"{self._truncated:,}"
            )
        best = self.team.agree(lambda: self.config.keep_best and self.position.best_score is not None)
        if not best:
            self.team.agree(lambda: self.model.save_pretrained(self._model_folder))
        else:
            trained = type(self.model).from_pretrained(self._model_folder, device=self.model.device)
            self.model.load_state_dict(trained.state_dict())

    def _give_up(self, work: Sequence[tuple[int, IntArray]], what: str) -> None:
        """Write down the batch that broke the run, so that it can be looked at."""
        path = self.folder / f"diverged-at-step-{self.position.step + 1}.jsonl"
        if self.team.leads:
            with path.open("w", encoding="utf-8") as file:
                for dataset, rows in work:
                    for record in _records(self.datasets[dataset].take(rows)):
                        file.write(json.dumps(record, ensure_ascii=False) + "\n")
        raise Diverged(
            f"{what}, but must be a number; its batch is in {path}: look for broken rows there, or start in another "
            "folder with a lower learning rate"
        )

    def _tell(self, kind: Literal["step", "evaluation", "checkpoint"], values: Mapping[str, float], step: int) -> None:
        for callback in self.callbacks:
            callback(Event(kind, step, values))

    # The folder

    @property
    def _checkpoints(self) -> Path:
        return self.folder / "checkpoints"

    @property
    def _model_folder(self) -> Path:
        return self.folder / "model"

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What makes this run the run it is."""
        data = [
            {"name": data.name, "rows": len(data), "labels": data.label_names, "sha256": data.fingerprint}
            for data in self.datasets
        ]
        aims = {"loss": [_describe(loss) for loss in self.losses], "evaluator": _describe(self.evaluator)}
        facts = {"config": asdict(self.config), "steps": self.total_steps, "data": data, **aims}
        work = {"threads": torch.get_num_threads(), "processes": self.team.size}
        return {**json.loads(json.dumps(facts)), **work, "versions": journal.versions()}  # as it looks when read back

    def _enter(self, stack: ExitStack, resume: bool) -> None:
        """Take hold of the folder, and clear away what a killed process may have left half done."""
        stack.enter_context(journal.occupied(self.folder))
        if not resume and (checkpoint.steps(self._checkpoints) or self._model_folder.exists()):
            raise CannotResume(f"{self.folder} holds a run already; resume it, or name another folder")
        hub.tidy(self._model_folder)

    def _go_back(self) -> None:
        """Take everything from the newest whole checkpoint, if there is one."""
        saved = checkpoint.newest(self._checkpoints)
        if saved is not None:
            if changed := differences(saved.facts, self.facts):
                raise CannotResume(
                    f"the run in {self.folder} cannot go on exactly as it was: {'; '.join(changed)}; "
                    "undo that, or name another folder"
                )
            _compare_work(saved.facts, self.facts)
            self._update.restore(saved.tensors)
            self._update.scale = saved.facts["scale"]
            place = saved.facts["position"]
            self.position = Position(**{**place, "cursor": Cursor(**place["cursor"])})
            if self.config.keep_best and self.position.best_score is not None and not self._model_folder.is_dir():
                raise CannotResume(
                    f"{self._model_folder}, the best model so far, is missing; bring the run's whole folder along"
                )
        if self.team.leads:
            self._metrics.keep_until(self.position.step)
            journal.write_run(self.folder / "run.json", self.facts)


def _describe(aim: object) -> str:
    """A loss or an evaluator in words: its name and options, the same in every process."""
    if isinstance(aim, partial):
        options = ", ".join(f"{name}={_describe(value)}" for name, value in sorted(aim.keywords.items()))
        return f"{_describe(aim.func)}({options})"
    if isinstance(aim, FunctionType):
        return aim.__name__
    plain = type(aim).__repr__ is object.__repr__  # which names an address
    return type(aim).__name__ if plain else repr(aim)


def _compare_work(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Warn where sums are about to be rounded in another order."""
    for what in ("threads", "processes"):
        if before[what] != now[what]:
            note = "the run had %s %s and goes on with %s: the result is as good, but not the same to the bit"
            logger.warning(note, before[what], what, now[what])


def _records(columns: Columns) -> Iterator[dict[str, Any]]:
    labels = [None] * len(columns) if columns.labels is None else columns.labels.tolist()
    for *texts, label in zip(*columns.texts.values(), labels, strict=True):
        yield {**dict(zip(columns.texts, texts, strict=True)), "label": label}
