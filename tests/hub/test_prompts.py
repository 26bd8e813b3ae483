"""The number of prompts is limited, and the time to check them grows no faster than it."""

from __future__ import annotations

import json
import shutil

import pytest

from sbert import BiEncoder
from sbert.errors import BadInput, BadModel
from sbert.hub.limits import MOST_PROMPTS
from sbert.models import prompts as checks


def many(count: int) -> dict[str, str]:
    return {f"task {number}": "query: " for number in range(count)}


def test_too_many_are_refused(tiny_folder, tmp_path):
    folder = shutil.copytree(tiny_folder("bert"), tmp_path / "m")
    settings = {"prompts": many(100_000)}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    with pytest.raises(BadModel, match="has 100,000 prompts, but at most 1,000 are read"):
        BiEncoder.from_pretrained(folder)


def test_as_many_as_are_allowed_are_saved_and_loaded(tiny_folder, tmp_path):
    model = BiEncoder.from_pretrained(tiny_folder("bert"))
    model.prompts = many(MOST_PROMPTS)
    model.save_pretrained(tmp_path / "m")
    assert BiEncoder.from_pretrained(tmp_path / "m").prompts == model.prompts
    model.prompts = many(MOST_PROMPTS + 1)
    with pytest.raises(BadInput, match="a model has 1,001 prompts, but at most 1,000 are allowed; remove some"):
        model.save_pretrained(tmp_path / "more")


def test_names_are_sorted_once_at_most(tiny_folder, monkeypatch):
    sorts = []
    monkeypatch.setattr(checks, "sorted", lambda names: sorts.append(1) or sorted(names), raising=False)
    model = BiEncoder.from_pretrained(tiny_folder("bert"))
    model.prompts, model.default_prompt_name = many(10), "task 1"
    model.check_settings()
    assert len(sorts) == 1


def test_names_are_texts(tiny_folder):
    model = BiEncoder.from_pretrained(tiny_folder("bert"))
    model.prompts = {1: "query: "}
    with pytest.raises(BadInput, match="the name of a prompt is 1, but must be text"):
        model.check_settings()
