"""Describes a training run, and decides whether a checkpoint belongs to it. Reads and writes no files."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, fields
from functools import partial
from types import FunctionType
from typing import Any

import torch

from sbert.disk.machine import versions
from sbert.errors import counted
from sbert.pages.records import Metrics, Run
from sbert.train.config import TrainConfig
from sbert.train.plan import Plan
from sbert.types import Evaluator

logger = logging.getLogger(__name__)

Facts = dict[str, Any]
FREE_TO_CHANGE = frozenset({"output_dir", "checkpoint_steps", "keep_checkpoints", "log_steps"})
"""Settings that may differ when a run is resumed: they decide what is kept, not what is learned."""


def describe(config: TrainConfig, plan: Plan, evaluator: Evaluator | None, processes: int) -> Facts:
    """Everything that determines the result of a run, as it looks when read back from JSON."""
    facts = {
        "config": asdict(config),
        "steps": plan.total_steps,
        "data": [
            {"name": data.name, "rows": len(data), "labels": data.label_names, "sha256": data.fingerprint}
            for data in plan.datasets
        ],
        "loss": [_name(loss) for loss in plan.losses],
        "evaluator": _name(evaluator),
        "threads": torch.get_num_threads(),
        "processes": processes,
        "versions": versions(),
    }
    as_read: Facts = json.loads(json.dumps(facts))
    return as_read


def as_run(name: str, metrics: Metrics, facts: Facts) -> Run:
    """Return what the page of a run shows."""
    position = facts["position"]
    return Run(
        name=name,
        steps=facts["steps"],
        data=[(data["name"], data["rows"]) for data in facts["data"]],
        settings=facts["config"],
        metrics=metrics,
        step=position["step"],
        best_step=position["best_step"],
        model=facts["names"]["model"],
        loss=facts["names"].get("loss") or ", ".join(dict.fromkeys(facts["loss"])),
        dev=facts["names"].get("dev", "" if facts["evaluator"] == _name(None) else facts["evaluator"]),
    )


def differences(before: Facts, now: Facts) -> list[str]:
    """Differences between the facts of two runs that change what is learned, one phrase each."""
    names = [field.name for field in fields(TrainConfig) if field.name not in FREE_TO_CHANGE]
    pairs = [(name, before["config"].get(name), now["config"][name]) for name in names]
    pairs += [(name, before[name], now[name]) for name in ("loss", "evaluator")]
    pairs.append(("torch", before["versions"]["torch"], now["versions"]["torch"]))
    pairs.append(("the number of data sets", len(before["data"]), len(now["data"])))
    data = zip(before["data"], now["data"], strict=False)
    pairs += [(f"data set {number}", _data(old), _data(new)) for number, (old, new) in enumerate(data)]
    return [f"{name} was {old}, is {new}" for name, old, new in pairs if old != new]


def warn_about_rounding(before: Facts, now: Facts) -> None:
    """Warn if the resumed run adds numbers in another order than the interrupted one did."""
    for what in ("threads", "processes"):
        if before[what] != now[what]:
            logger.warning(
                "the run had %s %s and is resumed with %s: the result is as good, but not identical to the bit",
                *(before[what], what, now[what]),
            )


def _data(facts: Mapping[str, Any]) -> str:
    return f"{counted(facts['rows'], 'row')} with checksum {facts['sha256'][:8]}"


def _name(part: object) -> str:
    """Name and options of a loss or an evaluator, the same in every process."""
    if isinstance(part, partial):
        options = ", ".join(f"{name}={_name(value)}" for name, value in sorted(part.keywords.items()))
        return f"{_name(part.func)}({options})"
    if isinstance(part, FunctionType):
        return part.__name__
    has_default_repr = type(part).__repr__ is object.__repr__  # which contains an address
    return type(part).__name__ if has_default_repr else repr(part)
