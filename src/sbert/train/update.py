"""Updates the weights from the batches of one step, and converts its state to tensors. Works in memory only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from sbert.data import Columns
from sbert.errors import CannotResume
from sbert.losses import Loss
from sbert.train import optim
from sbert.train.config import TrainConfig
from sbert.train.distributed import Team
from sbert.train.step import Step


class Update:
    """Updates the weights of a model.

    Args:
        model: The model to train.
        objective: The losses that have weights of their own.
        config: The settings of the run.
        total_steps: Number of updates after which the learning rate is zero.
        team: The processes that share the work.
    """

    def __init__(
        self, model: Any, objective: nn.ModuleList, config: TrainConfig, total_steps: int, team: Team
    ) -> None:
        self._modules = nn.ModuleDict({"model": model, "objective": objective})
        team.broadcast(self._modules.state_dict().values())
        self._config, self._total_steps, self._team, self._device = config, total_steps, team, model.device
        ratio_steps = int(total_steps * config.warmup_ratio)  # rounded down: a run of a few steps has no warm-up
        self.warmup = ratio_steps if config.warmup_steps is None else config.warmup_steps
        self._model_weights = optim.trainable(model, config.freeze)
        self._weights = {f"model.{name}": weight for name, weight in self._model_weights.items()}
        self._weights |= {f"objective.{name}": weight for name, weight in objective.named_parameters()}
        self._optimizer = optim.adamw(self._weights, config)
        self._embeddings = optim.EmbeddingGradients(model)
        self.scaler = optim.grad_scaler(config.precision, model.device)
        self._step = Step(model, team, config.precision, config.mini_batch_tokens, self.scaler)

    def __call__(self, number: int, batches: Sequence[tuple[Loss, Columns]]) -> dict[str, float]:
        """Update the weights with the mean gradient of ``batches`` and return the metrics of the step.

        The weights are not changed if the loss or its gradient is not finite.

        Args:
            number: Number of the update, counted from 0.
            batches: The losses of the step, and the rows to compute each of them on.
        """
        outcomes = []
        with self._embeddings.sparse():
            for part, (loss, columns) in enumerate(batches):
                texts, seed = list(columns.texts.values()), (self._config.seed, number, part)
                labels = None if columns.labels is None else torch.from_numpy(columns.labels).to(self._device)
                outcomes.append(self._step(loss, texts, labels, seed, share=1 / len(batches)))
        total, tokens, padded, truncated = map(sum, zip(*outcomes, strict=True))
        mean, saved = total / len(batches), 1 - tokens / padded
        metrics: dict[str, float] = {"loss": mean, "tokens": tokens, "padding_saved": saved, "truncated": truncated}
        if math.isfinite(metrics["loss"]):
            self._embeddings.make_dense()
            # The loss of every process covers the whole batch: the gradient of the objective is already complete.
            self._team.add_gradients(self._model_weights.values())
            self.scaler.unscale_(self._optimizer)
            metrics["gradient"] = optim.clip_gradients(self._weights.values(), self._config.max_grad_norm)
            factor = optim.learning_rate_factor(number, self._total_steps, self.warmup, self._config.schedule)
            metrics["learning_rate"] = factor * self._config.learning_rate
            for group in self._optimizer.param_groups:
                group["lr"] = metrics["learning_rate"]
            if self.not_finite(metrics) is None:
                self.scaler.step(self._optimizer)
                self.scaler.update()
        self._optimizer.zero_grad()
        self._embeddings.clear()
        return metrics

    def not_finite(self, metrics: Mapping[str, float]) -> str | None:
        """The name of the metric that ends the run because it is not finite, if there is one.

        With fp16 the gradient may be infinite: the gradient scaler then skips the step.
        """
        names = ("loss",) if self.scaler.is_enabled() else ("loss", "gradient")
        return next((name for name in names if not math.isfinite(metrics.get(name, 0.0))), None)

    def tensors(self) -> dict[str, Tensor]:
        """The weights of model and objective, and the state of the optimizer for each of them."""
        tensors = self._state()
        for name, weight in self._weights.items():
            for what, value in self._optimizer.state[weight].items():
                tensors[f"optimizer.{what}.{name}"] = value
        return tensors

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Restore what :meth:`tensors` returned."""
        state = {name: tensor for name, tensor in tensors.items() if name.startswith("optimizer.")}
        weights = {name: tensor for name, tensor in tensors.items() if name not in state}
        _check_same_shapes(self._state(), weights)
        self._modules.load_state_dict(weights, strict=False)  # aliases of a shared tensor are missing
        for name, tensor in state.items():
            _, what, weight_name = name.split(".", 2)
            weight = self._weights[weight_name]
            # A copy, because the tensor is a view of the checkpoint file.
            self._optimizer.state[weight][what] = tensor.to(weight.device, copy=True)

    def _state(self) -> dict[str, Tensor]:
        """Weights by name; a tensor with several names, such as a loss inside two others, has the first one."""
        by_identity: dict[int, tuple[str, Tensor]] = {}
        for name, tensor in self._modules.state_dict(keep_vars=True).items():
            by_identity.setdefault(id(tensor), (name, tensor.detach()))
        return dict(by_identity.values())


def _check_same_shapes(ours: Mapping[str, Tensor], theirs: Mapping[str, Tensor]) -> None:
    """Raise CannotResume unless the checkpoint was made from the same model and objective."""
    expected = {name: list(tensor.shape) for name, tensor in ours.items()}
    found = {name: list(tensor.shape) for name, tensor in theirs.items()}
    for name in expected.keys() | found.keys():
        if expected.get(name) != found.get(name):
            raise CannotResume(
                f"the checkpoint is of another model: {name} has the shape {found.get(name, 'missing')} there, but "
                f"{expected.get(name, 'missing')} here; resume with the same model and loss, or name another folder"
            )
