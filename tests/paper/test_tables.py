"""The tables: every row and column of the paper that can be rebuilt, beside the paper's number."""

from __future__ import annotations

import math

import pytest

from sbert.paper.cells import Cells
from sbert.paper.run import plan, run


def table(name, settings):
    return run(plan(name, settings).jobs, Cells(settings.out))


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
    assert sbert.note == "backbone bert, 48 NLI pairs; the paper's is SBERT-NLI-base"
    assert cells["SBERT-NLI", "Avg"].paper == 74.89
    assert cells["Avg. BERT embeddings", "Avg"].paper == 54.81
    assert cells["all-MiniLM-L6-v2", "SICK-R"].paper is None
    values = [cell.value for (row, column), cell in cells.items() if row == "BERT CLS-vector" and column != "Avg"]
    assert cells["BERT CLS-vector", "Avg"].value == pytest.approx(sum(values) / 7)
