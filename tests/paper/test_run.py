"""Runs of the tables: finished jobs survive a kill, failures are reported, and keys name what a cell depends on."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sbert
from sbert.errors import BadInput, BadOption
from sbert.paper import budgets
from sbert.paper.backbone import PaperBackbone
from sbert.paper.ledger import Cell, CellLedger, Job
from sbert.paper.published import number, numbers
from sbert.paper.rows import short
from sbert.paper.run import plan, run

CELL = Cell("table1", "문장", "STSb", 77.1, 75.0, 79.0, 1379, "뜻\n둘", None, ((5.0, 0.9), (0.0, -0.1)))
PROGRAM = """
import sys
from pathlib import Path
from sbert.paper.budgets import Settings
from sbert.paper.ledger import CellLedger
from sbert.paper.run import plan, run

data, out, backbone = sys.argv[1:]
settings = Settings(data=Path(data), out=Path(out), backbone=backbone)
run(plan("table6", settings).jobs, CellLedger(settings.out))
"""


def test_what_is_added_is_read_again(tmp_path):
    CellLedger(tmp_path / "새 폴더").add("열쇠", [CELL, replace(CELL, scatter=())])
    assert CellLedger(tmp_path / "새 폴더").done("열쇠") == [CELL, replace(CELL, scatter=())]
    assert CellLedger(tmp_path / "새 폴더").done("다른 것") is None


@given(st.integers(min_value=0, max_value=10_000))
@example(cut=241)
@example(cut=483)
def test_half_a_line_is_dropped_and_the_next_starts_anew(tmp_path_factory, cut):
    folder = tmp_path_factory.mktemp("cells")
    cells = CellLedger(folder)
    for key in "가나":
        cells.add(key, [CELL])
    content = cells.path.read_bytes()
    kept = cut % len(content)
    cells.path.write_bytes(content[:kept])
    again = CellLedger(folder)
    assert (again.done("가") is not None) == (kept >= content.index(b"\n"))  # only the end of the line may be missing
    assert (again.done("나") is not None) == (kept == len(content) - 1)
    again.add("다", [CELL])
    assert CellLedger(folder).done("다") == [CELL]


def test_a_finished_job_is_not_done_again(tmp_path):
    calls = []
    work = [Job(key, key, lambda key=key: calls.append(key) or [replace(CELL, row=key)]) for key in ("a", "b")]
    (first,), _ = run(work[:1], CellLedger(tmp_path))
    (again, second), _ = run(work, CellLedger(tmp_path))
    assert (again, replace(second, seconds=0.0)) == (first, replace(CELL, row="b"))
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
    work = plan("table6", chosen).jobs
    assert 2 <= kept.count(b"\n") < len(work)
    found, _ = run(work, CellLedger(chosen.out))
    assert path.read_bytes().startswith(kept)
    assert len(found) == 13
    untouched = replace(chosen, out=tmp_path / "at once")
    again, _ = run(plan("table6", untouched).jobs, CellLedger(untouched.out))
    assert [(cell.row, cell.value) for cell in again] == [(cell.row, cell.value) for cell in found]


def test_keys_name_what_a_cell_depends_on(settings, tiny_folder, data, tmp_path, monkeypatch):
    def keys(chosen):
        found = [job.key for name in ("table1", "table6", "table7") for job in plan(name, chosen).jobs]
        assert len(set(found)) == len(found)
        return found

    before = keys(settings())
    assert keys(settings(out=tmp_path / "elsewhere")) == before
    other = str(tiny_folder("electra"))
    without_backbone = {key for key in before if re.match(r"table\d/(Avg. GloVe|InferSent|Universal|all-Mini)", key)}
    assert set(before) & set(keys(settings(backbone=other))) == without_backbone
    assert not set(before) & set(keys(settings(budget="honest")))
    assert not set(before) & set(keys(settings(seeds=(7,))))
    monkeypatch.setitem(budgets.BUDGETS, "quick", replace(budgets.BUDGETS["quick"], test=7))
    assert not set(before) & set(keys(settings()))


def test_models_by_name_have_rows_of_their_own(settings, tiny_folder):
    labels = [job.label for job in plan("table1", settings(models=(str(tiny_folder("electra")),))).jobs]
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
    ours = Path(sbert.__file__).parent / "paper" / "published.tsv"
    assert ours.read_bytes() == (shared_data.parent / "paper_tables.tsv").read_bytes()


def copied(data, folder):
    """The data where a test may change them."""
    shutil.copytree(data, folder)
    return folder


def swapped(path):
    """Other content of the same size."""
    content = path.read_text("utf-8")
    other = content.replace("sleeps", "SLEEPS").replace(" 0.", " 1.")
    assert len(other) == len(content)
    assert other != content
    path.write_text(other, "utf-8")


def names(jobs):
    """Keys by label: (table and row, column)."""
    return {job.label: job.key for job in jobs}


@pytest.mark.parametrize(
    ("file", "changed", "same"),
    [
        ("stsb.tsv", "table2: Avg. BERT embeddings, Spearman", None),
        ("snli.tsv", "table2: SBERT-NLI, Spearman", "table2: SBERT-STSb, 3 seeds"),
        ("snli.tsv", "table2: SBERT-NLI-STSb, 3 seeds", "table2: Avg. GloVe embeddings, Spearman"),
        ("glove.6B.100d.txt", "table2: InferSent - GloVe, Spearman", "table2: SBERT-NLI, Spearman"),
    ],
)
def test_other_content_of_the_same_size_is_measured_again(settings, data, tmp_path, file, changed, same):
    folder = copied(data, tmp_path / "data")
    before = names(plan("table2", settings(data=folder)).jobs)
    assert names(plan("table2", settings()).jobs) == before  # a copy is the same data
    swapped(folder / file)
    after = names(plan("table2", settings(data=folder)).jobs)
    assert before[changed] != after[changed]
    assert same is None or before[same] == after[same]


def test_a_model_that_starts_from_another_is_trained_again(settings, data, tmp_path):
    folder, chosen = copied(data, tmp_path / "data"), settings(seeds=(1,))

    def trained(row):
        jobs = [job for job in plan("table2", replace(chosen, data=folder)).jobs if row in job.label]
        run(jobs, CellLedger(chosen.out))
        return {path.name for path in (chosen.out / "models").iterdir()}

    first = trained(": SBERT-NLI-STSb")
    assert trained(": SBERT-NLI-STSb") == first
    swapped(folder / "snli.tsv")
    assert len(trained(": SBERT-NLI-STSb")) == 2 * len(first)
    before = trained("InferSent")
    swapped(folder / "glove.6B.100d.txt")
    assert len(trained("InferSent") - before) == 1


def test_models_are_told_apart_by_as_much_of_their_names_as_it_takes(settings, tiny_folder, tmp_path):
    for name in ("cross/model", "poly/model", "mm"):
        shutil.copytree(tiny_folder("bert"), tmp_path / name)
    given = tuple(f"{tmp_path}/{name}" for name in ("cross/model", "poly/model", "mm/", "mm"))
    found = [
        label for label in names(plan("table4", settings(models=given)).jobs) if "model" in label or "mm" in label
    ]
    assert found == [f"table4: {name}, Accuracy" for name in ("model", "poly/model", "mm")]


def test_another_model_leaves_the_cells_of_those_before(settings, tiny_folder, tmp_path):
    for name in ("가/모형", "나/모형"):
        shutil.copytree(tiny_folder("bert"), tmp_path / name)
    first, second = str(tmp_path / "가" / "모형"), str(tmp_path / "나" / "모형")
    before = names(plan("table4", settings(models=(first,))).jobs)
    after = names(plan("table4", settings(models=(first, second))).jobs)
    assert after.items() > before.items()
    assert set(after) - set(before) == {"table4: 나/모형, Accuracy"}


def test_no_two_models_have_one_name():
    assert short(["runs/bert", "bert", "x/model", "a/b/model", "b/model"]) == [
        ("runs/bert", "bert"),
        ("bert", "bert (2)"),
        ("x/model", "model"),
        ("a/b/model", "b/model"),
        ("b/model", "b/model (2)"),
    ]


def test_a_reader_of_pairs_is_missing_where_vectors_are_needed(settings, tiny_classifier):
    cross = tiny_classifier("bert", 1)
    found = plan("table4", settings(models=(str(cross),)))
    assert not any(cross.name in job.label for job in found.jobs)
    assert any(line.startswith(f"{cross.name} on Accuracy: needs a model of another kind") for line in found.missing)


def test_without_its_backbone_the_rest_goes_on(settings):
    found = plan("all", settings(backbone="./없는 뼈대"))
    rows = {(job.label.partition(":")[0], job.label.partition(": ")[2].rpartition(", ")[0]) for job in found.jobs}
    for row in (
        ("table1", "Avg. GloVe embeddings"),
        ("table2", "InferSent - GloVe"),
        ("table4", "Dor et al."),
        ("table5", "all-MiniLM-L6-v2"),
        ("table7", "InferSent"),
    ):
        assert row in rows
    (line,) = (line for line in found.missing if "없는 뼈대" in line)
    for row in ("Avg. BERT embeddings", "SBERT-NLI", "BERT-NLI-STSb", "SBERT-AFS, cross-topic", "SBERT-WikiSec"):
        assert row in line.partition(" there is no folder")[0]


def test_a_job_that_fails_is_missing_and_the_others_go_on(tmp_path):
    def fail():
        raise BadInput("무엇이 틀렸다")

    work = [Job("a", "table1: 가", fail), Job("b", "table1: 나", lambda: [CELL, CELL])]
    cells, missing = run(work, CellLedger(tmp_path))
    assert missing == ["table1: 가: 무엇이 틀렸다"]
    assert len(cells) == 2
    assert CellLedger(tmp_path).done("a") is None


def test_seconds_are_counted_once_with_training(tmp_path):
    work = [Job("a", "가", lambda: time.sleep(0.05) or [CELL, replace(CELL, column="std")])]
    (first, second), _ = run(work, CellLedger(tmp_path))
    assert first.seconds == second.seconds
    assert 0.05 <= first.seconds + second.seconds < 0.5


def test_what_a_backbone_is_called_follows_from_what_it_is(tiny_folder, tmp_path):
    folder = tmp_path / "roberta-large" / "mine"
    shutil.copytree(tiny_folder("bert"), folder)
    assert (PaperBackbone(str(folder), "cpu").family, PaperBackbone(str(folder), "cpu").size) == ("SBERT", "base")
    shutil.copytree(tiny_folder("xlm-roberta"), tmp_path / "mine")
    assert PaperBackbone(str(tmp_path / "mine"), "cpu").family == "SRoBERTa"


def test_table3_names_a_roberta_and_stands_beside_the_papers_bert(settings, tiny_folder):
    work = {job.label: job for job in plan("table3", settings(backbone=str(tiny_folder("roberta")))).jobs}
    rows = {label.removeprefix("table3: ") for label in work if "AFS" in label}
    assert rows == {
        f"{name}-AFS, {section}"
        for name in ("RoBERTa", "SRoBERTa")
        for section in ("2-fold cross-validation", "cross-topic")
    }
    pearson, _ = work["table3: RoBERTa-AFS, cross-topic"].run()
    assert (pearson.row, pearson.beside, pearson.paper) == ("RoBERTa-AFS, cross-topic", "BERT-AFS-base", 58.49)
    assert "the paper's is BERT-AFS-base" in pearson.note
