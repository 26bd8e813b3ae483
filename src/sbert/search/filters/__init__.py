"""Selects rows by their metadata: ``lang = "ko" and year >= 2020``. Works on JSON values and SQL, not on vectors."""

from sbert.search.filters.condition import And, Comparison, Condition, Not, Or
from sbert.search.filters.read import Filter, read_filter
from sbert.search.filters.sql import POSTGRES, SQLITE, Dialect, Sql, to_sql

__all__ = [
    "POSTGRES",
    "SQLITE",
    "And",
    "Comparison",
    "Condition",
    "Dialect",
    "Filter",
    "Not",
    "Or",
    "Sql",
    "read_filter",
    "to_sql",
]
