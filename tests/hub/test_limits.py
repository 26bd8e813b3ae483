"""The limits of model folders can be raised, and the network stays reachable after a load."""

from __future__ import annotations

import json
import runpy
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from huggingface_hub import constants

from sbert import hub
from sbert.errors import BadInput, BadModel
from sbert.hub import limits


def with_factor(monkeypatch: pytest.MonkeyPatch, factor: str) -> dict[str, Any]:
    """The limits, as a process with this factor has them."""
    monkeypatch.setenv("SBERT_LIMIT_FACTOR", factor)
    return runpy.run_path(limits.__file__)


def test_all_limits_are_multiplied(monkeypatch):
    names = [name for name in vars(limits) if name.isupper() and not name.startswith("_")]
    raised = with_factor(monkeypatch, "4")
    assert len(names) == 12
    assert {name: raised[name] for name in names} == {name: 4 * getattr(limits, name) for name in names}


@pytest.mark.parametrize("factor", ["", "0", "-1", "1.5", "많이", "9" * 5_000])
def test_another_factor_is_refused(monkeypatch, factor):
    with pytest.raises(BadInput, match=r"the environment variable SBERT_LIMIT_FACTOR is '.*', but must be a number"):
        with_factor(monkeypatch, factor)


def test_loads_in_several_threads_leave_the_hub_as_it_was(tiny_folder, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    folder = tiny_folder("distilbert")
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(hub.read, [folder] * 8))
    assert constants.HF_HUB_OFFLINE is False


def test_very_many_modules_are_refused_at_once(tiny_folder, tmp_path):
    folder = tmp_path / "m"
    hub.write(hub.read(tiny_folder("bert")), folder)
    modules = json.loads((folder / "modules.json").read_text())
    more = {"path": "", "type": "sentence_transformers.models.Normalize"}
    (folder / "modules.json").write_text(json.dumps([*modules, *[more] * 5_000]))
    with pytest.raises(BadModel, match="lists 5,002 modules, but at most 100 are read"):
        hub.read(folder)
