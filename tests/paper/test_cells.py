"""Finished cells: kept over a kill, cut where half written, and told apart by all that they depend on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sbert
from sbert.errors import BadInput, BadOption
from sbert.paper import budgets
from sbert.paper.cells import Cell, Cells, Job
from sbert.paper.numbers import number, numbers
from sbert.paper.run import jobs, plan, run

CELL = Cell("table1", "문장", "STSb", 77.1, 75.0, 79.0, 1379, 0.5, "뜻\n둘", None, ((5.0, 0.9), (0.0, -0.1)))
PROGRAM = """
import sys
from pathlib import Path
from sbert.paper.budgets import Settings
from sbert.paper.cells import Cells
from sbert.paper.run import jobs, run

data, out, backbone = sys.argv[1:]
settings = Settings(data=Path(data), out=Path(out), backbone=backbone)
run(jobs("table6", settings), Cells(settings.out))
"""


def test_what_is_added_is_read_again(tmp_path):
    Cells(tmp_path / "새 폴더").add("열쇠", [CELL, replace(CELL, scatter=())])
    assert Cells(tmp_path / "새 폴더").done("열쇠") == [CELL, replace(CELL, scatter=())]
    assert Cells(tmp_path / "새 폴더").done("다른 것") is None


@given(st.integers(min_value=0, max_value=10_000))
def test_half_a_line_is_dropped_and_the_next_starts_anew(tmp_path_factory, cut):
    folder = tmp_path_factory.mktemp("cells")
    cells = Cells(folder)
    for key in "가나":
        cells.add(key, [CELL])
    content = cells.path.read_bytes()
    cells.path.write_bytes(content[: cut % len(content)])
    whole = cut % len(content) >= content.index(b"\n") + 1
    again = Cells(folder)
    assert (again.done("가") is not None) == whole
    assert again.done("나") is None
    again.add("다", [CELL])
    assert Cells(folder).done("다") == [CELL]


def test_a_finished_job_is_not_done_again(tmp_path):
    calls = []
    work = [Job(key, key, lambda key=key: calls.append(key) or [replace(CELL, row=key)]) for key in ("a", "b")]
    first = run(work[:1], Cells(tmp_path))
    assert run(work, Cells(tmp_path)) == [*first, replace(CELL, row="b")]
    assert calls == ["a", "b"]


def test_a_killed_run_goes_on(settings, tmp_path):
    chosen = settings()
    source = str(Path(sbert.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", PROGRAM, str(chosen.data), str(chosen.out), chosen.backbone]
    path = chosen.out / "cells.jsonl"
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 120
        while not (path.is_file() and path.read_bytes().count(b"\n") >= 2):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    kept = path.read_bytes()
    kept = kept[: kept.rfind(b"\n") + 1]
    work = jobs("table6", chosen)
    assert 2 <= kept.count(b"\n") < len(work)
    found = run(work, Cells(chosen.out))
    assert path.read_bytes().startswith(kept)
    assert len(found) == 13
    untouched = replace(chosen, out=tmp_path / "at once")
    again = run(jobs("table6", untouched), Cells(untouched.out))
    assert [(cell.row, cell.value) for cell in again] == [(cell.row, cell.value) for cell in found]


def test_keys_name_what_a_cell_depends_on(settings, tiny_folder, data, tmp_path, monkeypatch):
    def keys(chosen):
        found = [job.key for name in ("table1", "table6", "table7") for job in jobs(name, chosen)]
        assert len(set(found)) == len(found)
        return found

    before = keys(settings())
    assert keys(settings(out=tmp_path / "elsewhere")) == before
    other = str(tiny_folder("electra"))
    assert not set(before) & set(keys(settings(backbone=other)))
    assert not set(before) & set(keys(settings(budget="honest")))
    assert not set(before) & set(keys(settings(seeds=(7,))))
    monkeypatch.setitem(budgets.BUDGETS, "quick", replace(budgets.BUDGETS["quick"], test=7))
    assert not set(before) & set(keys(settings()))


def test_models_by_name_have_rows_of_their_own(settings, tiny_folder):
    labels = [job.label for job in jobs("table1", settings(models=(str(tiny_folder("electra")),)))]
    assert "table1: electra, STS12" in labels
    assert "table1: all-MiniLM-L6-v2, STS12" in labels


def test_what_is_missing_is_said(settings, tmp_path):
    (tmp_path / "empty").mkdir()
    found = plan("all", settings(data=tmp_path / "empty", models=("./없는 모형",)))
    assert found.jobs == []
    for what in ("glove.6B.300d.txt", "snli_1.0_train.jsonl", "STS12", "TREC", "afs", "없는 모형"):
        assert any(what in line for line in found.missing), what
    assert len(set(found.missing)) == len(found.missing)


def test_refusals(settings, tmp_path):
    with pytest.raises(BadOption, match=r"budget is 'quik'.*did you mean 'quick'"):
        settings(budget="quik")
    with pytest.raises(BadOption, match="table is 'table8'"):
        plan("table8", settings())
    with pytest.raises(BadInput, match="there is no folder"):
        plan("table1", settings(data=tmp_path / "없다"))


def test_the_papers_numbers():
    assert len(numbers()) == 218
    assert number("table3", "SBERT-AFS-base", "Pearson", "cross-topic") == 52.34
    assert number("table7", "SBERT-base, smart batching", "GPU") == 2042
    assert number("table4", "SBERT-WikiSec-large", "Accuracy") == 80.78


def test_the_numbers_are_those_that_were_handed_over(shared_data):
    ours = Path(sbert.__file__).parent / "paper" / "numbers.tsv"
    assert ours.read_bytes() == (shared_data.parent / "paper_tables.tsv").read_bytes()
