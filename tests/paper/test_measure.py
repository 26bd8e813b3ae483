"""Cells: sampled data, confidence intervals over seeds, and one model in memory at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sbert.errors import BadInput, RunInUse
from sbert.evaluate.suites.sts import ScoredPairs
from sbert.paper import measure
from sbert.paper.context import Context
from sbert.paper.ledger import Cell, CellLedger, Job
from sbert.paper.measure import Place
from sbert.paper.rows import Contestant, Row
from sbert.paper.run import run

ROW = Row("가", "SBERT-NLI-STSb-base", "note")
CELL = Cell("table1", "문장", "STSb", 77.1, None, None, 1379, "", None)


def pairs(count: int) -> ScoredPairs:
    texts = [f"문장 {row}" for row in range(count)]
    return ScoredPairs(texts, texts, np.arange(count, dtype=float), [""] * count)


@given(st.integers(1, 60), st.one_of(st.none(), st.integers(1, 60)))
def test_a_sample_is_part_of_the_data_in_its_order(count, limit):
    data = pairs(count)
    found, note = measure.sample(data, limit)
    assert len(found) == min(count, limit or count)
    assert list(found.gold) == sorted(found.gold)
    assert set(found.first) <= set(data.first)
    assert bool(note) == (limit is not None and limit < count)
    assert [*measure.sample(data, limit)[0].gold] == [*found.gold]


def test_a_sample_is_noted():
    assert measure.sample(pairs(5000), 1200)[1] == "1,200 of 5,000 test items"


def test_the_mean_over_seeds_has_students_interval():
    values = [80.0, 82.0, 84.5]
    mean, spread = measure.cells_over_seeds(Place("table2", ROW, "Spearman"), values, 1379, "cut")
    low, high = stats.t.interval(0.95, 2, loc=np.mean(values), scale=stats.sem(values))
    assert mean.value == pytest.approx(np.mean(values))
    assert (mean.low, mean.high) == (pytest.approx(low), pytest.approx(high))
    assert (spread.column, spread.value) == ("std", pytest.approx(np.std(values, ddof=1)))
    assert (mean.paper, spread.paper) == (85.35, 0.17)
    assert mean.note == spread.note == "note; cut"


def test_one_seed_has_no_deviation():
    (mean,) = measure.cells_over_seeds(Place("table2", ROW, "Spearman"), [80.0], 1379)
    assert (mean.value, mean.low, mean.high) == (80.0, None, None)


def test_the_papers_number_depends_on_the_section():
    row = Row("", "SBERT-AFS-base", "")
    assert Place("table3", row, "Pearson", "cross-topic").paper == 52.34
    assert Place("table3", row, "Pearson", "10-fold cross-validation").paper == 76.57
    assert Place("table3", Row("", "", ""), "Pearson").paper is None


def test_one_model_is_kept_until_another_is_needed(settings):
    loaded = []

    def contestant(name):
        return Contestant(Row(name, "", ""), lambda: loaded.append(name) or object())

    context, first, second = Context(settings()), contestant("가"), contestant("나")
    assert context.model(first) is context.model(first)
    context.model(second)
    context.model(first)
    assert loaded == ["가", "나", "가"]


def test_what_is_missing_is_listed_once_for_each_reason(settings):
    def fail():
        raise BadInput("there is no data")

    context = Context(settings())
    assert context.made({"가": fail, "나": fail, "다": lambda: 1}) == [1]
    context.lacks("라", "another reason")
    assert context.missing == ["가, 나: there is no data", "라: another reason"]


def test_two_processes_do_not_fill_one_folder(tmp_path):
    def again():
        with pytest.raises(RunInUse, match=r"is in use by process \d+"):
            run([], CellLedger(tmp_path))
        return [CELL]

    cells, missing = run([Job("a", "가", again)], CellLedger(tmp_path))
    assert (len(cells), missing) == (1, [])


@pytest.mark.parametrize("damage", [b"\0" * 512, b'{"key": "b", "cel', b'{"neither": 1}\n', b"\xff\n"])
def test_a_damaged_ledger_keeps_what_is_whole(tmp_path, damage):
    CellLedger(tmp_path).add("a", [CELL])
    path = tmp_path / "cells.jsonl"
    path.write_bytes(path.read_bytes() + damage)
    ledger = CellLedger(tmp_path)
    assert ledger.done("a") == [CELL]
    ledger.add("c", [CELL])
    assert CellLedger(tmp_path).done("c") == [CELL]
