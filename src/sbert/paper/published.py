"""The numbers that the paper printed in its tables 1 to 7, read from ``published.tsv``."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import NamedTuple


class Number(NamedTuple):
    """One cell of the paper."""

    table: str
    section: str
    row: str
    column: str
    value: float
    """A score times 100, or sentences per second."""


@cache
def numbers() -> tuple[Number, ...]:
    """Return all numbers in the paper's order; the accuracies of table 4, printed as fractions, times 100."""
    text = resources.files("sbert.paper").joinpath("published.tsv").read_text(encoding="utf-8")
    rows = csv.reader(text.splitlines()[1:], delimiter="\t", quoting=csv.QUOTE_NONE)
    return tuple(
        Number(f"table{table}", section, row, column, round(float(value) * (100 if table == "4" else 1), 4))
        for table, section, row, column, value in rows
    )


def number(table: str, row: str, column: str, section: str | None = None) -> float | None:
    """Return the paper's number for a cell, or None; without a section, that of the first section with such a row.

    >>> number("table1", "SBERT-NLI-base", "STSb"), number("table4", "mean-vectors", "Accuracy")
    (77.03, 65.0)
    >>> number("table1", "KoBERT", "STSb")
    """
    found = (n for n in numbers() if (n.table, n.row, n.column) == (table, row, column))
    return next((n.value for n in found if section in (None, n.section)), None)
