"""One update of the weights after another, and their whole state as tensors. Knows batches, not files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from sbert.errors import CannotResume
from sbert.losses import Loss
from sbert.train import optim
from sbert.train.config import TrainConfig
from sbert.train.distributed import Team
from sbert.train.precision import check_precision
from sbert.train.step import Outcome, Step

Labelled = tuple[Loss, Sequence[Sequence[str]], Tensor | None]
"""A batch: its loss, the texts of each column, and the labels."""


class Update:
    """Turns batches into better weights.

    Args:
        model: what to train.
        objective: the losses that have weights of their own.
        config: how.
        total_steps: after so many updates the learning rate has run out.
        team: the processes that share the work.
    """

    def __init__(
        self, model: Any, objective: nn.ModuleList, config: TrainConfig, total_steps: int, team: Team
    ) -> None:
        self._modules = nn.ModuleDict({"model": model, "objective": objective})
        team.share(self._modules.state_dict().values())
        self._model, self._config, self._total_steps, self._team = model, config, total_steps, team
        share = int(total_steps * config.warmup_ratio)  # rounded down: a run of a few steps has none
        self.warmup = share if config.warmup_steps is None else config.warmup_steps
        self._shared = optim.trainable(model, config.freeze)
        own = {f"objective.{name}": parameter for name, parameter in objective.named_parameters()}
        self._weights = {f"model.{name}": parameter for name, parameter in self._shared.items()} | own
        self._optimizer = optim.adamw(self._weights, config)
        self._tables = optim.Tables(model)
        self._scaler = _scaler(config, model.device)
        self._step = Step(model, team, config.precision, config.mini_batch_tokens, self._scaler)

    def __call__(self, number: int, batches: Sequence[Labelled]) -> dict[str, float]:
        """Update ``number``, counted from 0, from the mean gradient of ``batches``; the figures of the step.

        Weights stay as they are where the loss or its gradient is not a number.
        """
        outcomes = []
        with self._tables.by_rows():
            for part, (loss, texts, labels) in enumerate(batches):
                seed = (self._config.seed, number, part)
                outcomes.append(self._step(loss, texts, labels, seed, share=1 / len(batches)))
        figures = _figures(outcomes)
        if math.isfinite(figures["loss"]):
            self._tables.spread()
            # Every process has seen the whole batch in the loss: the objective's own gradient is complete already.
            self._team.add_up(self._shared.values())
            self._scaler.unscale_(self._optimizer)
            figures["gradient"] = optim.shorten(self._weights.values(), self._config.max_grad_norm)
            figures["learning_rate"] = self._set_rate(number)
            if self.broken(figures) is None:
                self._scaler.step(self._optimizer)
                self._scaler.update()
        self._optimizer.zero_grad()
        self._tables.clear()
        return figures

    def broken(self, figures: Mapping[str, float]) -> str | None:
        """Which of a step's figures is not a number; fp16's gradient may be none, its scaler then skips the step."""
        names = ("loss",) if self._scaler.is_enabled() else ("loss", "gradient")
        return next((name for name in names if not math.isfinite(figures.get(name, 0.0))), None)

    def _set_rate(self, number: int) -> float:
        rate = optim.rate(number, self._total_steps, self.warmup, self._config.schedule)
        for group in self._optimizer.param_groups:
            group["lr"] = rate * self._config.learning_rate
        return rate * self._config.learning_rate

    def tensors(self) -> dict[str, Tensor]:
        """Weights of model and objective, and the optimizer's memory of each."""
        found = self._state()
        for name, weight in self._weights.items():
            for what, value in self._optimizer.state[weight].items():
                found[f"optimizer.{what}.{name}"] = value
        return found

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Go back to what :meth:`tensors` gave."""
        memory = {name: tensor for name, tensor in tensors.items() if name.startswith("optimizer.")}
        weights = {name: tensor for name, tensor in tensors.items() if name not in memory}
        _check_same(self._state(), weights)
        self._modules.load_state_dict(weights, strict=False)  # all but second names are there
        for name, tensor in memory.items():
            _, what, weight = name.split(".", 2)
            place = self._weights[weight]
            # A copy: what was read is a view of the file.
            self._optimizer.state[place][what] = tensor.to(place.device, copy=True)

    def _state(self) -> dict[str, Tensor]:
        """Weights by name; one that has several names, such as a loss within two others, by the first."""
        by_identity: dict[int, tuple[str, Tensor]] = {}
        for name, tensor in self._modules.state_dict(keep_vars=True).items():
            by_identity.setdefault(id(tensor), (name, tensor.detach()))
        return dict(by_identity.values())

    @property
    def scale(self) -> dict[str, Any]:
        """The state of the fp16 scaler; empty where it is off."""
        return self._scaler.state_dict()

    @scale.setter
    def scale(self, state: dict[str, Any]) -> None:
        self._scaler.load_state_dict(state)


def _check_same(ours: Mapping[str, Tensor], theirs: Mapping[str, Tensor]) -> None:
    """Raise unless the checkpoint is one of this model with this objective."""
    shapes = {name: list(tensor.shape) for name, tensor in ours.items()}
    found = {name: list(tensor.shape) for name, tensor in theirs.items()}
    for name in shapes.keys() | found.keys():
        if shapes.get(name) != found.get(name):
            raise CannotResume(
                f"the checkpoint is of another model: {name} has the shape {found.get(name, 'missing')} there, but "
                f"{shapes.get(name, 'missing')} here; resume with the same model and loss, or name another folder"
            )


def _scaler(config: TrainConfig, device: torch.device) -> torch.amp.GradScaler:
    check_precision(config.precision, device)
    return torch.amp.GradScaler(device.type, enabled=config.precision == "fp16")


def _figures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    tokens, padded = sum(outcome.tokens for outcome in outcomes), sum(outcome.padded for outcome in outcomes)
    loss = sum(outcome.loss for outcome in outcomes) / len(outcomes)
    truncated = sum(outcome.truncated for outcome in outcomes)
    return {"loss": loss, "tokens": tokens, "padding_saved": 1 - tokens / padded, "truncated": truncated}
