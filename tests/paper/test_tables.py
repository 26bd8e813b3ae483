"""The tables: every row and column of the paper that can be rebuilt, beside the paper's number."""

from __future__ import annotations

import math
import shutil

import numpy as np
import pytest

from sbert.disk.machine import cpu_name
from sbert.evaluate.metrics import pearson
from sbert.evaluate.score import Score
from sbert.paper import measure
from sbert.paper.ledger import CellLedger
from sbert.paper.rows import Row
from sbert.paper.run import plan, run

TRAINED = "backbone bert, not of a size of the paper, learning rate 4.8e-04"


def table(name, settings):
    cells, missing = run(plan(name, settings).jobs, CellLedger(settings.out))
    assert not missing
    return cells


def by_place(cells):
    return {(cell.row, cell.column): cell for cell in cells}


def sound(cells):
    assert len(by_place(cells)) == len(cells)
    for cell in cells:
        assert math.isfinite(cell.value)
        assert cell.low is None or cell.low <= cell.value + 1e-6 <= cell.high + 2e-6
        assert cell.items > 0
        assert cell.seconds > 0
        assert cell.note
    return by_place(cells)


def test_table1(settings):
    cells = sound(table("table1", settings()))
    glove = cells["Avg. GloVe embeddings", "STS12"]
    assert (glove.paper, glove.items, glove.note) == (55.14, 24, "glove.6B.100d.txt; aggregation all of 2 subsets")
    assert len(glove.scatter) == 24
    sbert = cells["SBERT-NLI", "STSb"]
    assert sbert.paper == 77.03
    assert (sbert.difference, glove.difference) == (None, glove.value - 55.14)  # the backbone is a tiny one
    assert sbert.note == f"{TRAINED}, 48 NLI pairs; the paper's is SBERT-NLI-base"
    assert cells["SBERT-NLI", "Avg"].paper == 74.89
    assert cells["Avg. BERT embeddings", "Avg"].paper == 54.81
    assert cells["all-MiniLM-L6-v2", "SICK-R"].paper is None
    assert cells["all-MiniLM-L6-v2", "Avg"].paper is None
    assert cells["all-MiniLM-L6-v2", "STSb"].note == "as it is"
    values = [cell.value for (row, column), cell in cells.items() if row == "BERT CLS-vector" and column != "Avg"]
    assert cells["BERT CLS-vector", "Avg"].value == pytest.approx(sum(values) / 7)


def test_table6(settings):
    chosen = settings()
    cells = sound(table("table6", chosen))
    assert len(cells) == 13
    assert {column for _, column in cells} == {"NLI", "STSb"}
    assert all(cell.paper is not None for cell in cells.values())
    assert cells["MEAN", "NLI"].value == cells["(u, v, |u-v|)", "NLI"].value  # one model, trained once
    weights = {file.read_bytes() for file in (chosen.out / "models").glob("sbert-nli-*/model/model.safetensors")}
    assert len(weights) == 9
    assert cells["MAX", "STSb"].note == f"{TRAINED}, 24 STSb pairs, one seed"


def test_table2(settings):
    cells = sound(table("table2", settings()))
    assert cells["BERT-STSb", "Spearman"].paper == 84.30
    assert cells["SBERT-NLI-STSb", "std"].paper == 0.17
    assert cells["SBERT-STSb", "std"].value > 0
    assert "mean over 3 seeds" in cells["BERT-NLI-STSb", "Spearman"].note
    assert cells["Avg. GloVe embeddings", "Spearman"].paper == 58.02
    assert "48 NLI pairs, then 24 of STSb" in cells["BERT-NLI-STSb", "Spearman"].note


def test_table7(settings):
    cells = sound(table("table7", settings()))
    smart = cells["SBERT (bert), smart batching", "CPU"]
    assert smart.paper == 83
    assert cpu_name() in smart.note
    assert "batches of 32 in the order of length, padded to the longest" in smart.note
    assert cells["Avg. GloVe embeddings", "CPU"].value > cells["InferSent", "CPU"].value
    assert cells["SBERT (bert), no padding", "CPU"].paper is None
    assert all(0 < cell.low <= cell.value <= cell.high for cell in cells.values())


def test_table5(settings):
    cells = sound(table("table5", settings()))
    assert cells["SBERT-NLI", "Avg"].paper == 87.41
    assert (cells["BERT CLS-vector", "TREC"].paper, cells["BERT CLS-vector", "TREC"].items) == (91.4, 24)
    assert "2 folds instead of 10" in cells["Avg. GloVe embeddings", "MR"].note


def test_table4(settings):
    cells = sound(table("table4", settings()))
    assert cells["mean-vectors", "Accuracy"].paper == 65
    assert cells["SBERT-WikiSec", "Accuracy"].paper == 80.42
    assert cells["Dor et al.", "Accuracy"].paper == 74
    assert cells["SBERT-WikiSec", "Accuracy"].note == (
        f"{TRAINED}, trained on 16 triplets; the paper's is SBERT-WikiSec-base; "
        "self-built from WikiText-2, not the set of Dor et al. 2018"
    )


def test_table3(settings):
    cells = sound(table("table3", settings()))
    assert cells["tf-idf", "Pearson"].paper == 46.77
    assert cells["SBERT-AFS, 2-fold cross-validation", "Spearman"].paper == 74.13
    assert cells["BERT-AFS, cross-topic", "Pearson"].paper == 58.49
    assert "stands in for AFS" in cells["BERT-AFS, cross-topic", "Pearson"].note


def test_one_topic_costs_the_rows_across_topics_alone(settings, data, tmp_path):
    shutil.copytree(data, tmp_path / "data")
    path = tmp_path / "data" / "ukp_aspect.tsv"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "사형" not in line and "총기" not in line), "utf-8")
    chosen = settings(data=tmp_path / "data")
    work = [job for job in plan("table3", chosen).jobs if "tf-idf" in job.label or "SBERT-AFS, cross" in job.label]
    cells, missing = run(work, CellLedger(chosen.out))
    assert {found.row for found in cells} == {"tf-idf"}
    assert missing == [
        "table3: SBERT-AFS, cross-topic: there are 3 folds of 1 topics, but there must be at least 2, of one each"
    ]


def test_a_pearson_has_the_interval_of_a_pearson():
    rng = np.random.default_rng(0)
    gold = rng.normal(size=80) ** 3
    score = Score.measured("pearson_cosine", pearson, gold + rng.normal(size=80), gold)
    found = measure.cell(measure.Place("table3", Row("가", "", ""), "Pearson"), score)
    assert (found.low, found.high) == score.interval()
