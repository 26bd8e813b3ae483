"""The settings of a run: what is refused, and what may change before a run goes on."""

from __future__ import annotations

import json
from dataclasses import asdict, fields

import numpy as np
import pytest

from sbert.errors import BadInput, BadOption
from sbert.train.config import TrainConfig
from sbert.train.facts import FREE_TO_CHANGE, differences


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("epochs", 0, "epochs is 0, but must be at least 1"),
        ("batch_size", -1, "batch_size is -1"),
        ("mini_batch_tokens", 0, "mini_batch_tokens is 0"),
        ("patience", 0, "patience is 0"),
        ("learning_rate", -1e-5, "learning_rate is -1e-05, but must be at least 0"),
        ("seed", -1, "seed is -1"),
        ("learning_rate", float("nan"), "learning_rate is nan, but must be at least 0"),
        ("learning_rate", "2e-5", "learning_rate is '2e-5', but must be a number"),
        ("learning_rate", None, "learning_rate is None, but must be a number"),
        ("epochs", 1.5, "epochs is 1.5, but must be a whole number"),
        ("epochs", True, "epochs is True, but must be a whole number"),
        ("batch_size", "16", "batch_size is '16', but must be a whole number"),
        ("seed", 10**30, r"seed is 10+, but must be less than 2\*\*64"),
        ("freeze", "transformer.*", r"freeze is 'transformer\.\*', but must be a list of patterns"),
        ("warmup_ratio", 1.5, "warmup_ratio is 1.5, but is a fraction of all steps: give 0 to 1"),
    ],
)
def test_refused(setting, value, message):
    with pytest.raises(BadInput, match=message):
        TrainConfig(output_dir="runs/실험", **{setting: value})


def test_numbers_of_numpy_become_those_of_python():
    config = TrainConfig(output_dir="runs", epochs=np.int64(2), learning_rate=np.float32(0.5), max_steps=None, seed=0)
    assert (type(config.epochs), type(config.learning_rate)) == (int, float)
    assert json.loads(json.dumps(asdict(config)))["epochs"] == 2


@pytest.mark.parametrize(
    ("setting", "value", "near"),
    [("schedule", "cosin", "cosine"), ("sampler", "by_label", "by-label"), ("precision", "bf-16", "bf16")],
)
def test_misspelled(setting, value, near):
    with pytest.raises(BadOption, match=f"{setting} is '{value}', but must be one of .* did you mean '{near}'"):
        TrainConfig(output_dir="runs/실험", **{setting: value})


def test_the_defaults_are_the_papers():
    config = TrainConfig(output_dir="runs")
    assert (config.epochs, config.batch_size, config.learning_rate, config.warmup_ratio, config.schedule) == (
        *(1, 16, 2e-5, 0.1),
        "linear",
    )


def facts(**settings: object) -> dict[str, object]:
    config = asdict(TrainConfig(output_dir="runs")) | settings
    data = [{"name": "자료", "rows": 10, "sha256": "0123456789abcdef"}]
    return {
        "config": config,
        "versions": {"torch": "2.6.0"},
        "data": data,
        "loss": ["triplet"],
        "evaluator": "Triplets",
    }


def test_what_may_change():
    assert {"output_dir", "checkpoint_steps", "keep_checkpoints", "log_steps"} == FREE_TO_CHANGE
    changed = {"output_dir": "elsewhere", "checkpoint_steps": 5, "keep_checkpoints": 9, "log_steps": 1}
    assert differences(facts(), facts(**changed)) == []


@pytest.mark.parametrize("name", sorted({field.name for field in fields(TrainConfig)} - FREE_TO_CHANGE))
def test_what_may_not(name):
    assert differences(facts(), facts(**{name: "다른 값"})) == [
        f"{name} was {asdict(TrainConfig(output_dir='runs'))[name]}, is 다른 값"
    ]


def test_data_and_torch():
    other = facts()
    other["versions"] = {"torch": "9.9"}
    other["data"] = [{"name": "자료", "rows": 10, "sha256": "fedcba9876543210"}]
    assert differences(facts(), other) == [
        "torch was 2.6.0, is 9.9",
        "data set 0 was 10 rows with checksum 01234567, is 10 rows with checksum fedcba98",
    ]
    other["data"] *= 2
    assert "the number of data sets was 1, is 2" in differences(facts(), other)


def test_another_aim():
    other = {**facts(), "loss": ["triplet(margin=2)"], "evaluator": "Similarity"}
    assert differences(facts(), other) == [
        "loss was ['triplet'], is ['triplet(margin=2)']",
        "evaluator was Triplets, is Similarity",
    ]
